# SPDX-License-Identifier: GPL-2.0-or-later
"""ESP tunnels with IPv6: either family in either, and what is refused."""
import random

from scapy.layers.inet import UDP
from scapy.layers.inet6 import (ICMPv6MLReport, ICMPv6ND_NA, ICMPv6NDOptDstLLAddr,
                                ICMPv6PacketTooBig, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment)
from scapy.packet import Raw, raw

from bench import packet, policy, same_but_hop
from gateway import (FAR_HOST, FAR_HOST6, FAR_NET, FAR_NET6, HOST, HOST6, LAN6, LAN_NET, LAN_NET6,
                     PEER6)
from peer import SUITE, Sa
from test_esp import cases
from test_ipv6 import packet6, set_mtu


def tunnel(bench, outer6, suite="gcm128", **options):
    """One SA pair that carries both families. @return outbound and inbound SA"""
    out = Sa(SUITE[suite], "out", bench.spi(), v6=outer6, encap=options.get("encap", False),
             esn=options.get("esn", False), more=options.pop("out_more", ""))
    inb = Sa(SUITE[suite], "in", bench.spi(), v6=outer6, **options)
    bench.gateway.fill("flush", out.line(), inb.line(), *(
        policy(direction, *nets, spi=sa.spi, v6=outer6)
        for here, there in ((LAN_NET, FAR_NET), (LAN_NET6, FAR_NET6))
        for direction, nets, sa in (("out", (here, there), out), ("in", (there, here), inb),
                                    ("fwd", (there, here), inb))))
    return out, inb


def to_far(inner6, **fields):
    return packet6(**fields) if inner6 else packet(HOST, FAR_HOST, **fields)


def to_host(inner6, **fields):
    return packet6(FAR_HOST6, HOST6, **fields) if inner6 else packet(FAR_HOST, HOST, **fields)


def flows(bench, out, inb):
    """Packets of both families pass in both directions."""
    for inner6 in (False, True):
        bench.lan.drain()
        bench.wan.drain()
        sent = to_far(inner6)
        bench.from_lan(sent)
        same_but_hop(out.unseal(bench.receive(bench.wan, 1)[0])[0], sent)
        sent = to_host(inner6)
        bench.from_wan(inb.seal(sent))
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)


KINDS = {f"{suite}-{'6' if outer6 else '4'}{'-udp' if encap else ''}{'-esn' if esn else ''}":
         {"suite": suite, "outer6": outer6, "encap": encap, "esn": esn}
         for suite in ("gcm128", "cbc128-sha256") for outer6 in (False, True)
         for encap in (False, True) for esn in (False, True)}


@cases(*KINDS)
def test_tunnel6(bench, case):
    """4in4, 6in4, 4in6 or 6in6: one SA carries both, plain or in UDP."""
    flows(bench, *tunnel(bench, **KINDS[case]))


def test_sizes6(bench):
    """Inner packets that need every length of padding pass."""
    out, inb = tunnel(bench, True, "cbc128-sha256")
    for size in range(0, 34):
        bench.lan.drain()
        bench.wan.drain()
        sent = to_far(True, size=size)
        bench.from_lan(sent)
        same_but_hop(out.unseal(bench.receive(bench.wan, 1)[0])[0], sent)
        sent = to_host(True, size=size)
        bench.from_wan(inb.seal(sent))
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)


@cases("plain", "udp")
def test_damaged6(bench, case):
    """Wrong ICV, replayed, cut, unknown SPI, the other encapsulation, under IPv6."""
    encap = case == "udp"
    out, inb = tunnel(bench, True, encap=encap)
    good = raw(inb.seal(to_host(True)))
    front = 48 if encap else 40
    with bench.dropped("auth-failed", 3):
        for at in (front + 12, front + 30, len(good) - 1):
            bench.from_wan(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
    bench.from_wan(good)
    bench.receive(bench.lan, 1)
    with bench.dropped("replay"):
        bench.from_wan(good)
    with bench.dropped("bad-spi"):
        bench.from_wan(good[:front] + b"\x77" + good[front + 1:])
    other = Sa(SUITE["gcm128"], "in", inb.spi, v6=True, encap=not encap)
    with bench.dropped("esp-encap"):
        bench.from_wan(other.seal(to_host(True), seq=99))
    # No SA has this SPI and the gateway's IPv4 address.
    with bench.dropped("bad-spi"):
        bench.from_wan(Sa(SUITE["gcm128"], "in", inb.spi, encap=encap).seal(to_host(True), seq=99))
    flows(bench, out, inb)


def test_selectors6(bench):
    """A decrypted packet must match the policies of its SA, in each family."""
    out, inb = tunnel(bench, True)
    with bench.dropped("policy-inbound", 4):
        bench.from_wan(inb.seal(packet6("2001:db8:9::1", HOST6)))
        bench.from_wan(inb.seal(packet6(FAR_HOST6, "2001:db8:9::1")))
        bench.from_wan(inb.seal(packet("10.9.0.1", HOST)))
        bench.from_wan(inb.seal(packet(FAR_HOST, "10.9.0.1")))
    with bench.dropped("policy-plaintext", 2):
        bench.from_wan(to_host(True))
        bench.from_wan(to_host(False))
    flows(bench, out, inb)


def test_discovery_in_tunnel6(bench):
    """Neighbour discovery out of a tunnel is not passed to the kernel, because the peer is on no link of the
    gateway."""
    _, inb = tunnel(bench, True)
    bench.gateway.fill(policy("in", FAR_NET6, LAN_NET6, spi=inb.spi, v6=True, prio=10))
    advertisement = ICMPv6ND_NA(tgt=PEER6, R=0, S=0, O=1) / ICMPv6NDOptDstLLAddr(
        lladdr="02:00:00:00:00:66")
    with bench.dropped("policy-inbound", 3):
        for middle in (None, IPv6ExtHdrDestOpt()):
            ip = IPv6(src=FAR_HOST6, dst=LAN6, hlim=255)
            bench.from_wan(inb.seal(ip / middle / advertisement if middle else ip / advertisement))
        bench.from_wan(inb.seal(IPv6(src=FAR_HOST6, dst=LAN6, hlim=1) / ICMPv6MLReport()))


def test_inner_says_other_family6(bench):
    """ESP's next header and the version of the inner packet must agree."""
    out, inb = tunnel(bench, False)

    def swap(plain):
        plain.nh = 45 - plain.nh

    with bench.dropped("malformed", 2):
        for inner6 in (False, True):
            bench.from_wan(inb.seal(to_host(inner6), alter=swap))
    flows(bench, out, inb)


def test_inner_extensions6(bench):
    """Decrypted packets whose extension headers hide the ports are dropped, too."""
    out, inb = tunnel(bench, True)
    with bench.dropped("ipv6-headers"):
        bench.from_wan(inb.seal(IPv6(src=FAR_HOST6, dst=HOST6, nh=44) / Raw(b"\x11\0\0")))
    flows(bench, out, inb)


# RFC 6040, figure 4: outer, inner -> what arrives; None: dropped.
ECN = {(outer, inner): inner for outer in range(4) for inner in range(4)} | {
    (1, 2): 1, (3, 0): None, (3, 1): 3, (3, 2): 3}


def test_too_big_for_tunnel6(bench):
    """The source of an IPv6 packet is told the MTU of the tunnel, and a packet of that size passes."""
    for outer6 in (False, True):
        out, _ = tunnel(bench, outer6)
        bench.lan.drain()
        bench.wan.drain()
        sent = packet6(size=1452)
        bench.from_lan(sent)
        answer = bench.receive(bench.lan, 1)[0]
        assert answer.dst == HOST6 and ICMPv6PacketTooBig in answer, answer.summary()
        mtu = answer[ICMPv6PacketTooBig].mtu
        assert 1280 <= mtu < 1500, mtu
        bench.expect_nothing(bench.wan)
        sent = packet6(size=mtu - 48)
        bench.from_lan(sent)
        outer = bench.receive(bench.wan, 1)[0]
        assert 1490 < len(raw(outer)) <= 1500, len(raw(outer))
        same_but_hop(out.unseal(outer)[0], sent)


def test_minimum_mtu6(bench):
    """A packet of IPv6's minimum MTU is not refused: the ESP packet around it is fragmented, and reassembled by the
    receiver."""
    out, inb = tunnel(bench, True)
    set_mtu(bench, 1300)
    try:
        bench.wan.drain()
        sent = packet6(size=1280 - 48)
        bench.from_lan(sent)
        parts = bench.receive(bench.wan, 2)
        assert all(len(raw(part)) <= 1300 and IPv6ExtHdrFragment in part for part in parts)
        same_but_hop(out.unseal(together(parts))[0], sent)
    finally:
        set_mtu(bench, 1500)
    bench.lan.drain()
    sent = to_host(True, size=1200)
    whole = raw(inb.seal(sent))
    for at in (800, 0):
        part = whole[40 + at:][:800]
        bench.from_wan(IPv6(src=inb.src, dst=inb.dst) / IPv6ExtHdrFragment(
            nh=50, offset=at // 8, m=at == 0, id=77) / Raw(part))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def together(parts):
    parts = sorted(parts, key=lambda part: part[IPv6ExtHdrFragment].offset)
    assert [part[IPv6ExtHdrFragment].m for part in parts] == [1] * (len(parts) - 1) + [0]
    assert len({part[IPv6ExtHdrFragment].id for part in parts}) == 1
    first = raw(parts[0])
    data = b"".join(raw(part)[48:] for part in parts)
    return IPv6(first[:4] + len(data).to_bytes(2, "big") + first[40:41] + first[7:40] + data)


def test_inner_fragments_of_v4_in_6(bench):
    """An IPv4 packet without DF is fragmented before it is protected."""
    out, _ = tunnel(bench, True)
    bench.wan.drain()
    sent = packet(HOST, FAR_HOST, 1472)
    bench.from_lan(sent)
    parts = [out.unseal(outer)[0] for outer in bench.receive(bench.wan, 2)]
    assert b"".join(raw(part.payload) for part in parts) == raw(sent.payload)


def test_mapping_port6(bench):
    """ESP in UDP from another port is accepted, with or without (zero) a UDP checksum."""
    _, inb = tunnel(bench, True, encap=True)
    for checksum in (0, None):
        bench.lan.drain()
        sent = to_host(True)
        esp = raw(inb.seal(sent))[48:]
        udp = UDP(sport=23456, dport=4500) / Raw(esp)
        if checksum is not None:
            udp.chksum = 0
        bench.from_wan(IPv6(src="2001:db8:f::9", dst=inb.dst) / udp)
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def test_outer_fuzz6(bench):
    """Hundreds of damaged ESP packets in IPv6: none comes out, and the SA still works."""
    out, inb = tunnel(bench, True)
    bench.lan.drain()
    dice = random.Random(6)
    good = raw(inb.seal(to_host(True), seq=1000))
    for _ in range(500):
        bad = bytearray(good[:dice.randrange(41, len(good) + 1)])
        for _ in range(dice.randrange(1, 4)):
            bad[dice.randrange(40, len(bad))] ^= dice.randrange(1, 256)
        bad[4:6] = (len(bad) - 40).to_bytes(2, "big")
        bench.from_wan(bytes(bad))
    inb.seq = 1000
    sent = to_host(True)
    bench.from_wan(inb.seal(sent))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    flows(bench, out, inb)
