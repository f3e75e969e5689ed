# SPDX-License-Identifier: GPL-2.0-or-later
"""ICMP errors about decrypted packets: sent through a tunnel, or not at all."""
import contextlib

from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import (ICMPv6DestUnreach, ICMPv6PacketTooBig, ICMPv6TimeExceeded, IPv6,
                                in6_chksum)
from scapy.layers.ipsec import ESP
from scapy.packet import raw

from bench import QUIET, packet, policy
from gateway import FAR_HOST, FAR_HOST6, FAR_NET, HOST, LAN, LAN6, LAN_NET
from network import ip
from peer import SUITE, Sa
from test_esp import cases
from test_ipv6 import packet6
from test_tunnel6 import to_host, tunnel


@contextlib.contextmanager
def narrow_lan(bench, mtu=1400):
    """The LAN has a smaller MTU in the body."""
    try:
        for link_mtu in (mtu, 1500):
            ip("-n", bench.network.gw, "link", "set", "lan", "mtu", str(link_mtu))
            bench.gateway.hear()
            if link_mtu == mtu:
                yield
    finally:
        ip("-n", bench.network.gw, "link", "set", "lan", "mtu", "1500")


@contextlib.contextmanager
def dead_end(bench, *prefixes):
    """An address without a route."""
    gw = bench.network.gw
    try:
        for prefix in prefixes:
            ip("-n", gw, "route", "replace", "blackhole", prefix)
        bench.gateway.hear()
        yield
    finally:
        for prefix in prefixes:
            ip("-n", gw, "route", "del", "blackhole", prefix)


def error_from_tunnel(bench, out, inb, sent, reason, source):
    """The gateway drops a decrypted packet. @return the ICMP error in the tunnel"""
    before = bench.gateway.drops().get(reason, 0)
    bench.lan.drain()
    bench.wan.drain()
    bench.from_wan(inb.seal(sent))
    answer, _ = out.unseal(bench.receive(bench.wan, 1)[0])
    bench.expect_nothing()
    assert bench.gateway.drops()[reason] == before + 1
    assert (answer.src, answer.dst) == (source, sent.src), answer.summary()
    quotes(answer, sent, reason != "ttl")
    return answer


def quotes(answer, sent, hopped):
    """The ICMP error quotes the dropped packet, up to the length limit; checksums are right."""
    whole = raw(answer)
    want = (IPv6 if sent.version == 6 else IP)(raw(sent))
    if sent.version == 6:
        want.hlim -= hopped
        want = raw(want)[:1280 - 48]
        assert in6_chksum(58, IPv6(whole[:40]), whole[40:]) == 0, "ICMPv6 checksum"
        assert whole[48:] == want
        return
    want.ttl -= hopped
    del want.chksum
    assert whole[28:] == raw(want)[:576 - 28]
    again = IP(whole)
    del again.chksum, again[ICMP].chksum
    assert raw(again) == whole, "checksums"


OUTER = {"4": False, "6": True}


@cases(*OUTER)
def test_inside_too_big(bench, case):
    """Longer than the LAN's MTU, with DF."""
    with narrow_lan(bench):
        out, inb = tunnel(bench, OUTER[case])
        for size in (1401, 1420):
            answer = error_from_tunnel(bench, out, inb, packet(FAR_HOST, HOST, size - 28, flags="DF"),
                                       "too-big", LAN)
            error = answer[ICMP]
            assert (error.type, error.code, error.nexthopmtu) == (3, 4, 1400), answer.summary()
            answer = error_from_tunnel(bench, out, inb, to_host(True, size=size - 48), "too-big", LAN6)
            assert answer[ICMPv6PacketTooBig].mtu == 1400
        # Without DF it is fragmented.
        bench.from_wan(inb.seal(packet(FAR_HOST, HOST, 1392)))
        bench.receive(bench.lan, 2)


@cases(*OUTER)
def test_inside_hops(bench, case):
    """The TTL has expired."""
    out, inb = tunnel(bench, OUTER[case])
    for hops in (0, 1):
        answer = error_from_tunnel(bench, out, inb, packet(FAR_HOST, HOST, ttl=hops), "ttl", LAN)
        assert (answer[ICMP].type, answer[ICMP].code) == (11, 0), answer.summary()
        answer = error_from_tunnel(bench, out, inb, to_host(True, hlim=hops), "ttl", LAN6)
        assert answer[ICMPv6TimeExceeded].code == 0


def test_inside_unreachable(bench):
    """There is no route to the destination."""
    with dead_end(bench, "10.1.0.99/32", "2001:db8:1::99/128"):
        out, inb = tunnel(bench, False)
        answer = error_from_tunnel(bench, out, inb, packet(FAR_HOST, "10.1.0.99"), "no-route", LAN)
        assert (answer[ICMP].type, answer[ICMP].code) == (3, 0), answer.summary()
        answer = error_from_tunnel(bench, out, inb, packet6(FAR_HOST6, "2001:db8:1::99"), "no-route", LAN6)
        assert answer[ICMPv6DestUnreach].code == 0


def test_inside_too_big_for_another(bench):
    """A hub: from one tunnel into another with more overhead."""
    everything, other = "10.0.0.0-10.255.255.255", "10.2.7.0-10.2.7.255"
    out, inb = Sa(SUITE["gcm128-8"], "out", bench.spi()), Sa(SUITE["gcm128-8"], "in", bench.spi())
    second = Sa(SUITE["cbc256-sha512"], "out", bench.spi(), v6=True, encap=True, reqid=2)
    bench.gateway.fill("flush", out.line(), inb.line(), second.line(),
                       policy("out", everything, FAR_NET, spi=out.spi),
                       policy("fwd", FAR_NET, everything, spi=inb.spi),
                       policy("out", everything, other, spi=second.spi, reqid=2, prio=900, v6=True))
    sent = packet(FAR_HOST, "10.2.7.1", 1300, flags="DF")
    bench.wan.drain()
    bench.from_wan(inb.seal(sent))
    inner, _ = second.unseal(bench.receive(bench.wan, 1)[0])
    assert inner.dst == "10.2.7.1"
    answer = error_from_tunnel(bench, out, inb, packet(FAR_HOST, "10.2.7.1", 1412, flags="DF"), "too-big", LAN)
    assert (answer[ICMP].type, answer[ICMP].code) == (3, 4), answer.summary()
    fits = answer[ICMP].nexthopmtu
    assert 1300 < fits < 1440, fits
    for size, back in ((fits, second), (fits + 1, out)):
        bench.from_wan(inb.seal(packet(FAR_HOST, "10.2.7.1", size - 28, flags="DF")))
        back.unseal(bench.receive(bench.wan, 1)[0])


PART = "10.1.0.128-10.1.0.255"


def part_tunnel(bench, local=PART, **more):
    """The gateway has no address in that part of the LAN."""
    out, inb = Sa(SUITE["gcm128"], "out", bench.spi()), Sa(SUITE["gcm128"], "in", bench.spi())
    bench.gateway.fill("flush", out.line(), inb.line(), policy("out", local, FAR_NET, spi=out.spi, **more),
                       policy("fwd", FAR_NET, local, spi=inb.spi))
    return out, inb


def expect_unprotected(bench, sent):
    """A dropped packet whose ICMP error no policy lets pass."""
    before = bench.gateway.drops()
    bench.from_wan(sent)
    for reason in ("ttl", "icmp-unprotected"):
        bench.wait_until_dropped(reason, before.get(reason, 0))
    bench.expect_nothing()
    delta = bench.drops_since(before)
    assert delta == {"ttl": 1, "icmp-unprotected": 1}, delta


def test_inside_without_an_address(bench):
    """No local address is in the tunnel's selectors: no error is sent, in particular not in plaintext."""
    _, inb = part_tunnel(bench)
    bench.lan.drain()
    bench.wan.drain()
    expect_unprotected(bench, inb.seal(packet(FAR_HOST, "10.1.0.200", ttl=1)))
    # A local address is in the selectors, but the policy excludes ICMP: no error is sent either.
    _, inb = part_tunnel(bench, LAN_NET, more="proto=17")
    expect_unprotected(bench, inb.seal(packet(FAR_HOST, HOST, ttl=1)))


@cases("lo", "wan")
def test_inside_address_elsewhere(bench, case):
    """The local address in the tunnel's selectors may be on any interface, and may be added and removed."""
    gw = bench.network.gw
    out, inb = part_tunnel(bench)
    sent = packet(FAR_HOST, "10.1.0.200", ttl=1)
    ip("-n", gw, "address", "add", "10.1.0.130/32", "dev", case)
    try:
        bench.gateway.hear()
        error_from_tunnel(bench, out, inb, sent, "ttl", "10.1.0.130")
    finally:
        ip("-n", gw, "address", "del", "10.1.0.130/32", "dev", case)
    bench.gateway.hear()
    expect_unprotected(bench, inb.seal(sent))


def test_inside_flood(bench):
    """Packets with TTL 1 from the wire by one port use up the errors about them, and neither those about packets that are too
    big for the tunnel, which hosts behind the other port need, nor those to the tunnel."""
    out, inb = tunnel(bench, False)
    expired = bench.frame(bench.wan, "wan", packet("198.18.0.1", HOST, ttl=1))
    large = bench.frame(bench.lan, "lan", packet(HOST, FAR_HOST, 1472, flags="DF"))
    small = bench.frame(bench.lan, "lan", packet(HOST, FAR_HOST))
    ended = [bench.frame(bench.wan, "wan", inb.seal(packet(FAR_HOST, HOST, ttl=1))) for _ in range(10)]
    before = bench.gateway.drops()
    bench.lan.drain()
    bench.wan.drain()
    with bench.gateway.paused():
        for frame in [expired] * 300 + ended:
            bench.wan.send(frame)
        # A burst is 64 frames of each port in turn: these are behind 128 of the others.
        for frame in [small] * 128 + [large] * 40:
            bench.lan.send(frame)
    bench.wait_until_dropped("too-big", before.get("too-big", 0), 40)
    bench.wait_until_dropped("ttl", before.get("ttl", 0), 310)
    answers = [answer for answer in bench.packets(bench.lan, QUIET) if ICMP in answer]
    assert len(answers) == 40, f"{len(answers)} of 40 hosts are told"
    inner = [out.unseal(got)[0] for got in bench.packets(bench.wan, QUIET) if ESP in got]
    assert sum(ICMP in got for got in inner) == 10, "the tunnel's errors"
