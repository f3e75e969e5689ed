# SPDX-License-Identifier: GPL-2.0-or-later
"""Random damage to frames of every kind: cygnetd survives, and no plaintext leaks."""
import contextlib
import random

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import QUIET, to_far_host, to_host
from gateway import HOST, PEER, WAN
from network import SLOWDOWN, wait_until
from peer import WrongPacketError
from test_esp import cases

FRAMES = 3000
SEALED_PORT = 7777  # source port of packets in the tunnel, and of no others


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


def injected(packet):
    """From the far net to the LAN, in plaintext."""
    return (packet.src.startswith("10.2.0.") and packet.dst.startswith("10.1.0.") and
            not (packet.proto == 17 and raw(packet.payload)[:2] == SEALED_PORT.to_bytes(2, "big")))


@cases("lan", "wan")
def test_fuzz(bench, case):
    rng = random.Random(f"cygnet {case}")
    out, inb = bench.tunnel("cbc128-sha256", encap=False)
    port = getattr(bench, case)
    seeds = [bench.frame(port, case, packet) for packet in (
        to_far_host(), to_host(), inb.seal(to_host(sport=SEALED_PORT)), IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500),
        IP(src=PEER, dst=WAN) / UDP(sport=4500, dport=4500) / raw(inb.seal(to_host(sport=SEALED_PORT)).payload),
        IP(src=HOST, dst=WAN, frag=7, flags="MF") / Raw(b"y" * 64))]
    seeds += [seed[:12] + tag + seed[12:] for seed in seeds[:2]
              for tag in (b"\x81\0\0\0", b"\x88\xa8\0\0", b"\x81\0\0\0\x81\0\0\0")]
    seeds.append(raw(Ether(dst="ff:ff:ff:ff:ff:ff", src=port.mac.hex(":")) / ARP(pdst=WAN)))
    leaked = []

    def look(quiet):
        # A damaged frame may pass as another flow; the protected flow must not.
        leaked.extend(packet for packet in bench.packets(bench.wan, quiet)
                      if packet.src == HOST and packet.dst.startswith("10.2.0."))
        leaked.extend(packet for packet in bench.packets(bench.lan, quiet) if injected(packet))

    before = bench.gateway.received(case)
    for number in range(FRAMES):
        port.send(damaged(rng.choice(seeds), rng))
        if number % 100 == 99:
            look(0.005)
    # On a busy machine some frames arrive later; a full ring may have lost some.
    with contextlib.suppress(AssertionError):
        wait_until(lambda: bench.gateway.received(case) - before >= FRAMES, "all of them", 3 * SLOWDOWN)
    look(QUIET)
    if leaked:
        raise WrongPacketError(f"leaked: {leaked[0].summary()}")
    inb.seq = 1000000
    bench.expect_flow(out, inb)
