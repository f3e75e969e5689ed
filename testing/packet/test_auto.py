# SPDX-License-Identifier: GPL-2.0-or-later
"""engine = auto: packets of one SA at two engines, and an engine that fails."""
import json
import os
import zlib

from bench import same_but_hop, to_far_host, to_host
from network import wait_until

ENGINE = "auto"
SUITE = "cbc128-sha256"
ALGORITHM = "aes-cbc-128 hmac-sha256"


def engines(bench):
    """What cygnetctl shows, by engine; of the CPU the device that has SUITE."""
    gateway = bench.gateway
    shown = gateway.in_gw(f"{gateway.build}/root/bin/cygnetctl", "-c", f"{gateway.work}/cygnetd.conf",
                          "--json", "show", "engines", capture_output=True)
    return {row["engine"]: row for row in json.loads(shown.stdout)
            if row["device"] in ("crypto_aesni_mb0", "crypto_opencl0")}


def rewrite(bench, change):
    """cygnetd starts again, with another file of what was measured."""
    path = f"{bench.gateway.work}/state/engines"
    bench.gateway.stop()
    with open(path) as file:
        text = change(file.read())
    with open(path, "w") as file:
        file.write(text)
    bench.gateway.start()


def sealed(lines):
    body = "".join(line + "\n" for line in lines)
    return body + f"end {zlib.crc32(body.encode()):08x}\n"


CPU, OPENCL = "crypto_aesni_mb0", "crypto_opencl0"
# latency, Gbps, ns: good, slow and busy with a few packets, soon there and fast with batches
GOOD, SLOW, BATCH = "1|30,30,30|100", "1|0.001,0.001,0.001|60000", "50|10,10,10|1"


def measured(text, results):
    """The file, with a line for each (device, length) of results, of SUITE."""
    kept = [line for line in text.splitlines() if line.startswith(("cygnet", "device"))]
    names = [line.split()[1].split("|")[0] for line in kept[1:]]
    return sealed(kept + [f"{names.index(device)}|{ALGORITHM}|{length}|{result}"
                          for (device, length), result in results.items()])


def by_length(text):
    """Short packets to the CPU, long ones to OpenCL, those in between to either, by load."""
    return measured(text, {(CPU, 64): GOOD, (CPU, 256): SLOW, (OPENCL, 256): BATCH,
                           (OPENCL, 1024): GOOD, (OPENCL, 1408): GOOD})


def opencl_first(text):
    return measured(text, {(OPENCL, length): GOOD for length in (64, 256, 1024, 1408)})


def length_of(number):
    """Short, long, short, in between"""
    return (20, 1000 + number, 30, 200)[number % 4] if number % 8 != 3 else 1200


def exchange(bench, out, inb, count):
    """count packets each way; all arrive, in order, with numbers that only grow."""
    bench.wan.drain()
    bench.lan.drain()
    first = out.sent = getattr(out, "sent", 0)
    out.sent += count
    there = [to_far_host(length_of(number), id=number) for number in range(count)]
    frames = [(bench.frame(bench.lan, "lan", packet),
               bench.frame(bench.wan, "wan", inb.seal(to_host(length_of(number), id=number))))
              for number, packet in enumerate(there)]
    for outbound, inbound in frames:
        bench.lan.send(outbound)
        bench.wan.send(inbound)
    for number, packet in enumerate(bench.receive(bench.wan, count, 20)):
        inner, seq = out.unseal(packet)
        assert (inner.id, seq) == (number, first + number + 1), (inner.id, seq, number)
        same_but_hop(inner, there[number])
    order = [packet.id for packet in bench.receive(bench.lan, count, 20)]
    assert order == list(range(count)), "received in another order"


def test_auto_both_engines(bench):
    rewrite(bench, by_length)
    out, inb = bench.tunnel(SUITE)
    for _ in range(2):  # with a pause
        exchange(bench, out, inb, 300)
    rows = engines(bench)
    # 600 of each direction, of which every second is short
    long = 4 * sum(length_of(number) >= 1000 for number in range(300))
    assert rows["cpu"]["packets"] >= 600 and rows["opencl"]["packets"] >= long, (long, rows)
    assert rows["cpu"]["packets"] + rows["opencl"]["packets"] == 1200, rows
    assert not bench.gateway.drops(), bench.gateway.drops()
    chosen = {(row["device"], entry["length"], entry["chosen"]) for row in rows.values() for entry in row["measured"]}
    assert chosen == {(CPU, 64, "light, full"), (CPU, 256, "light"), (OPENCL, 256, "full"),
                      (OPENCL, 1024, "light, full"), (OPENCL, 1408, "light, full")}, chosen


def test_auto_damaged_file(bench):
    """Measured anew, with a word about it."""
    mark = os.path.getsize(bench.gateway.log)
    rewrite(bench, lambda text: text[:-3])
    assert bench.gateway.logged("it is damaged: measuring the engines anew", mark)
    out, inb = bench.tunnel(SUITE)
    exchange(bench, out, inb, 50)


def test_auto_engine_fails(bench):
    """OpenCL calls begin to fail under traffic: nothing is lost, it is said once."""
    mark = os.path.getsize(bench.gateway.log)
    rewrite(bench, opencl_first)
    assert bench.gateway.logged("says how fast the engines are", mark)
    out, inb = bench.tunnel(SUITE)
    exchange(bench, out, inb, 100)
    before = engines(bench)
    assert before["opencl"]["packets"] == 200, before
    memory = {row["packets_in"] for row in bench.gateway.ask("/cygnet/engines").values()
              if row["engine"] == "opencl"}
    assert memory == {"hugepages" if bench.gateway.driver == "net_af_xdp" else "device"}, memory
    with open(bench.gateway.fault, "w"):
        pass
    exchange(bench, out, inb, 200)
    wait_until(lambda: engines(bench)["opencl"]["state"] == "failed", 5, "opencl taken out")
    exchange(bench, out, inb, 100)
    rows = engines(bench)
    assert rows["opencl"]["failed"], rows
    assert rows["cpu"]["packets"] - before["cpu"]["packets"] == 600, rows
    assert not bench.gateway.drops(), bench.gateway.drops()
    with open(bench.gateway.log) as log:
        log.seek(mark)
        assert log.read().count("crypto_opencl0 fails") == 1
    os.unlink(bench.gateway.fault)
