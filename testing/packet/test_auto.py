# SPDX-License-Identifier: GPL-2.0-or-later
"""engine = auto: packets of one SA at two engines, and an engine that fails."""
import os
import zlib

from bench import same_but_hop, to_far_host, to_host
from network import wait_until

ENGINE = "auto"
SUITE = "cbc128-sha256"
ALGORITHM = "aes-cbc-128 hmac-sha256"


def engines(bench):
    return {row["engine"]: row for row in bench.gateway.ctl("engines") if row["device"] != "crypto_openssl0"
            and row["device"] != "crypto_aesni_gcm0"}


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


def opencl_pays(text):
    """The CPU is the soonest, and overloaded by a few packets; OpenCL is far faster
    with batches, of which it takes 64 packets at most."""
    lines = text.splitlines()[:-1]
    numbers = {line.split()[1].split("|")[0]: number
               for number, line in enumerate(line for line in lines if line.startswith("device"))}
    kept = [line for line in lines if line.startswith(("cygnet", "device"))]
    for bytes_ in (64, 256, 1024, 1408):
        kept += [f"{numbers['crypto_aesni_mb0']}|{ALGORITHM}|{bytes_}|1|0.001,0.001,0.001|60000",
                 f"{numbers['crypto_opencl0']}|{ALGORITHM}|{bytes_}|50|10,10,10|1"]
    return sealed(kept)


def exchange(bench, out, inb, count):
    """count packets each way; all arrive, in order, with numbers that only grow."""
    bench.wan.drain()
    bench.lan.drain()
    first = out.sent = getattr(out, "sent", 0)
    out.sent += count
    frames = [(bench.frame(bench.lan, "lan", to_far_host(number % 1300, id=number)),
               bench.frame(bench.wan, "wan", inb.seal(to_host(number % 1300, id=number))))
              for number in range(count)]
    for outbound, inbound in frames:
        bench.lan.send(outbound)
        bench.wan.send(inbound)
    for number, packet in enumerate(bench.receive(bench.wan, count, 20)):
        inner, seq = out.unseal(packet)
        assert (inner.id, seq) == (number, first + number + 1), (inner.id, seq, number)
        same_but_hop(inner, to_far_host(number % 1300, id=number))
    order = [packet.id for packet in bench.receive(bench.lan, count, 20)]
    assert order == list(range(count)), "received in another order"


def test_auto_both_engines(bench):
    rewrite(bench, opencl_pays)
    out, inb = bench.tunnel(SUITE)
    for _ in range(4):  # with pauses: back to the CPU
        exchange(bench, out, inb, 400)
    rows = engines(bench)
    assert rows["cpu"]["packets"] and rows["opencl"]["packets"], rows
    assert sum(row["packets"] for row in rows.values()) == 3200, rows
    assert not bench.gateway.drops(), bench.gateway.drops()
    chosen = {(row["device"], entry["chosen"]) for row in rows.values() for entry in row["measured"]}
    assert chosen == {("crypto_aesni_mb0", "light"), ("crypto_opencl0", "full")}, chosen


def test_auto_damaged_file(bench):
    """Measured anew, with a word about it."""
    mark = os.path.getsize(bench.gateway.log)
    rewrite(bench, lambda text: text.replace("|1|0.001", "|1|0.002"))
    assert bench.gateway.logged("it is damaged: measuring the engines anew", mark)
    out, inb = bench.tunnel(SUITE)
    exchange(bench, out, inb, 50)


def test_auto_engine_fails(bench):
    """OpenCL calls begin to fail under traffic: nothing is lost, it is said once."""
    mark = os.path.getsize(bench.gateway.log)
    rewrite(bench, opencl_pays)
    assert bench.gateway.logged("says how fast the engines are", mark)
    out, inb = bench.tunnel(SUITE)
    exchange(bench, out, inb, 400)
    assert engines(bench)["opencl"]["packets"]
    with open(bench.gateway.fault, "w"):
        pass
    exchange(bench, out, inb, 400)
    exchange(bench, out, inb, 400)
    wait_until(lambda: engines(bench)["opencl"]["state"] == "failed", 2, "opencl taken out")
    assert engines(bench)["opencl"]["failed"] and not bench.gateway.drops(), bench.gateway.drops()
    with open(bench.gateway.log) as log:
        log.seek(mark)
        assert log.read().count("crypto_opencl0 fails") == 1
    os.unlink(bench.gateway.fault)
