# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures crypto drivers without a gateway, with Debian's dpdk-test-crypto-perf: those of Cygnet
and of DPDK, in turn, in several rounds. Each run of a driver is compared with the run of
crypto_aesni_mb in the same round."""
import os
import statistics
import subprocess
import tempfile
from itertools import filterfalse

from measure import quartiles, ratios, throughput
from table import Table
from traffic import DIRECTIONS

PEER = "crypto_aesni_mb"
# The tool prints only the mean of a measurement. So a run has several measurements of some
# milliseconds, and their median is used, which other load on the core hardly changes.
REPEATS = 9
MANY, FEW = 50000, 4096  # operations of a measurement; FEW with OpenCL, whose device may be the processor
POOL = 8192  # more than any driver has under way
LIMIT = 60 * int(os.environ.get("CYGNET_SLOWDOWN", 1))  # seconds

GCM = ("--optype aead --aead-algo aes-gcm --aead-key-sz 16 --aead-iv-sz 12 --aead-aad-sz 8 --digest-sz 16 "
       "--aead-op {cipher}")
CBC = ("--optype {order} --cipher-algo aes-cbc --cipher-key-sz 16 --cipher-iv-sz 16 --cipher-op {cipher} "
       "--auth-algo sha1-hmac --auth-key-sz 64 --digest-sz 12 --auth-op {auth}")
WAYS = {"encap": {"cipher": "encrypt", "order": "cipher-then-auth", "auth": "generate"},
        "decap": {"cipher": "decrypt", "order": "auth-then-cipher", "auth": "verify"}}
DRIVERS = {"aes128gcm16": (GCM, ["crypto_ipsec_mb_gcm", "crypto_aesni_gcm", PEER, "crypto_opencl"]),
           "aes128-sha1": (CBC, ["crypto_ipsec_mb_chain", PEER, "crypto_opencl"])}
# The driver does not decrypt packets with a wrong ICV, which those of the tool have (see vector()), so
# its decapsulation cannot be measured.
ENCAP_ONLY = {"crypto_ipsec_mb_chain"}
COLUMNS = ("suite direction driver bytes rounds cycles mops gbps peer_cycles ratio ratio_low ratio_high "
           "cygnetd_cycles").split()


class Run:
    """The measurements of one size in a run of the tool."""

    def __init__(self, size, cycles):
        self.bytes, self.cycles = size, statistics.median(cycles)


def vector(path, longest):
    """Write a vector file, without which the tool does not verify digests. The tool uses only keys and
    lengths of it, so each operation fails with a wrong digest, after the same amount of work."""
    sizes = {"plaintext": longest, "ciphertext": longest, "cipher_key": 16, "cipher_iv": 16, "auth_key": 64}
    with open(path, "w") as file:
        for name, size in sizes.items():
            file.write(f"{name} =\n{', '.join(['0x00'] * size)}\n")
        file.write(f"[vector]\ndigest =\n{', '.join(['0x00'] * 12)}\n")


def eal(options, driver):
    other = min(set(range(os.cpu_count())) - {options.core}, default=options.core)
    library = f"{options.build}/root/lib/dpdk/librte_{driver}.so"
    return ["--lcores", f"0@{other},1@{options.core}", "--in-memory", "--no-pci", "--no-telemetry", "--log-level=4",
            "--file-prefix", f"cyg-{os.getpid()}-perf", *(["-d", library] if os.path.exists(library) else []),
            "--vdev", f"{driver}0"]


def measure(options, driver, suite, direction, sizes, file):
    """Run the tool. @return a Run for each size"""
    way = WAYS[direction]
    words = DRIVERS[suite][0].format(**way).split()
    if way["auth"] == "verify" and "--auth-op" in words:
        words += ["--test-file", file, "--test-name", "vector"]
    asked = [size for size in sizes for _ in range(REPEATS)]
    count = FEW if driver == "crypto_opencl" else MANY
    done = subprocess.run(["timeout", "-k", "5", str(LIMIT), "dpdk-test-crypto-perf", *eal(options, driver), "--",
                           "--devtype", driver, "--silent", "--csv-friendly", "--ptest", "throughput",
                           "--total-ops", str(count), "--pool-sz", str(POOL), "--burst-sz", "32",
                           "--buffer-sz", ",".join(map(str, asked)), *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    rows = [line.split(",") for line in done.stdout.splitlines() if line[:1].isdigit() and line.count(",") == 9]
    if done.returncode or [(int(words[1]), int(words[4])) for words in rows] != [(size, count) for size in asked]:
        raise RuntimeError(f"dpdk-test-crypto-perf {driver} {suite} {direction}:\n{done.stdout}{done.stderr}")
    return [Run(size, [float(words[9]) for words in rows if int(words[1]) == size]) for size in sizes]


def has_opencl(options):
    done = subprocess.run([f"{options.build}/bench-kernel", "-n", "32", "-l", "64", "algorithms"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    print(f"-- OpenCL: {(done.stdout or done.stderr).splitlines()[0]}", flush=True)
    return done.returncode == 0


def rounds(options, suite, drivers, directions, sizes, gateway, number):
    """@return {(direction, driver, size): runs}, including runs of cygnetd as the driver "cygnetd" """
    runs = {}
    with tempfile.NamedTemporaryFile() as file:
        vector(file.name, max(sizes))
        for turn in range(1, options.rounds + 1):
            print(f"   {suite}: round {turn} of {options.rounds}", flush=True)
            for direction in directions:
                for driver in drivers if direction == "encap" else filterfalse(ENCAP_ONLY.__contains__, drivers):
                    for run in measure(options, driver, suite, direction, sizes, file.name):
                        runs.setdefault((direction, driver, run.bytes), []).append(run)
                for size in sizes:
                    counted = throughput(gateway, number[direction, str(size)], options.seconds, 1)
                    runs.setdefault((direction, "cygnetd", size), []).append(counted)
    return runs


def row(mine, peers, gateways):
    median, low, high = quartiles(ratios(mine, peers))
    cycles, peer, gateway = (quartiles([run.cycles for run in runs])[0] for runs in (mine, peers, gateways))
    mops = gateways[0].hz / cycles / 1e6
    return {"rounds": len(mine), "cycles": cycles, "mops": mops, "gbps": mops * mine[0].bytes * 8 / 1000,
            "peer_cycles": peer, "ratio": median, "ratio_low": low, "ratio_high": high, "cygnetd_cycles": gateway}


def compare(options, started, out):
    """Write the table of all drivers.
    @param started  context manager that starts cygnetd with one tunnel; parameters: suite, mixes,
                    directions"""
    sizes = sorted(int(size) for size in options.sizes or ["64", "512", "1408"])
    directions = [direction for direction in DIRECTIONS if direction in options.directions]
    opencl, table = has_opencl(options), Table(out, COLUMNS)
    for suite in filter(DRIVERS.__contains__, options.suites):
        drivers = [driver for driver in DRIVERS[suite][1] if opencl or driver != "crypto_opencl"]
        with started(suite, [str(size) for size in sizes], directions) as ((gateway,), number, _):
            runs = rounds(options, suite, drivers, directions, sizes, gateway, number)
        for (direction, driver, size), mine in runs.items():
            if driver != "cygnetd":
                table.add({"suite": suite, "direction": direction, "driver": driver, "bytes": size}
                          | row(mine, runs[direction, PEER, size], runs[direction, "cygnetd", size]))
    table.close()
