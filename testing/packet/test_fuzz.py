# SPDX-License-Identifier: GPL-2.0-or-later
"""Random damage to frames of every kind: cygnetd goes on, and nothing leaks."""
import random

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import QUIET, to_far_host, to_host
from gateway import HOST, PEER, WAN
from test_esp import cases

FRAMES = 3000


def damaged(frame, rng):
    frame = bytearray(frame)
    for _ in range(rng.choice((1, 1, 2, 8))):
        frame[rng.randrange(12, len(frame))] = rng.randrange(256)
    kind = rng.randrange(4)
    if kind == 0:
        del frame[rng.randrange(14, len(frame)):]
    elif kind == 1:
        frame += bytes(rng.randrange(1500 - len(frame)))
    return bytes(frame)


@cases("lan", "wan")
def test_fuzz(bench, case):
    rng = random.Random(f"cygnet {case}")
    out, inb = bench.tunnel("cbc128-sha256", encap=False)
    port = getattr(bench, case)
    seeds = [bench.frame(port, case, packet) for packet in (
        to_far_host(), to_host(), inb.seal(to_host()), IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500),
        IP(src=PEER, dst=WAN) / UDP(sport=4500, dport=4500) / raw(inb.seal(to_host()).payload),
        IP(src=HOST, dst=WAN, frag=7, flags="MF") / Raw(b"y" * 64))]
    seeds.append(raw(Ether(dst="ff:ff:ff:ff:ff:ff", src=port.mac.hex(":")) / ARP(pdst=WAN)))
    leaked = []
    for number in range(FRAMES):
        port.send(damaged(rng.choice(seeds), rng))
        if number % 100 == 99:
            # What a damaged frame turned into may pass; the protected flow may not.
            leaked += [packet for packet in bench.packets(bench.wan, 0.005)
                       if packet.src == HOST and packet.dst.startswith("10.2.0.")]
    assert not leaked, leaked[0].summary()
    inb.seq = 1000000
    for _ in bench.wan.frames(QUIET):
        pass
    bench.expect_flow(out, inb)
