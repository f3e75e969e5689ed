#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures cygnetd and the cygnetd of another build in turn, on a machine with many cores; on-device packs and
runs it.

turn.py pack     write frames beside the folder of this file, which takes python3-cryptography
turn.py run      measure; see --help. The results are as those of "run throughput --against" and "run tunnels --against"

Each lane measures both gateways on a core of its own, one at a time. Lanes have different suites and numbers of
tunnels."""
import argparse
import concurrent.futures
import os
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
from gateways import CHAIN, GCM, Cygnetd, Other
from hugepages import ENOUGH_PAGES, huge_pages
from measure import pairs, ratios, spread
from table import Table
from traffic import DIRECTIONS, FIXED, MIXES, SUITES, Tunnel, write_sets

TOP = os.path.dirname(HERE)
SETS = f"{TOP}/turn"
COUNTS = 1, 2, 8, 64, 1000, 10000
ONE, MANY = [str(size) for size in FIXED] + list(MIXES), ["64", "512", "imix"]  # sizes with one tunnel, and more
SUITE_NAMES = "aes128gcm16", "aes128-sha1"
COLUMNS = ("suite direction tunnels frame rounds cygnetd_cycles other_cycles ratio ratio_low ratio_high lost "
           "other_lost").split()


def tunnels_of(suite, count):
    return [Tunnel(SUITES[suite], index) for index in range(count)]


def sizes_of(count):
    return ONE if count == 1 else MANY


def pack(_):
    for suite in SUITE_NAMES:
        for count in COUNTS:
            folder = f"{SETS}/{suite}-{count}"
            os.makedirs(folder, exist_ok=True)
            write_sets(folder, tunnels_of(suite, count), sizes_of(count), DIRECTIONS)


def list_sets(work, suite, count):
    """Write the list for the driver. @return its path, and the direction and size of each set"""
    path, what = f"{work}/sets", []
    with open(path, "w") as out:
        for direction, (port, _) in DIRECTIONS.items():
            for size in sizes_of(count):
                frames = shutil.copy(f"{SETS}/{suite}-{count}/{direction}-{size}.pcap", work)  # where cygnetd may read
                out.write(f"{port} {frames}\n")
                what.append((direction, size))
    return path, what


def measured(options, work, suite, count, kinds):
    """Start the gateways in the order of kinds and measure each set. @return pairs of runs for each set, in the order
    Cygnetd, Other"""
    path, what = list_sets(work, suite, count)
    gateways = {}
    try:
        for kind in kinds:
            gateway = kind(options, work, path, tunnels_of(suite, count), GCM if SUITES[suite].cipher == "aes-gcm" else CHAIN)
            gateway.prefix += f"-{options.core}"
            gateways[kind] = gateway
            gateway.start()
            gateway.pause()
        both = [gateways[kind] for kind in (Cygnetd, Other)]
        return {key: pairs(both, index, options.seconds, options.rounds, count) for index, key in enumerate(what)}
    finally:
        for gateway in gateways.values():
            gateway.stop()


def rows(options, suite, count, core):
    """Start both gateways and measure each set, several times: where a process lies in memory makes up to seven percent.
    @return rows of the table"""
    options = argparse.Namespace(**vars(options) | {"core": core})
    runs = {}
    for start in range(options.starts):
        work = tempfile.mkdtemp(prefix=f"turn-{core}-", dir=options.work)
        try:
            kinds = (Other, Cygnetd) if start % 2 else (Cygnetd, Other)
            found = measured(options, work, suite, count, kinds)
        finally:
            shutil.rmtree(work)
        for key, both in found.items():
            for all_runs, more in zip(runs.setdefault(key, ([], [])), both):
                all_runs += more
    return [row(suite, count, *key, *both) for key, both in runs.items()]


def row(suite, count, direction, size, ours, theirs):
    cycles = [spread([run.cycles for run in runs])[0] for runs in (ours, theirs)]
    lost = [max(run.lost for run in runs) for runs in (ours, theirs)]
    values = suite, direction, count, size, len(ours), *cycles, *spread(ratios(ours, theirs)), *lost
    return dict(zip(COLUMNS, values, strict=True))


def run(options):
    table = Table(f"{options.out}/turn.csv", COLUMNS)
    work = [(suite, count) for suite in options.suites for count in options.tunnels]
    free = list(range(options.first_core, options.first_core + options.lanes * options.step, options.step))

    def job(suite, count):
        core = free.pop()
        try:
            return rows(options, suite, count, core)
        finally:
            free.append(core)

    with huge_pages(options.lanes * ENOUGH_PAGES), concurrent.futures.ThreadPoolExecutor(options.lanes) as lanes:
        try:
            for done in concurrent.futures.as_completed([lanes.submit(job, *what) for what in work]):
                for found in done.result():
                    table.add(found)
        except BaseException:
            lanes.shutdown(wait=False, cancel_futures=True)
            raise
    table.close()


def words(text):
    return text.split(",")


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices={"pack": pack, "run": run})
    parser.add_argument("--suites", type=words, default=list(SUITE_NAMES))
    parser.add_argument("--tunnels", type=numbers, default=list(COUNTS), help="numbers of tunnels")
    parser.add_argument("--seconds", type=float, default=0.1, help="time of a measurement")
    parser.add_argument("--rounds", type=int, default=15, help="measurements of each gateway after a start, in turn")
    parser.add_argument("--starts", type=int, default=4, help="starts of both, each in the other order than the last one's")
    parser.add_argument("--lanes", type=int, default=3, help="pairs of gateways at a time")
    parser.add_argument("--first-core", type=int, default=2, help="core of the first lane")
    parser.add_argument("--step", type=int, default=4, help="cores from one lane to the next")
    parser.add_argument("--out", default=os.environ.get("OUT", "."))
    options = parser.parse_args()
    options.build, options.against, options.work = TOP, f"{TOP}/other", "/dev/shm"
    options.engine, options.realtime = "cpu", False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    {"pack": pack, "run": run}[options.command](options)


if __name__ == "__main__":
    main()
