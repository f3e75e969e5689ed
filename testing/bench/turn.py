#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures cygnetd and the cygnetd of another build, or VPP, in turn, on a machine with many cores; on-device packs and
runs it.

turn.py pack     write frames beside the folder of this file, which takes python3-cryptography
turn.py run      measure; see --help. The results are as those of "run throughput --against" and "run tunnels --against",
                 with --peer vpp as those of "run vpp"

Each lane measures both gateways on a core of its own, one at a time. Lanes have different suites and numbers of
tunnels."""
import argparse
import concurrent.futures
import dataclasses
import itertools
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
from measure import GENERATORS, pairs, quartiles, ratios, without_generators
from table import Table
from traffic import DIRECTIONS, FIXED, KEPT, MIXES, SUITES, USUAL, Tunnel, write_sets
from vpp import VPP_SIZES, Vpp, heap_mb

TOP = os.path.dirname(HERE)
ONE, MANY = [str(size) for size in FIXED] + list(MIXES), ["64", "512", "imix"]  # sizes with one tunnel, and more
COLUMNS = ("suite direction tunnels frame rounds cygnetd_cycles other_cycles ratio ratio_low ratio_high lost "
           "other_lost").split()


@dataclasses.dataclass(frozen=True)
class Peer:
    """What cygnetd is compared with.
    @param kept  bytes of a plaintext frame that are written; None: all"""
    kind: type
    suites: tuple
    counts: tuple
    kept: int

    def sizes(self, count):
        if self.kind is Vpp:
            return VPP_SIZES
        return ONE if count == 1 else MANY


PEERS = {"other": Peer(Other, USUAL, (1, 2, 8, 64, 1000, 10000), KEPT),
         "vpp": Peer(Vpp, tuple(SUITES), (1, 1000), None)}


def sets_of(options, suite, count):
    return f"{TOP}/turn/{options.peer}/{suite}-{count}"


def tunnels_of(suite, count):
    return [Tunnel(SUITES[suite], index) for index in range(count)]


def pack(options):
    peer = PEERS[options.peer]
    for suite, count in itertools.product(peer.suites, peer.counts):
        folder = sets_of(options, suite, count)
        os.makedirs(folder, exist_ok=True)
        write_sets(folder, tunnels_of(suite, count), peer.sizes(count), DIRECTIONS, peer.kept)


def list_sets(options, work, suite, count):
    """Write the list for the driver. @return its path, and the direction and size of each set"""
    path, what = f"{work}/sets", []
    with open(path, "w") as out:
        for direction, (port, _) in DIRECTIONS.items():
            for size in PEERS[options.peer].sizes(count):
                frames = shutil.copy(f"{sets_of(options, suite, count)}/{direction}-{size}.pcap", work)  # where cygnetd may read
                out.write(f"{port} {frames}\n")
                what.append((direction, size))
    return path, what


def measured(options, work, suite, count, kinds):
    """Start the gateways in the order of kinds and measure each set. @return pairs of runs for each set, in the order
    Cygnetd, peer"""
    path, what = list_sets(options, work, suite, count)
    gateways = {}
    try:
        for kind in kinds:
            gateway = kind(options, work, path, tunnels_of(suite, count), GCM if SUITES[suite].cipher == "aes-gcm" else CHAIN)
            gateway.prefix += f"-{options.core}"
            gateways[kind] = gateway
            gateway.start()
            gateway.pause()
        both = [gateways[kind] for kind in (Cygnetd, PEERS[options.peer].kind)]
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
            kinds = Cygnetd, PEERS[options.peer].kind
            found = measured(options, work, suite, count, kinds[::-1] if start % 2 else kinds)
        finally:
            shutil.rmtree(work)
        for key, both in found.items():
            for all_runs, more in zip(runs.setdefault(key, ([], [])), both):
                all_runs += more
    return [row(options, suite, count, *key, *both) for key, both in runs.items()]


def row(options, suite, count, direction, size, ours, theirs):
    cycles = [quartiles([run.cycles for run in runs])[0] for runs in (ours, theirs)]
    lost = [max(run.lost for run in runs) for runs in (ours, theirs)]
    values = suite, direction, count, size, len(ours), *cycles, *quartiles(ratios(ours, theirs)), *lost
    found = dict(zip(COLUMNS, values, strict=True))
    return found | without_generators(ours, theirs) if PEERS[options.peer].kind is Vpp else found


def run(options):
    peer = PEERS[options.peer]
    table = Table(f"{options.out}/turn.csv", [*COLUMNS, *(GENERATORS if peer.kind is Vpp else [])])
    options.suites, options.tunnels = options.suites or peer.suites, options.tunnels or peer.counts
    work = [(suite, count) for suite in options.suites for count in options.tunnels]
    free = list(range(options.first_core, options.first_core + options.lanes * options.step, options.step))

    def job(suite, count):
        core = free.pop()
        try:
            return rows(options, suite, count, core)
        finally:
            free.append(core)

    pages = ENOUGH_PAGES + (heap_mb(max(options.tunnels)) // 2 if peer.kind is Vpp else 0)
    with huge_pages(options.lanes * pages), concurrent.futures.ThreadPoolExecutor(options.lanes) as lanes:
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
    parser.add_argument("--peer", choices=PEERS, default="other", help="what on-device has packed: another build, or VPP")
    parser.add_argument("--vpp-handlers", type=words, default=[], metavar="'ALGORITHM ENGINE',...", help='of VPP\'s "set crypto handler"')
    parser.add_argument("--suites", type=words)
    parser.add_argument("--tunnels", type=numbers, help="numbers of tunnels")
    parser.add_argument("--seconds", type=float, default=0.1, help="time of a measurement")
    parser.add_argument("--rounds", type=int, default=15, help="measurements of each gateway after a start, in turn")
    parser.add_argument("--starts", type=int, default=4, help="starts of both, each in the other order than the last one's")
    parser.add_argument("--lanes", type=int, default=3, help="pairs of gateways at a time")
    parser.add_argument("--first-core", type=int, default=2, help="core of the first lane")
    parser.add_argument("--step", type=int, default=4, help="cores from one lane to the next")
    parser.add_argument("--out", default=os.environ.get("OUT", "."))
    options = parser.parse_args()
    options.build, options.against, options.vpp, options.work = TOP, f"{TOP}/other", f"{TOP}/vpp/bin/vpp", "/dev/shm"
    options.engine, options.realtime = "cpu", False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    {"pack": pack, "run": run}[options.command](options)


if __name__ == "__main__":
    main()
