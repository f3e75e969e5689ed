# SPDX-License-Identifier: GPL-2.0-or-later
"""engine = auto: packets of one SA at two engines, by length and by load, and an engine that fails."""
import contextlib
import json
import os
import re
import subprocess
import zlib

from scapy.packet import raw

from bench import same_but_hop, to_far_host, to_host
from gateway import OPENCL
from network import wait_until
from test_esp import cases

ENGINE = "auto"
SUITE = "cbc128-sha256"
ALGORITHM = "aes-cbc-128 hmac-sha256"
CPU, GPU = "crypto_ipsec_mb_chain0", "crypto_opencl0"  # the first device of each engine that supports SUITE


def engines(bench):
    """Rows of cygnetctl by engine; for the CPU, of the device that supports SUITE."""
    gateway = bench.gateway
    shown = gateway.in_gw(f"{gateway.build}/root/bin/cygnetctl", "-c", gateway.conf,
                          "--json", "show", "engines", capture_output=True)
    return {row["engine"]: row for row in json.loads(shown.stdout)
            if row["device"] in (CPU, GPU)}


def edit(path, change):
    with open(path) as file:
        text = change(file.read())
    with open(path, "w") as file:
        file.write(text)


def give_arguments(gateway, opencl):
    """Set arguments of the OpenCL device for the next start."""
    edit(gateway.conf, lambda text: re.sub("(?m)^opencl = .*", f"opencl = {opencl}", text))


def rewrite(bench, change, opencl=OPENCL):
    """Restart cygnetd with another file of measurements, and with other arguments for the OpenCL device, which are
    part of the version in that file."""
    gateway = bench.gateway
    assert gateway.stop() == 0
    give_arguments(gateway, opencl)
    edit(f"{gateway.work}/state/engines", lambda text: change(re.sub(
        r"(?m)(?<=^device crypto_opencl0\|)(.*), (.*?busy_wait_us=[0-9]*),.*", rf"\1, \2,{opencl}", text)))
    gateway.start()


def kept(gateway):
    """@return the content of the file of measurements, which is written when the engines have been measured"""
    with open(f"{gateway.work}/state/engines") as file:
        return file.read()


def logged_since(gateway, mark):
    with open(gateway.log) as log:
        log.seek(mark)
        return log.read()


def sealed(lines):
    body = "".join(line + "\n" for line in lines)
    return body + f"end {zlib.crc32(body.encode()):08x}\n"


# latency, Gbps, ns. CPU: good; OpenCL: slow and costly with few packets, low latency and fast with batches
GOOD, SLOW, BATCH = "1|30|100", "1|0.001|60000", "50|10|1"


def wait_measured(gateway, mark):
    """cygnetd serves before it has measured, and while it does. One that has ended before may have said so, too.
    @return what it has logged"""
    begins = "cygnetd: measuring the engines"
    assert begins in logged_since(gateway, mark), logged_since(gateway, mark)
    wait_until(lambda: "engines measured in" in logged_since(gateway, mark).rpartition(begins)[2], "engines measured", 200)
    return logged_since(gateway, mark)


def measured(text, results, left=None):
    """Write the file, with a line for each (device, length) of results for SUITE. @param left  the algorithm
    with which measuring has to go on, as if it had run out of time before"""
    head = [line for line in text.splitlines() if line.startswith(("cygnet", "device"))]
    names = [line.split()[1].split("|")[0] for line in head[1:]]
    rest = [f"next {left}"] if left else []
    return sealed(head + rest + [f"{names.index(device)}|{ALGORITHM}|{length}|{result}"
                                 for (device, length), result in results.items()])


def by_length(text):
    """Results by which short packets go to the CPU, long ones to OpenCL, and those in between to either, by load."""
    return measured(text, {(CPU, 64): GOOD, (CPU, 256): SLOW, (GPU, 256): BATCH,
                           (GPU, 1024): GOOD, (GPU, 1408): GOOD})


def opencl_first(text):
    return measured(text, {(GPU, length): GOOD for length in (64, 256, 1024, 1408)})


def length_of(number):
    """Payload lengths in turn: short, long, short, in between"""
    return (20, 1000 + number, 30, 200)[number % 4] if number % 8 != 3 else 1200


def exchange(bench, out, inb, count, length=length_of, at_once=False):
    """Send count packets each way: all arrive in order, with increasing sequence numbers."""
    bench.wan.drain()
    bench.lan.drain()
    first = out.sent = getattr(out, "sent", 0)
    out.sent += count
    there = [to_far_host(length(number), id=number) for number in range(count)]
    frames = [(bench.frame(bench.lan, "lan", packet),
               bench.frame(bench.wan, "wan", inb.seal(to_host(length(number), id=number))))
              for number, packet in enumerate(there)]
    with bench.gateway.paused() if at_once else contextlib.nullcontext():
        for outbound, inbound in frames:
            bench.lan.send(outbound)
            bench.wan.send(inbound)
    for number, packet in enumerate(bench.receive(bench.wan, count)):
        inner, seq = out.unseal(packet)
        assert (inner.id, seq) == (number, first + number + 1), (inner.id, seq, number)
        same_but_hop(inner, there[number])
    order = [packet.id for packet in bench.receive(bench.lan, count)]
    assert order == list(range(count)), "received in another order"


def test_auto_both_engines(bench):
    rewrite(bench, by_length)
    out, inb = bench.tunnel(SUITE)
    for _ in range(2):  # with a pause in between
        exchange(bench, out, inb, 300)
    rows = engines(bench)
    # 600 packets in each direction, every second one is short
    long = 4 * sum(length_of(number) >= 1000 for number in range(300))
    assert rows["cpu"]["packets"] >= 600 and rows["opencl"]["packets"] >= long, (long, rows)
    assert rows["cpu"]["packets"] + rows["opencl"]["packets"] == 1200, rows
    assert not bench.gateway.drops(), bench.gateway.drops()
    chosen = {(row["device"], entry["length"], entry["chosen"]) for row in rows.values() for entry in row["measured"]}
    assert chosen == {(CPU, 64, "light, full"), (CPU, 256, "light"), (GPU, 256, "full"),
                      (GPU, 1024, "light, full"), (GPU, 1408, "light, full")}, chosen


def in_between(_):
    return 200


def counted(bench):
    return {engine: row["packets"] for engine, row in engines(bench).items()}


def trickle(bench, out, inb):
    """Send some packets one by one. @return how many each engine has processed"""
    before = counted(bench)
    for _ in range(10):
        exchange(bench, out, inb, 1, in_between)
    return {engine: packets - before[engine] for engine, packets in counted(bench).items()}


def numbered(frame, number):
    """Change the IP identification of a frame from 0 to another number (RFC 1624)."""
    total = (~int.from_bytes(frame[24:26], "big") & 0xffff) + number
    checksum = ~(total + (total >> 16)) & 0xffff
    return b"".join((frame[:18], number.to_bytes(2, "big"), frame[20:24], checksum.to_bytes(2, "big"), frame[26:]))


def burst(bench, out, count):
    """Send a burst of count packets to the peer. They arrive with consecutive sequence numbers, and in the order in
    which they were sent (one in 16 is decrypted to check that)."""
    out.sent += count
    frame = bench.frame(bench.lan, "lan", to_far_host(in_between(0), id=0))
    with bench.gateway.paused():
        for number in range(count):
            bench.lan.send(numbered(frame, number))
    for number, packet in enumerate(bench.receive(bench.wan, count)):
        seq = int.from_bytes(raw(packet.payload)[4:8], "big")
        assert seq == out.sent - count + number + 1, (seq, number)
        if number % 16 == 0:
            inner, _ = out.unseal(packet)
            assert inner.id == number, (inner.id, number)


def test_auto_load(bench):
    """Packets of one length. One by one, they go to the CPU. In a burst the CPU has the first ones, and then the OpenCL
    device; afterwards the CPU again. All arrive in order."""
    rewrite(bench, by_length)
    out, inb = bench.tunnel(SUITE)
    assert trickle(bench, out, inb) == {"cpu": 20, "opencl": 0}
    before = after = counted(bench)
    rounds = 0
    while rounds < 20 and after["opencl"] == before["opencl"]:
        burst(bench, out, 1000)  # several bursts, because another program may take the core during one
        after = counted(bench)
        rounds += 1
    assert after["opencl"] > before["opencl"] and after["cpu"] > before["cpu"], (before, after)
    assert sum(after.values()) - sum(before.values()) == 1000 * rounds, (before, after)
    wait_until(lambda: trickle(bench, out, inb) == {"cpu": 20, "opencl": 0}, "the CPU has single packets again")
    assert not bench.gateway.drops(), bench.gateway.drops()


def test_auto_other_version(bench):
    """Measurements of another version of a driver are repeated, and the new ones are stored."""
    gateway = bench.gateway
    mark = os.path.getsize(gateway.log)
    rewrite(bench, lambda text: measured(re.sub("driver [^,|]*", "driver 0.1", text), {(CPU, 64): GOOD}))
    out, inb = bench.tunnel(SUITE)
    exchange(bench, out, inb, 50)
    text = wait_measured(gateway, mark)
    assert "because it is of other devices or versions: measuring the engines again" in text, text
    assert not re.search("cygnetd: warning|cygnetd: error", text), text
    text = kept(gateway)
    assert "driver 0.1" not in text and GOOD not in text and re.search(r"(?m)^0\|", text), text
    exchange(bench, out, inb, 50)


def test_auto_cut_short(bench):
    """If measuring ran out of time, the next start measures the remaining algorithms only."""
    gateway = bench.gateway
    mark = os.path.getsize(gateway.log)
    rewrite(bench, lambda text: measured(text, {(CPU, 64): "1|7|7"}, left="aes-cbc-128 hmac-sha1"))
    text = wait_measured(gateway, mark)
    assert "throughput of the engines read from this file" in text, text
    text = kept(gateway)
    assert f"{ALGORITHM}|64|1|7|7" in text and "|aes-cbc-128 hmac-sha1|64|" in text, text
    out, inb = bench.tunnel(SUITE)
    exchange(bench, out, inb, 50)


FAULTS = cases("refuse", "error", "hang", "svm-error", "svm-hang")


def memory_path(case):
    return "svm" if case.startswith("svm-") else "staged"


def engine_fails(bench, case, mark):
    """OpenCL, which has processed all packets of SUITE since that mark in the log, fails under traffic: it launches no
    kernel, reports errors for launched ones, or does not complete them. No packet is lost, the failure is logged once,
    and the CPU takes over."""
    gateway = bench.gateway
    path = memory_path(case)
    assert gateway.logged(f"memory path {path}", mark)
    out, inb = bench.tunnel(SUITE)
    drops, first = gateway.drops(), counted(bench)
    exchange(bench, out, inb, 100)
    before = engines(bench)
    assert before["opencl"]["packets"] - first["opencl"] == 200, (first, before)
    memory = {row["packets_in"] for row in gateway.ask("/cygnet/engines").values()
              if row["engine"] == "opencl"}
    assert memory == {"hugepages" if path == "svm" or gateway.driver == "net_af_xdp" else "device"}, memory
    with open(gateway.fault, "w") as file:
        file.write(case.removeprefix("svm-"))
    try:
        exchange(bench, out, inb, 200)
        wait_until(lambda: engines(bench)["opencl"]["state"] == "failed", "opencl taken out")
        exchange(bench, out, inb, 100)
    finally:
        os.unlink(gateway.fault)
    rows = engines(bench)
    assert rows["opencl"]["failed"], rows
    assert rows["cpu"]["packets"] - before["cpu"]["packets"] == 600, rows
    assert not bench.drops_since(drops), bench.drops_since(drops)
    text = logged_since(gateway, mark)
    assert text.count("crypto_opencl0 fails") == 1 and text.count("is given up") == 1, text


@FAULTS
def test_auto_engine_fails(bench, case):
    mark = os.path.getsize(bench.gateway.log)
    rewrite(bench, opencl_first, f"memory={memory_path(case)}")
    assert bench.gateway.logged("throughput of the engines read from this file", mark)
    engine_fails(bench, case, mark)


def test_auto_show_engines(bench):
    """cygnetctl show engines fits on a screen; the measurements, here of one suite, are shown on request."""
    gateway = bench.gateway

    def show(*words):
        return subprocess.run([f"{gateway.build}/root/bin/cygnetctl", "-p", gateway.prefix, "show", "engines", *words],
                              capture_output=True, text=True, check=True).stdout.splitlines()
    rewrite(bench, by_length)
    devices = show()
    assert len(devices) == 1 + len(gateway.ask("/cygnet/engines")) <= 24, devices
    assert max(map(len, devices)) <= 100, devices
    summary = show("--measurements")[len(devices) + 1:]
    assert summary[0].startswith("ALGORITHM"), summary
    assert [line.startswith(ALGORITHM) for line in summary[1:]] == [True], summary
    one = show("aes-cbc-128")[len(devices) + 1:]
    assert one[0].split()[:3] == ["ALGORITHM", "BYTES", "DEVICE"], one
    assert [line.startswith(ALGORITHM) for line in one[1:]] == [True] * 5, one
