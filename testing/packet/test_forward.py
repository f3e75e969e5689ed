# SPDX-License-Identifier: GPL-2.0-or-later
"""Forwarding as a router: TTL, checksums, malformed packets, MTU."""
from scapy.layers.inet import ICMP, IP
from scapy.packet import raw

from bench import packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_HOST, HOST, LAN, LAN_NET, WAN
from network import wait_until


def test_ttl_expiry(bench):
    """Packets with TTL 1 and 0 are dropped before ESP; the source, and no other host, gets an ICMP
    error."""
    out, inb = bench.tunnel()
    before = bench.gateway.drops().get("ttl", 0)
    bench.lan.drain()
    bench.wan.drain()
    for ttl in (0, 1):
        bench.from_lan(to_far_host(ttl=ttl))
    for answer in bench.receive(bench.lan, 2):
        assert (answer[ICMP].type, answer[ICMP].code, answer.dst) == (11, 0, HOST), answer.summary()
    bench.expect_nothing()
    assert bench.gateway.drops().get("ttl", 0) == before + 2
    bench.expect_flow(out, inb)


def test_plain_forwarding(bench):
    bench.gateway.fill("flush")
    for ttl in (2, 64, 255):
        sent = packet(HOST, "10.2.200.1", ttl=ttl, tos=0x28, flags="DF", id=4711)
        bench.wan.drain()
        bench.from_lan(sent)
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)


STAGES = "from-wire", "forward", "outbound", "fit", "protect", "crypto", "finish"


def test_stages(bench):
    """`cygnetctl show stages`: stages count packets from the first request on, once the workers have seen it."""
    # Of packets handed off to the SA's worker, at least the first one passes the stages fit and protect.
    least = {stage: 1 if bench.gateway.workers > 1 and stage in ("fit", "protect") else 5 for stage in STAGES}

    def counted():
        return {row["stage"]: row for row in bench.gateway.ask("/cygnet/stages").values()}

    def counts():
        out, _ = bench.tunnel()
        before = counted()
        bench.wan.drain()
        for port in range(5):  # each the first packet of its flow
            bench.from_lan(packet(HOST, FAR_HOST, sport=30000 + port))
        for outer in bench.receive(bench.wan, 5):
            out.unseal(outer)
        after = counted()
        grown = {stage: [after[stage][key] - before[stage][key] for key in ("packets", "vectors", "cycles")]
                 for stage in STAGES}
        return all(packets >= least[stage] and vectors >= 1 and cycles > 0
                   for stage, (packets, vectors, cycles) in grown.items())

    wait_until(counts, f"packets of each stage: {least}")


def test_outer_header(bench):
    """The outer header has a TTL of its own; DSCP and ECN of the inner packet are unchanged inside."""
    out, _ = bench.tunnel()
    bench.wan.drain()
    sent = to_far_host(tos=0xb9, ttl=3)
    bench.from_lan(sent)
    outer = bench.receive(bench.wan, 1)[0]
    assert outer.ttl >= 32, f"outer TTL {outer.ttl}"
    same_but_hop(out.unseal(outer)[0], sent)


def test_malformed(bench):
    """Inconsistent headers, on either port."""
    out, inb = bench.tunnel()
    good = raw(to_far_host())
    faults = [
        b"\x55" + good[1:],                          # version 5
        b"\x44" + good[1:],                          # header of 16 bytes
        b"\x4f" + good[1:2] + b"\x00\x20" + good[4:32],  # header beyond the packet
        good[:2] + b"\x00\x13" + good[4:],           # total length below the header's
        good[:2] + b"\x05\xdc" + good[4:],           # total length beyond the frame
        good[:10] + bytes([good[10] ^ 1]) + good[11:],  # checksum
        good[:12],
    ]
    with bench.dropped("malformed", 2 * len(faults)):
        for fault in faults:
            bench.from_lan(fault)
            bench.from_wan(fault)
    bench.expect_flow(out, inb)


def test_too_big(bench):
    """DF and no room for ESP: the packet is dropped, and the host receives the MTU."""
    out, inb = bench.tunnel()
    before = bench.gateway.drops().get("too-big", 0)
    bench.lan.drain()
    bench.wan.drain()
    bench.from_lan(to_far_host(1472, flags="DF"))
    answer = bench.receive(bench.lan, 1)[0]
    assert (answer[ICMP].type, answer[ICMP].code, answer.dst) == (3, 4, HOST), answer.summary()
    bench.expect_nothing()
    assert bench.gateway.drops().get("too-big", 0) == before + 1
    bench.wan.drain()
    longest = to_far_host(answer[ICMP].nexthopmtu - 28, flags="DF")
    bench.from_lan(longest)
    outer = bench.receive(bench.wan, 1)[0]
    assert 1500 - 16 < outer.len <= 1500, outer.len
    same_but_hop(out.unseal(outer)[0], longest)
    bench.expect_flow(out, inb)


def test_no_route(bench):
    bench.gateway.fill("flush")
    before = bench.gateway.drops().get("no-route", 0)
    bench.wan.drain()
    bench.from_lan(packet(HOST, "203.0.113.1"))
    bench.wait_until_dropped("no-route", before)
    bench.expect_nothing(bench.wan)
    assert bench.gateway.drops().get("no-route", 0) == before + 1


def test_frame_padding(bench):
    """Ethernet pads short packets: the padding is neither encrypted nor forwarded."""
    out, _ = bench.tunnel()
    sent = IP(raw(IP(src=HOST, dst=FAR_HOST, ttl=64) / ICMP()))
    bench.wan.drain()
    bench.lan.send(bench.frame(bench.lan, "lan", raw(sent) + b"\xaa" * 30))
    same_but_hop(out.unseal(bench.receive(bench.wan, 1)[0])[0], sent)


def test_foreign_frames(bench):
    """Frames for another MAC, and broadcasts, are not forwarded."""
    bench.tunnel()
    frame = bytes(bench.frame(bench.lan, "lan", to_far_host()))
    for mac in (b"\x02\x00\x00\x00\x99\x99", b"\xff" * 6):
        with bench.dropped("not-ours"):
            bench.lan.send(mac + frame[6:])


def test_forwarding_off(bench):
    """The kernel's forwarding switch of an interface holds for plaintext and decrypted packets."""
    out, inb = bench.tunnel()

    def switch(device, value):
        bench.gateway.in_gw("sysctl", "-q", "-w", f"net.ipv4.conf.{device}.forwarding={value}")
        bench.gateway.hear()

    try:
        switch("lan", 0)
        with bench.dropped("forwarding", 2):
            bench.from_lan(to_far_host())
            bench.from_lan(packet(HOST, "10.2.200.1"))
        switch("lan", 1)
        switch("wan", 0)
        with bench.dropped("forwarding", 2):
            bench.from_wan(inb.seal(to_host()))
            bench.from_wan(packet("10.2.200.1", HOST))
    finally:
        switch("lan", 1)
        switch("wan", 1)
    bench.expect_flow(out, inb)


def test_martians(bench):
    """Invalid source and destination addresses; a local address as a source."""
    everything = "0.0.0.0-255.255.255.255"
    bench.gateway.fill("flush")
    sources = ("0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.5", "240.0.0.1", "255.255.255.255", LAN, WAN)
    with bench.dropped("martian", len(sources)):
        for source in sources:
            bench.from_lan(packet(source, "10.2.200.1"))
    out, inb = bench.tunnel(more_lines=[policy("fwd", everything, LAN_NET, spi=bench.next_spi, prio=2000)])
    with bench.dropped("martian", 2):
        for source in ("127.0.0.1", LAN):
            bench.from_wan(inb.seal(packet(source, HOST)))
    bench.expect_flow(out, inb)
