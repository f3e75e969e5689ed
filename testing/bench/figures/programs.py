# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bench-kernel and bench-pmd, and parses their output."""
import contextlib
import dataclasses
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

LIMIT = 300  # longest time of a program, seconds
# If no operation was completed in the measured time, the measurement is repeated with LONGER times the time.
TRIES, LONGER = 3, 5


class Failed(Exception):
    """A program did not measure a configuration."""


ALGORITHM = re.compile(r"(?P<algorithm>\S.*?) +(?P<packets>\d+) x +(?P<bytes>\d+) bytes, group (?P<group>\d+), lanes (?P<lanes>\d+): "
                       r"best +(?P<best_us>[\d.]+) us +(?P<best_gbps>[\d.]+) Gbps, "
                       r"median +(?P<median_us>[\d.]+) us +(?P<median_gbps>[\d.]+) Gbps")
MIX = re.compile(r"mix (?P<lengths>\S+) +chunk=(?P<chunk>\d+) bins=(?P<bins>\d+) "
                 r"granularity=(?P<granularity>\d+) sched=(?P<level>\S+) +(?P<launch_us>[\d.]+) us a launch +"
                 r"(?P<gbps>[\d.]+) Gbps, +(?P<left_over_percent>[\d.]+)% left over")
WHAT = "algorithm packets bytes group lanes lengths chunk bins granularity level".split()  # a configuration
PMD = re.compile(r"(?P<mops>[\d.]+) Mops/s +(?P<gbps>[\d.]+) Gbps, latency us mean +(?P<mean_us>[\d.]+) "
                 r"p50 +(?P<p50_us>\d+) p99 +(?P<p99_us>\d+) p99.9 +(?P<p999_us>\d+) max +(?P<max_us>\d+), "
                 r"cycles per operation (?P<cycles>\d+) .*, 0 failed")


def value(text):
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def found(pattern, line):
    """@return the named groups of a line, as numbers or words; None if it does not match"""
    match = pattern.search(line)
    return match and {name: value(word) for name, word in match.groupdict().items()}


class Programs:
    """Runs the programs on this machine.
    @param options  of the command line: programs, carried, device, nice, seconds, rounds, quick"""

    def __init__(self, options):
        self.options = options
        self.environment = dict(os.environ)
        if options.carried:
            drivers = sorted(os.listdir(f"{options.programs}/pmds"))
            self.environment |= {"LD_LIBRARY_PATH": f"{options.programs}/lib",
                                 "LD_PRELOAD": " ".join(f"{options.programs}/pmds/{name}" for name in drivers)}
        self.prefix = f"cyg-figures-{os.getpid()}"

    def clean(self):
        """Remove EAL's runtime directory."""
        shutil.rmtree(f"/var/run/dpdk/{self.prefix}", ignore_errors=True)

    def lines(self, name, *words):
        """Start a program and yield the lines of its output while it runs."""
        # The program has a session of its own for prefer(), so setpriv ends it when this process is killed.
        command = ["setpriv", "--pdeathsig", "TERM", "timeout", "-k", "5", str(LIMIT), f"{self.options.programs}/{name}", *map(str, words)]
        begun = time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self.environment,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as process:
            try:
                self.prefer(process.pid)
                yield from process.stdout
            finally:
                process.terminate()
        if self.options.nice < 0:
            time.sleep(time.monotonic() - begun)

    def prefer(self, pid):
        """Set the nice value of a process, and of its autogroup: with autogroups the kernel compares nice
        values of processes only within a session."""
        os.setpriority(os.PRIO_PROCESS, pid, self.options.nice)
        with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as group:
            group.write(str(self.options.nice))

    def kernel(self, pattern, words, runs):
        """Run bench-kernel.
        @param runs  lists of further arguments, one for each start of the program
        @return      its lines as dictionaries, while it runs"""
        for more in runs:
            output, rows = [], 0
            for line in self.lines("bench-kernel", "-d", self.options.device, *words, *more):
                output.append(line)
                row = found(pattern, line)
                rows += bool(row)
                if row:
                    yield row
            # A configuration whose work-groups are too large for the device has no row, which is no error.
            if not rows and "cannot be" not in "".join(output):
                raise Failed(f"bench-kernel {' '.join(map(str, more))}:\n{''.join(output)}")

    def kernel_rounds(self, pattern, words, runs, by):
        """Run bench-kernel in several rounds, and show progress.
        @param by  column by which the median round is chosen
        @return    the row of the median round for each configuration, with quartiles as low and high"""
        found_of = {}
        for number in range(1, self.options.rounds + 1):
            for row in self.kernel(pattern, words, runs):
                what = tuple(row[name] for name in WHAT if name in row)
                found_of.setdefault(what, []).append(row)
                print(f"   {number}/{self.options.rounds} {' '.join(map(str, what))}: {by} {row[by]}", flush=True)
        for rows in found_of.values():
            yield median_row(rows, by)

    def device(self):
        """@return name of the OpenCL device"""
        output = list(self.lines("bench-kernel", "-d", self.options.device, "-n", 32, "-l", 64, "algorithms"))
        return output[0].strip() if output else "no OpenCL"

    def opencl(self, **arguments):
        """@return the argument of --vdev for crypto_opencl"""
        if self.options.device:
            arguments["device"] = self.options.device
        return ",".join(["crypto_opencl", *(f"{key}={value}" for key, value in arguments.items())])

    def pmd(self, setting, jobs):
        """Run bench-pmd.
        @param jobs  list of ALGORITHM,LENGTHS[,decrypt]
        @return      a row for each job, while it runs"""
        cores = sorted(os.sched_getaffinity(0))
        first, others = cores[0], cores[1:] + cores[:1]
        # The main lcore sleeps, so another lcore may use its core.
        feeding = ",".join(f"{1 + i}@{others[i % len(cores)]}" for i in range(setting.lcores))
        eal = ("--no-huge", "-m", 512 * (1 + setting.lcores), "--no-pci", "--no-shconf", "--no-telemetry",
               "--log-level=4", "--file-prefix", self.prefix, "--lcores", f"0@{first},{feeding}",
               "--vdev", setting.vdev)
        seconds, waiting, output = self.options.seconds, list(jobs), []
        for _ in range(TRIES):
            # If no operation of a job was completed, start again from this job with more time.
            for line in self.lines("bench-pmd", *eal, "--", "-t", seconds, "-w", setting.window, *setting.words,
                                   *waiting):
                output.append(line)
                row = found(PMD, line)
                if not row or row["mops"] == 0:
                    break
                waiting.pop(0)
                yield row
            if not waiting:
                return
            seconds *= LONGER
        raise Failed(f"bench-pmd {setting} {' '.join(waiting)}:\n{''.join(output)}")

    def measure(self, cases):
        """Measure cases in several rounds, and show progress. All cases are measured in each round, so that
        other load on the machine affects all of them. Cases with the same setting use one start of the program.
        @return for each case its facts and the row of the median round, with quartiles as low and high"""
        groups = {}
        for case in cases:
            groups.setdefault(case.setting, []).append(case)
        for number in range(1, self.options.rounds + 1):
            for setting, mine in groups.items():
                rows = self.pmd(setting, [case.job for case in mine])
                for case, row in zip(mine, rows):
                    case.rounds.append(row)
                    print(f"   {number}/{self.options.rounds} {setting} {case.job}: {row['gbps']} Gbps, "
                          f"{row['mean_us']} us", flush=True)
        for case in cases:
            yield case.facts | median_row(case.rounds, case.by)

    def histogram(self, setting, job):
        """Measure a job. @return its row, with the latencies as [(us, operations)] in "histogram" """
        with tempfile.NamedTemporaryFile("r") as file:
            with_file = dataclasses.replace(setting, words=(*setting.words, "-H", file.name))
            (row,) = self.pmd(with_file, [job])  # to its end: the file is complete then
            return row | {"histogram": [tuple(map(int, line.split())) for line in file if line.strip()]}


@dataclasses.dataclass(frozen=True)
class Setting:
    """How bench-pmd is started: device, number of lcores, operations in flight per lcore, other arguments."""
    vdev: str
    lcores: int
    window: int
    words: tuple = ()

    def __str__(self):
        return f"{self.vdev} {self.lcores} lcore{'s' * (self.lcores > 1)}"


@dataclasses.dataclass
class Case:
    """A configuration. @param facts  columns of its row @param by  column by which the median round is chosen"""
    facts: dict
    setting: Setting
    job: str
    by: str = "gbps"
    rounds: list = dataclasses.field(default_factory=list)


def median_row(rows, value_of):
    """@return the row with the median of a column, and the quartiles of the column as low and high"""
    ordered = sorted(rows, key=lambda row: row[value_of])
    values = [row[value_of] for row in ordered]
    low, high = values[0], values[-1]
    if len(values) > 2:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return ordered[(len(ordered) - 1) // 2] | {"low": low, "high": high}
