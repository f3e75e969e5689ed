#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetd whole, with several workers, engine by engine: what on-device packs and runs.

whole.py pack    writes tunnels and frames beside this file's folder
whole.py run     measures; --help has the arguments

Each of the tunnels has an SA of its own each way and one flow, whose packets a queue of the
port gets by the addresses, as a card shares them out; the packets of an SA go to the worker
that owns it, whichever has received them. "turn": as if the card knew that worker. "one SA": 64
flows through one tunnel. 1c4: one worker, and four cores that do crypto for it."""
import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
from control import Lost
from gateways import Cygnetd
from table import Table
from traffic import (ETHERNET, HOST, KEPT, LAN_PORT, SUITES, WAN_PORT, Tunnel, address, ethernet,
                     udp_packet, write_pcap)

TOP = os.path.dirname(HERE)
FRAMES = f"{TOP}/frames"
TUNNELS, FLOWS = 64, 64
SIZES = (64, 512, 1024, 1408)
FAT_HOSTS = "10.200.0.0"
NAMES = ("aes128-sha1", "aes128gcm16")
WARMUP, DRAIN = 0.1, 0.05
TOLERATED = 0.001  # share that is lost

CONFIG = """\
[cygnetd]
sadb = {work}/sadb
state = {work}/state
sas = 1024
policies = 1024
engine = {engine}
workers = {workers}
cores = {cores}
{crypto_cores}
eal = --no-pci --in-memory --file-prefix={prefix}
driver-path = {build}/root/lib/dpdk
{opencl}
[port lan]
device = {ports[0]}
[port wan]
device = {ports[1]}
"""


class FatTunnel(Tunnel):
    """With a network of hosts at the far end."""

    def sadb_lines(self):
        ends = address(FAT_HOSTS, self.index * 256), address(FAT_HOSTS, self.index * 256 + 255)
        for line in super().sadb_lines():
            yield line.replace(f"{self.far_host}-{self.far_host}", "-".join(ends))

    def hosts(self):
        return [address(FAT_HOSTS, self.index * 256 + number) for number in range(FLOWS)]


def tunnels_of(number, suite):
    return [Tunnel(SUITES[suite], number * TUNNELS + index) for index in range(TUNNELS)]


def fat_of(number, suite):
    return FatTunnel(SUITES[suite], len(NAMES) * TUNNELS + number)


def plaintext(hosts, size):
    for host in hosts:
        frame = ethernet(LAN_PORT, udp_packet(HOST, host, size - ETHERNET))
        yield frame[:KEPT], size


def ciphertext(tunnels, size):
    return sealed(((tunnel, tunnel.far_host) for tunnel in tunnels), size)


def sealed(flows, size):
    """@param flows  (tunnel, far host)"""
    for seq, (tunnel, far_host) in enumerate(flows, 1):
        frame = ethernet(WAN_PORT, tunnel.seal(udp_packet(far_host, HOST, size - ETHERNET), seq))
        yield frame, len(frame)


def sets():
    """(suite, direction, frame size, spread, port, frames)"""
    hosts = {suite: [tunnel.far_host for tunnel in tunnels_of(number, suite)]
             for number, suite in enumerate(NAMES)}
    # First, while the buffers in a device's pools are still in order.
    for suite in NAMES:
        yield suite, "encap", 1024, "turn", LAN_PORT, plaintext(hosts[suite], 1024)
    for number, suite in enumerate(NAMES):
        fat = fat_of(number, suite)
        for size in (1024, 1408):
            yield suite, "encap", size, "one SA", LAN_PORT, plaintext(fat.hosts(), size)
        yield suite, "decap", 1024, "one SA", WAN_PORT, sealed(((fat, host) for host in fat.hosts()), 1024)
    for number, suite in enumerate(NAMES):
        for size in SIZES:
            yield suite, "encap", size, "hash", LAN_PORT, plaintext(hosts[suite], size)
        yield suite, "decap", 1024, "hash", WAN_PORT, ciphertext(tunnels_of(number, suite), 1024)


def pack():
    """What is made with python3-cryptography, and what goes with it."""
    os.makedirs(FRAMES, exist_ok=True)
    with open(f"{FRAMES}/list", "w") as names:
        for number, (suite, direction, size, spread, port, frames) in enumerate(sets()):
            write_pcap(f"{FRAMES}/{number}.pcap", frames)
            names.write(f"{port}|{suite}|{direction}|{size}|{spread}\n")


def read_sets(work):
    """@return path of the list for the driver, and what each set is"""
    path, what = f"{work}/sets", []
    with open(f"{FRAMES}/list") as names, open(path, "w") as out:
        for number, line in enumerate(names):
            port, suite, direction, size, spread = line.strip().split("|")
            out.write(f"{port} {FRAMES}/{number}.pcap{' turn' if spread == 'turn' else ''}\n")
            what.append((suite, direction, int(size), spread))
    return path, what


class Whole(Cygnetd):
    """With so many workers."""

    def __init__(self, options, work, sets_path, engine, workers, crypto):
        self.engine, self.workers, self.crypto = engine, workers, crypto
        super().__init__(options, work, sets_path, [], None)

    def command(self):
        cpus = [str((self.options.first_core + core) % os.cpu_count())
                for core in range(self.workers + self.crypto)]
        cores, crypto = ",".join(cpus[:self.workers]), ",".join(cpus[self.workers:])
        opencl = f"opencl = {self.options.opencl}" if self.options.opencl else ""
        with open(f"{self.work}/conf", "w") as conf:
            conf.write(CONFIG.format(work=self.work, engine=self.engine, workers=self.workers, cores=cores,
                                     crypto_cores=f"crypto_cores = {crypto}" if crypto else "",
                                     prefix=self.prefix, build=self.build, ports=self.ports, opencl=opencl))
        return [f"{self.build}/root/sbin/cygnetd", "-c", f"{self.work}/conf"]

    def sadb_lines(self):
        """All that are used outbound first: those of the SAs are then shared out evenly."""
        tunnels = [tunnel for number, suite in enumerate(NAMES) for tunnel in tunnels_of(number, suite)]
        tunnels += [fat_of(number, suite) for number, suite in enumerate(NAMES)]
        lines = [line for tunnel in tunnels for line in tunnel.sadb_lines()]
        return sorted(lines, key=lambda line: (not line.startswith("sa dir=out"), not line.startswith("sa")))


@contextlib.contextmanager
def gateway(options, engine, workers, crypto):
    work = tempfile.mkdtemp(prefix="whole-", dir="/dev/shm")
    path, what = read_sets(work)
    cygnetd = Whole(options, work, path, engine, workers, crypto)
    try:
        cygnetd.start()
        yield cygnetd, what
    finally:
        cygnetd.stop()
        shutil.rmtree(work)


def highest(cygnetd, number, options):
    """The most that comes through with hardly any loss: all that is polled, or found by halving.
    @return what was counted, and the rate in packets per second"""
    def try_at(rate):
        return cygnetd.control.run(number, options.seconds, rate=rate, warmup=WARMUP, drain=DRAIN)
    best = try_at(0)
    if best.lost <= TOLERATED:
        return best, best.pps
    low, high, best = 0.0, best.pps * 1.3, None
    for _ in range(options.steps):
        rate = (low + high) / 2
        counted = try_at(rate)
        if counted.lost <= TOLERATED:
            low, best = rate, counted
        else:
            high = rate
    return best, low


def measure(cygnetd, number, options):
    """@return a row"""
    best, rate = highest(cygnetd, number, options)
    if not best:
        return {"gbps": 0.0}
    row = {"gbps": best.gbps, "mpps": best.pps / 1e6, "lost": best.lost}
    size = best.offered_bytes / best.offered
    for name, at in (("90", 0.9 * rate), ("target", options.target * 1e9 / 8 / size)):
        if at > rate:
            continue
        counted = cygnetd.control.run(number, 2 * options.seconds, rate=at, warmup=WARMUP, drain=DRAIN)
        row |= {f"mean_us_{name}": counted.mean_us, f"p99_us_{name}": counted.latency_us(0.99),
                f"lost_{name}": counted.lost}
    return row


COLUMNS = ("engine workers crypto_cores suite direction frame spread gbps mpps lost mean_us_90 p99_us_90 lost_90 "
           "mean_us_target p99_us_target lost_target").split()


def one(options, table, engine, workers, crypto):
    with gateway(options, engine, workers, crypto) as (cygnetd, what):
        # A GPU that has had nothing to do takes its time to wake up.
        cygnetd.control.run(0, 0.5, drain=DRAIN)
        for number, (suite, direction, size, spread) in enumerate(what):
            wanted = f"{suite}/{direction}/{size}/{spread}"
            if not any(word in wanted for word in options.only):
                continue
            row = dict.fromkeys(COLUMNS, "")
            with contextlib.suppress(Lost):
                row |= measure(cygnetd, number, options)
            table.add(row | {"engine": engine, "workers": workers, "crypto_cores": crypto, "suite": suite,
                             "direction": direction, "frame": size, "spread": spread})
        if options.show:
            for thing in ("engines", "stats", "drops"):
                print("\n".join(line for line in cygnetd.show(thing).splitlines()
                                if thing != "drops" or not line.split()[0] == "0"), flush=True)
            with open(cygnetd.log, errors="replace") as log:
                print("".join(line for line in log if "cygnetd: " in line or "opencl" in line), flush=True)


def run(options):
    pages = "/proc/sys/vm/nr_hugepages"
    with open(pages) as file:
        have = int(file.read())
    if have < options.pages:
        with open(pages, "w") as file:
            file.write(str(options.pages))
    table = Table(f"{options.out}/whole.csv", COLUMNS)
    for combination in options.combinations:
        engine, workers = combination.split(":")
        for count in workers.split("+"):
            count, _, crypto = count.partition("c")
            try:
                one(options, table, engine, int(count), int(crypto or 0))
            except (RuntimeError, Lost, subprocess.CalledProcessError) as error:
                print(f"{engine}, {count} workers, {crypto or 0} crypto cores: {error}", flush=True)
    table.close()


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("pack", "run"))
    parser.add_argument("--combinations", type=words, metavar="ENGINE:WORKERS[cCRYPTO_CORES]+...,...",
                        default=words("cpu:1+2+4+8+15,opencl:1+2+4+8+12,auto:1+2+4+8"))
    parser.add_argument("--only", type=words, default=[""],
                        help="sets SUITE/DIRECTION/SIZE/SPREAD that contain one of these words")
    parser.add_argument("--seconds", type=float, default=0.15, help="of one measurement")
    parser.add_argument("--steps", type=int, default=5, help="of the search for the highest rate")
    parser.add_argument("--target", type=float, default=200.0, help="Gbps at which latency is measured, too")
    parser.add_argument("--first-core", type=int, default=1)
    parser.add_argument("--opencl", default="", help="arguments of the device")
    parser.add_argument("--pages", type=int, default=2048, help="huge pages of 2 MiB")
    parser.add_argument("--show", action="store_true", help="what cygnetctl shows, and the log")
    parser.add_argument("--out", default=os.environ.get("OUT", "."))
    options = parser.parse_args()
    options.build, options.work, options.realtime = TOP, "/dev/shm", False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pack() if options.command == "pack" else run(options)


if __name__ == "__main__":
    main()
