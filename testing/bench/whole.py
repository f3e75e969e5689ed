#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures cygnetd with several workers and each engine; on-device packs and runs it.

whole.py pack    write tunnels and frames beside the folder of this file
whole.py run     measure the highest rate, and latency and loss at two rates; see --help
whole.py loads   measure latencies at light and heavy load: 10 and 90 percent of the best engine's rate
whole.py flood   measure what tunnels lose while their port is flooded: FLOODS of whole_frames.py
whole.py calls   record the system calls of each engine's libraries, and try the filter of system calls with them
whole.py table FILE...    print results of run as a table: medians of the rounds and their range
whole.py spread FILE...   print for each rate of hashed packets by the clock how much it is of that of steered packets

Each tunnel has one SA each way and one flow. "spread" says how frames are distributed to the queues
of a port. hash: by addresses, as network cards do; the worker that receives a packet hands it off
to the owner of its SA. turn: round-robin, so that each worker receives the packets of its own SAs;
the number of workers must divide the number of tunnels. one SA: 64 flows in one tunnel.
uneven: as hash, but a tenth of the tunnels, with 64 flows each, have 90 percent of the packets.
Before they are measured, cygnetd has SETTLE seconds to move SAs between workers. Each spread has a
cygnetd of its own, because an SA stays with the worker that received its first packet.
Rates are measured twice, whatever the spread: polled, where each worker gets packets as fast as it takes them, and by
the clock, where the slowest worker determines the loss.
Combinations: 1c4 is one worker and four crypto cores."""
import argparse
import concurrent.futures
import contextlib
import csv
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
import processors
from calls import calls
from control import RING, Lost
from gateways import Cygnetd
from hugepages import huge_pages
from spread import DRAIN, TOLERATED, WARMUP, AtRate, both_rates
from table import Table
from whole_frames import FLOOD_SHARE, UNFLOODED, listed, pack, read_sets, sadb_lines

TOP = os.path.dirname(HERE)
STAGES_SECONDS, SETTLE = 1.5, 4  # seconds
HOPELESS = 1.25  # latency is not measured at more than this factor of the highest rate
LOADS = {"light": 0.1, "heavy": 0.9}
SHARES = [percent / 100 for percent in range(1, 100)] + [0.995, 0.999, 1]

CONFIG = """\
[cygnetd]
sadb = {work}/sadb
sadb_on_disk = yes
state = {work}/state
sas = 1024
policies = 1024
engine = {engine}
workers = {workers}
cores = {cores}
{crypto_cores}
eal = --no-pci --in-memory --file-prefix={prefix}
driver_path = {build}/root/lib/dpdk
{opencl}
{set}
[port lan]
device = {ports[0]}
[port wan]
device = {ports[1]}
mtu = {mtu}
"""


class Whole(Cygnetd):
    """cygnetd with an engine, and numbers of workers and crypto cores"""

    def __init__(self, options, work, sets_path, engine, workers, crypto):
        self.engine, self.workers, self.crypto = engine, workers, crypto
        super().__init__(options, work, sets_path, [], None)
        self.prefix += f"-{engine}"

    def command(self):
        cpus = [str((self.options.first_core + core) % os.cpu_count())
                for core in range(self.workers + self.crypto)]
        cores, crypto = ",".join(cpus[:self.workers]), ",".join(cpus[self.workers:])
        opencl = f"opencl = {self.options.opencl}" if self.options.opencl else ""
        with open(f"{self.work}/conf", "w") as conf:
            conf.write(CONFIG.format(work=self.work, engine=self.engine, workers=self.workers, cores=cores,
                                     crypto_cores=f"crypto_cores = {crypto}" if crypto else "",
                                     prefix=self.prefix, build=self.build, ports=self.ports, mtu=self.mtu,
                                     opencl=opencl, set="\n".join(self.options.set)))
        return [f"{self.build}/root/sbin/cygnetd", "-c", f"{self.work}/conf"]

    def sadb_lines(self):
        return sadb_lines()

    def run(self, frames, seconds, lead=0.0, **options):
        """No pause between runs: a GPU would lower its clock rate."""
        return self.control.run(frames, seconds, **options)


@contextlib.contextmanager
def gateway(options, engine, workers, crypto, spreads=UNFLOODED):
    work = tempfile.mkdtemp(prefix="whole-", dir="/dev/shm")
    path, what = read_sets(work, options.only, spreads)
    cygnetd = Whole(options, work, path, engine, workers, crypto)
    try:
        cygnetd.start()
        cygnetd.control["demote"] = options.demote
        yield cygnetd, what
    finally:
        cygnetd.stop()
        shutil.rmtree(work)


def by_clock(cygnetd, number, options, rate):
    return cygnetd.control.run(number, 2 * options.seconds, rate=rate, warmup=WARMUP, drain=DRAIN,
                               ring=options.ring)


def queues(control):
    """The share of missed packets of each queue, percent"""
    return " ".join(f"{100 * missed / max(offered, 1):.2f}"
                    for missed, offered in zip(control.counts("missed"), control.counts("offered")))


def measure(cygnetd, number, options):
    """Measure rate, latency and loss with a set of frames. @return a row"""
    polled, clocked = both_rates(AtRate(cygnetd, number, options.seconds))
    row = {"polled_gbps": polled.gbps, "polled_lost": polled.lost, "clock_gbps": clocked.gbps if clocked else 0.0}
    best = polled if polled.lost <= TOLERATED else clocked
    if not best:
        return row | {"gbps": 0.0}
    row |= {"gbps": best.gbps, "mpps": best.pps / 1e6, "lost": best.lost}
    row |= {"slowest_gbps": best.gbps * min(best.shares()), "fastest_gbps": best.gbps * max(best.shares())}
    return row if options.rates_only else row | latency_row(cygnetd, number, options, best)


def latency_row(cygnetd, number, options, best):
    rate, size, row = best.pps, best.mean_size, {}
    for name, at in (("90", 0.9 * rate), ("target", options.target * 1e9 / 8 / size)):
        if at > HOPELESS * rate:
            continue
        counted = by_clock(cygnetd, number, options, at)
        row |= {f"{what}_{name}": value for what, value in latencies(counted).items()}
        row[f"lost_{name}"] = max(counted.lost, 0.0)
        if options.show:
            print(f"missed by the queues at {name}, percent:", queues(cygnetd.control), flush=True)
    return row


def latencies(counted):
    return {"mean_us": counted.mean_us} | {name: counted.latency_us(share) for name, share in PERCENTILES.items()}


PERCENTILES = {"p50_us": 0.5, "p99_us": 0.99, "p99.9_us": 0.999, "max_us": 1}
FACTS = "round engine workers crypto_cores suite direction frame spread".split()
COLUMNS = FACTS + "gbps mpps lost slowest_gbps fastest_gbps polled_gbps polled_lost clock_gbps".split() + [f"{what}_{at}" for at in ("90", "target")
                                              for what in ("mean_us", *PERCENTILES, "lost")]


def print_stages(cygnetd, number, facts):
    """Print packets, vectors and cycles of each stage at the full rate, which `show stages` counts for a
    second."""
    with concurrent.futures.ThreadPoolExecutor() as thread:
        shown = thread.submit(cygnetd.show, "stages")
        counted = cygnetd.control.run(number, STAGES_SECONDS, drain=DRAIN)
    print("stages:", *facts, f"{counted.gbps:.4g} Gbps, {100 * counted.lost:.3g} percent lost")
    print("\n".join(line for line in shown.result().splitlines() if line.split()[1] != "0"), flush=True)


def one(options, table, facts):
    """Measure an engine with each spread that is selected."""
    for wanted in UNFLOODED:
        if any(of[-1] == wanted for of in listed(options.only)):
            one_spread(options, table, facts, wanted)


def one_spread(options, table, facts, wanted):
    with gateway(options, facts["engine"], facts["workers"], facts["crypto_cores"], (wanted,)) as (cygnetd, what):
        # A warm-up, because an idle GPU runs at a low clock rate.
        cygnetd.control.run(0, 0.5, drain=DRAIN)
        for number, (suite, direction, size, spread) in enumerate(what):
            row = dict.fromkeys(COLUMNS, "")
            with contextlib.suppress(Lost):
                if facts["workers"] > 1:
                    cygnetd.control.run(number, SETTLE, drain=DRAIN)
                row |= measure(cygnetd, number, options)
                if options.stages:
                    print_stages(cygnetd, number, (*facts.values(), suite, direction, size, spread))
            table.add(row | facts | {"suite": suite, "direction": direction, "frame": size, "spread": spread})
        if options.show:
            show(cygnetd)


def show(cygnetd):
    for thing in ("engines", "stats", "drops"):
        print("\n".join(line for line in cygnetd.show(thing).splitlines()
                        if thing != "drops" or not line.split()[0] == "0"), flush=True)
    with open(cygnetd.log, errors="replace") as log:
        print("".join(line for line in log if "cygnetd: " in line or "opencl" in line), flush=True)


def combinations(options):
    """@return tuples of engine, number of workers, number of crypto cores"""
    for combination in options.combinations:
        engine, workers = combination.split(":")
        for count in workers.split("+"):
            count, _, crypto = count.partition("c")
            yield engine, int(count), int(crypto or 0)


def run(options):
    table = Table(f"{options.out}/whole.csv", COLUMNS, [processors.fact()])
    for number in range(1, options.rounds + 1):
        for engine, workers, crypto in combinations(options):
            facts = {"round": number, "engine": engine, "workers": workers, "crypto_cores": crypto}
            try:
                one(options, table, facts)
            except (RuntimeError, Lost, subprocess.CalledProcessError) as error:
                print(f"{engine}, {workers} workers, {crypto} crypto cores: {error}", flush=True)
    table.close()


def loads(options):
    """Write a file for each number of workers, with the median, lowest and highest latency of the rounds
    for each percentile."""
    for count in dict.fromkeys(workers for _, workers, _ in combinations(options)):
        counted = loads_of(options, [engine for engine, workers, _ in combinations(options) if workers == count],
                           count)
        table = Table(f"{options.out}/loads{count}.csv", LOAD_COLUMNS,
                      [f"cygnetd with {count} workers, {options.only[0]}, {options.rounds} rounds", processors.fact()],
                      ("load", "engine"))
        for (load, engine), runs in counted.items():
            for share in SHARES:
                us = sorted(run.latency_us(share) for _, _, run in runs)
                table.add({"load": load, "engine": engine, "workers": count,
                           "offered_kpps": statistics.median(rate for rate, _, _ in runs) / 1e3,
                           "full_kpps": statistics.median(full for _, full, _ in runs) / 1e3,
                           "lost": statistics.median(max(run.lost, 0.0) for _, _, run in runs),
                           "share": share, "us": statistics.median(us), "low": us[0], "high": us[-1]})
        table.close()


LOAD_COLUMNS = "load engine workers offered_kpps full_kpps lost share us low high".split()


def loads_of(options, engines, workers):
    """Measure the engines in turn; all gateways are running, and paused except while they are measured.
    @return {(load, engine): list of offered rate, full rate of the engine, and Counted, for each round}"""
    counted = {}
    with contextlib.ExitStack() as stack:
        gateways = {}
        for engine in engines:
            gateways[engine], _ = stack.enter_context(gateway(options, engine, workers, 0))
            gateways[engine].control.run(0, 0.5, drain=DRAIN)
            gateways[engine].pause()
        for _ in range(options.rounds):
            full = {engine: each.run(0, options.seconds, warmup=WARMUP, drain=DRAIN).pps
                    for engine, each in gateways.items()}
            for load, share in LOADS.items():
                rate = share * max(full.values())
                for engine, each in gateways.items():
                    seen = each.run(0, 2 * options.seconds, rate=rate, warmup=WARMUP, drain=DRAIN)
                    counted.setdefault((load, engine), []).append((rate, full[engine], seen))
    return counted


FLOOD_COLUMNS = "round engine workers crypto_cores flood flood_mpps tunnels_mpps lost most_mpps".split()


def flood(options):
    """Write flood.csv: the share of the tunnels' packets that are lost at --flood, and the highest rate of the flood,
    up to twice as much, at which at most the tolerated share is lost."""
    table = Table(f"{options.out}/flood.csv", FLOOD_COLUMNS, [processors.fact()])
    for number in range(1, options.rounds + 1):
        for engine, workers, crypto in combinations(options):
            facts = {"round": number, "engine": engine, "workers": workers, "crypto_cores": crypto}
            with gateway(options, engine, workers, crypto, ("flood",)) as (cygnetd, what):
                for at, (_, _, kind, _) in enumerate(what):
                    table.add(facts | {"flood": kind} | flood_of(cygnetd, at, options))
                if options.show:
                    show(cygnetd)
    table.close()


def flood_of(cygnetd, number, options):
    def tunnels_lose(rate):
        counted = by_clock(cygnetd, number, options, rate * 1e6 * (FLOOD_SHARE + 1) / FLOOD_SHARE)
        return 1 - counted.arrived * (FLOOD_SHARE + 1) / counted.offered
    low, high = 0.0, 2 * options.flood
    for _ in range(options.steps):
        rate = (low + high) / 2
        low, high = (rate, high) if tunnels_lose(rate) <= TOLERATED else (low, rate)
    return {"flood_mpps": options.flood, "tunnels_mpps": options.flood / FLOOD_SHARE,
            "lost": max(tunnels_lose(options.flood), 0.0), "most_mpps": low}


def spread_of(rows, column):
    """A table cell: the median of the rounds, and the lowest and highest"""
    values = sorted(float(row[column]) for row in rows if row[column])
    if not values:
        return "-"
    scale, unit = (100, " %") if column.startswith("lost") else (1, "")
    low, median, high = (f"{scale * value:.3g}" for value in (values[0], statistics.median(values), values[-1]))
    return f"{median}{unit} ({low} to {high})" if low != high else f"{median}{unit}"


def grouped(options):
    """@return {values of FACTS but the round: rows} of all files"""
    groups = {}
    for path in options.files:
        with open(path, newline="") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                groups.setdefault(tuple(row[name] for name in FACTS[1:]), []).append(row)
    return groups


def show_table(options):
    """Print a table in Markdown."""
    shown = [column for column in options.columns if column in COLUMNS]
    print("|", " | ".join(["engine", "workers", "traffic", *shown]), "|")
    print("|" + "---|" * (len(shown) + 3))
    for (engine, workers, crypto, *traffic), rows in grouped(options).items():
        cores = workers + (f"c{crypto}" if crypto != "0" else "")
        print("|", " | ".join([engine, cores, " ".join(traffic), *(spread_of(rows, name) for name in shown)]), "|")


def show_spread(options):
    """Print a table in Markdown of the medians of the rounds, Gbps."""
    print("| engine | workers | traffic | steered: polled | by the clock | hashed: polled | lost, % | by the clock | share of steered |")
    print("|" + "---|" * 9)
    groups = grouped(options)
    for (engine, workers, crypto, *traffic, spread), steered in groups.items():
        hashed = groups.get((engine, workers, crypto, *traffic, "hash"))
        if spread != "turn" or not hashed or not steered[0]["clock_gbps"]:
            continue
        polled, clock, hash_polled, lost, hash_clock = (
            statistics.median(float(row[name]) for row in rows)
            for rows, name in ((steered, "polled_gbps"), (steered, "clock_gbps"), (hashed, "polled_gbps"),
                               (hashed, "polled_lost"), (hashed, "clock_gbps")))
        cells = [f"{polled:.3g}", f"{clock:.3g}", f"{hash_polled:.3g}", f"{100 * lost:.2g}", f"{hash_clock:.3g}",
                 f"{hash_clock / max(clock, 1e-9):.2f}"]
        print("|", " | ".join([engine, workers, " ".join(traffic), *cells]), "|")


def words(text):
    return text.split(",")


MEASURING = {"run": run, "loads": loads, "flood": flood, "calls": lambda options: calls(options, gateway)}
COMMANDS = MEASURING | {"pack": lambda _: pack(), "table": show_table, "spread": show_spread}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("files", nargs="*", metavar="FILE", help="CSV files for the commands table and spread")
    parser.add_argument("--combinations", type=words, metavar="ENGINE:WORKERS[cCRYPTO_CORES]+...,...",
                        default=words("cpu:1+2+4+8+15,opencl:1+2+4+8+12,auto:1+2+4+8"))
    parser.add_argument("--only", type=words, default=[""],
                        help="measure only sets whose SUITE/DIRECTION/SIZE/SPREAD contains one of these words")
    parser.add_argument("--rounds", type=int, default=1, help="number of measurements of each combination, in turn")
    parser.add_argument("--seconds", type=float, default=0.15, help="time of a measurement")
    parser.add_argument("--steps", type=int, default=5, help="steps of the search for the highest rate of a flood")
    parser.add_argument("--rates-only", action="store_true", help="do not measure latencies")
    parser.add_argument("--target", type=float, default=200.0, help="rate at which latency is measured as well, Gbps")
    parser.add_argument("--flood", type=float, default=10.0, help="rate of a flood, million packets per second")
    parser.add_argument("--ring", type=int, default=RING,
                        help="packets that a queue of a port holds if a rate is set")
    parser.add_argument("--columns", type=words, default=words("gbps,mean_us_target,p99_us_target,lost_target"),
                        help="columns of the command table")
    parser.add_argument("--first-core", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY = VALUE", help="a line of cygnetd.conf")
    parser.add_argument("--opencl", default="", help="arguments of the OpenCL device")
    parser.add_argument("--pages", type=int, default=2048, help="number of huge pages of 2 MiB")
    parser.add_argument("--demote", action="store_true", help="frames come in the last-level cache, as from a network card, "
                        "not in those of their worker: by CLDEMOTE, which recent processors of Intel have")
    parser.add_argument("--show", action="store_true", help="print engines, statistics, drops and the log of cygnetd")
    parser.add_argument("--stages", action="store_true", help="print the stages of each set at the full rate")
    parser.add_argument("--out", default=os.environ.get("OUT", "."))
    options = parser.parse_args()
    options.build, options.work, options.realtime = TOP, "/dev/shm", False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with huge_pages(options.pages) if options.command in MEASURING else contextlib.nullcontext():
        COMMANDS[options.command](options)


if __name__ == "__main__":
    main()
