# SPDX-License-Identifier: GPL-2.0-or-later
"""AH (RFC 4302) in both modes and families, with Scapy as the peer."""
import random
import socket

from scapy.layers.inet import ICMP, IP, UDP, in4_chksum
from scapy.layers.inet6 import (HBHOptUnknown, ICMPv6PacketTooBig, IPv6, IPv6ExtHdrDestOpt,
                                IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, in6_chksum)
from scapy.packet import Raw, raw
from scapy.utils import checksum

from bench import packet, policy, same_but_hop
from gateway import (FAR_HOST, FAR_NET, FAR_NET6, HOST, LAN_NET, LAN_NET6, PEER, PEER6, WAN, WAN6)
from peer import SUITE, Sa
from peer_ah import AUTHS, AhSa
from test_esp import cases
from test_fragments import LONG, mixed, pieces, whole
from test_fragments6 import pieces as pieces6
from test_ipv6 import set_mtu
from test_path_mtu import expect_refused, say, too_big
from test_tunnel6 import to_far, to_host, together

SIZES = (0, 1, 2, 3, 100, 1300)
ROUTER_ALERT = b"\x94\x04\0\0"              # immutable (RFC 4302, appendix A1)
RECORD = b"\x07\x07\x04" + bytes(4)         # record route: mutable
RECORDED = b"\x07\x07\x08\x0a\0\0\x09"
ROUTED = b"\x83\x07\x08\xc0\0\x02\x02"      # a finished source route, and an unfinished one
ROUTE = b"\x83\x07\x04\xc0\0\x02\x02"


def ah_tunnel(bench, auth="sha256", v6=False, out_more="", **options):
    """One SA pair that carries both families. @return outbound and inbound SA"""
    out = AhSa(auth, "out", bench.spi(), v6=v6, esn=options.get("esn", False), more=out_more)
    inb = AhSa(auth, "in", bench.spi(), v6=v6, **options)
    bench.gateway.fill("flush", out.line(), inb.line(), *(
        policy(direction, *nets, spi=sa.spi, v6=v6, more="ipsec=ah")
        for here, there in ((LAN_NET, FAR_NET), (LAN_NET6, FAR_NET6))
        for direction, nets, sa in (("out", (here, there), out), ("in", (there, here), inb),
                                    ("fwd", (there, here), inb))))
    return out, inb


def ah_hosts(bench, auth="sha256", v6=False, **options):
    """Transport mode between the two gateways. @return outbound and inbound SA"""
    out = AhSa(auth, "out", bench.spi(), transport=True, v6=v6, **options)
    inb = AhSa(auth, "in", bench.spi(), transport=True, v6=v6, **options)
    ours, theirs = (f"{WAN6}-{WAN6}", f"{PEER6}-{PEER6}") if v6 else (f"{WAN}-{WAN}", f"{PEER}-{PEER}")
    more = "mode=transport ipsec=ah"
    bench.gateway.fill("flush", out.line(), inb.line(),
                       policy("out", ours, theirs, spi=out.spi, more=more, v6=v6),
                       policy("in", theirs, ours, spi=inb.spi, more=more, v6=v6))
    return out, inb


def from_peer(data, v6=False, **fields):
    header = IPv6(src=PEER6, dst=WAN6, **fields) if v6 else IP(src=PEER, dst=WAN, **fields)
    return type(header)(raw(header / UDP(sport=8888, dport=7777) / Raw(data)))


def taken(bench, inb, sealed, sent):
    bench.lan.drain()
    bench.from_wan(sealed)
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def flows(bench, out, inb, sizes=(100,)):
    """Packets of both families pass in both directions."""
    for inner6 in (False, True):
        for size in sizes:
            bench.wan.drain()
            sent = to_far(inner6, size=size)
            bench.from_lan(sent)
            same_but_hop(out.unseal(bench.receive(bench.wan, 1)[0])[0], sent)
            sent = to_host(inner6, size=size)
            taken(bench, inb, inb.seal(sent), sent)


@cases(*(f"{auth}-{outer}" for auth in AUTHS for outer in "46"))
def test_ah_tunnel(bench, case):
    """Every algorithm, with each inner family in each outer family."""
    auth, outer = case.split("-")
    flows(bench, *ah_tunnel(bench, auth, outer == "6"), SIZES)


@cases("sha256-4", "gmac256-4", "xcbc-6", "gmac128-6")
def test_ah_long(bench, case):
    """ESN and fragments: a packet is reassembled before AH is verified."""
    auth, outer = case.split("-")
    _, inb = ah_tunnel(bench, auth, outer == "6")
    sent = to_host(False, size=LONG, id=5)
    cut = pieces6(inb.seal(sent), 1500) if outer == "6" else pieces(inb.seal(sent))
    bench.lan.drain()
    bench.from_wan(*mixed(cut))
    same_but_hop(whole(bench.receive(bench.lan, len(pieces(sent)))), sent)


@cases("sha256-4", "gmac256-6")
def test_ah_esn(bench, case):
    """ESN: the high half of the sequence number is authenticated and not sent, also after the low half has wrapped."""
    auth, outer = case.split("-")
    out, inb = ah_tunnel(bench, auth, outer == "6", esn=True)
    for seq in (1, 0xfffffffe, 0xffffffff, 1 << 32, (1 << 32) + 1):
        sent = to_host(False, id=seq & 0xffff)
        taken(bench, inb, inb.seal(sent, seq=seq), sent)
    with bench.dropped("replay"):
        bench.from_wan(inb.seal(to_host(False), seq=0xffffffff))
    with bench.dropped("auth-failed"):
        bench.from_wan(inb.seal(to_host(False), seq=5))  # means 2^32 + 5
    bench.wan.drain()
    for number in (1, 2):
        sent = to_far(False)
        bench.from_lan(sent)
        inner, ah = out.unseal(bench.receive(bench.wan, 1)[0], high=0)
        assert ah.seq == number
        same_but_hop(inner, sent)


@cases(0, 64, 4096)
def test_ah_window(bench, case):
    _, inb = ah_tunnel(bench, window=case)
    top = 10000
    sent = to_host(False)
    taken(bench, inb, inb.seal(sent, seq=top), sent)
    if not case:
        taken(bench, inb, inb.seal(sent, seq=top), sent)
        return
    taken(bench, inb, inb.seal(sent, seq=top - case + 1), sent)
    with bench.dropped("replay", 3):
        for seq in (top, top - case, top - case + 1):
            bench.from_wan(inb.seal(sent, seq=seq))


@cases("4", "6")
def test_ah_changed_on_the_way(bench, case):
    """Changed mutable fields are accepted, changed immutable fields are detected."""
    v6 = case == "6"
    out, inb = ah_tunnel(bench, v6=v6)
    changes = ({"tc": 0xb8, "fl": 0x12345, "hlim": 3} if v6 else
               {"tos": 0xb8, "ttl": 3, "flags": "DF"}).items()
    for field, value in changes:
        sent = to_host(False)
        sealed = inb.seal(sent)
        setattr(sealed, field, value)
        if not v6:
            del sealed.chksum
        taken(bench, inb, sealed, sent)
    forged = [("src", "2001:db8:f::77" if v6 else "192.0.2.77")] + ([] if v6 else [("id", 4711)])
    for field, value in forged:
        with bench.dropped("auth-failed"):
            sealed = inb.seal(to_host(False), id=1) if not v6 else inb.seal(to_host(False))
            setattr(sealed, field, value)
            if not v6:
                del sealed.chksum
            bench.from_wan(sealed)
    flows(bench, out, inb)


@cases("4", "6")
def test_ah_damaged(bench, case):
    """A packet whose ICV, header, text, number or padding was changed is dropped; so is one that is too short."""
    v6 = case == "6"
    out, inb = ah_tunnel(bench, "sha512", v6)
    good, front = raw(inb.seal(to_host(False), seq=500)), 40 if v6 else 20
    with bench.dropped("auth-failed", 6):
        for at in (front, front + 2, front + 11, front + 12, front + 43, len(good) - 1):
            bench.from_wan(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
    bench.lan.drain()
    bench.from_wan(good)
    bench.receive(bench.lan, 1)
    with bench.dropped("replay"):
        bench.from_wan(good)
    with bench.dropped("bad-spi"):
        bench.from_wan(good[:front + 4] + b"\x77" + good[front + 5:])
    good = raw(inb.seal(to_host(False), seq=600))
    with bench.dropped("ah-length", 4):
        for words in (0, 1, good[front + 1] - 1, 255):
            bench.from_wan(good[:front + 1] + bytes([words]) + good[front + 2:])
    with bench.dropped("ah-truncated", 3):
        for size in (0, 11, 43):
            bench.from_wan(cut(good, front + size))
    inb.seq = 500
    flows(bench, out, inb)


def cut(whole, size):
    """The start of a packet, with its length field set to that size."""
    if whole[0] >> 4 == 6:
        return whole[:4] + (size - 40).to_bytes(2, "big") + whole[6:size]
    short = IP(whole[:20])
    short.len, short.chksum = size, None
    return raw(short) + whole[20:size]


def test_ah_reserved(bench):
    """AH's reserved field is authenticated and otherwise ignored (RFC 4302, 2.3); so is the padding of a
    peer that aligns AH in IPv4 as in IPv6."""
    _, inb = ah_tunnel(bench, "sha256")

    def reserve(ah):
        ah.reserved = 0xabcd

    for options in ({"alter": reserve}, {"unit": 8}):
        sent = to_host(False)
        taken(bench, inb, inb.seal(sent, **options), sent)


def test_ah_next_header(bench):
    """In tunnel mode the inner packet's version is the one that AH's next header names."""
    out, inb = ah_tunnel(bench)

    def say(number):
        def alter(ah):
            ah.nh = number
        return alter

    with bench.dropped("ah-next-header", 2):
        for number in (17, 59):
            bench.from_wan(inb.seal(to_host(False), alter=say(number)))
    with bench.dropped("malformed"):
        bench.from_wan(inb.seal(to_host(False), alter=say(41)))
    flows(bench, out, inb)


def test_ah_policies(bench):
    """A decrypted packet has to match its SA's policies, which say AH (RFC 4301, 5.2)."""
    out, inb = ah_tunnel(bench)
    with bench.dropped("policy-inbound", 2):
        bench.from_wan(inb.seal(packet("10.9.0.1", HOST)))
        bench.from_wan(inb.seal(packet(FAR_HOST, "10.9.0.1")))
    with bench.dropped("policy-plaintext"):
        bench.from_wan(to_host(False))
    # The same SPI with ESP.
    with bench.dropped("bad-spi"):
        bench.from_wan(Sa(SUITE["gcm128"], "in", inb.spi).seal(to_host(False)))
    esp = Sa(SUITE["gcm128"], "in", bench.spi())
    bench.gateway.fill(esp.line())
    with bench.dropped("policy-inbound"):
        bench.from_wan(esp.seal(to_host(False)))
    flows(bench, out, inb)


def test_ah_in_udp(bench):
    """AH in UDP does not exist (RFC 3947, 1): an SA with both is not used."""
    ah_tunnel(bench, out_more="encap=4500-4501")
    with bench.dropped("unsupported"):
        bench.from_lan(to_far(False))


@cases("4", "6")
def test_ah_received_fragments(bench, case):
    """Fragments are reassembled before AH is verified (RFC 4302, 3.4.1)."""
    v6 = case == "6"
    out, inb = ah_tunnel(bench, v6=v6)
    sent = to_host(False, size=1200)
    whole = raw(inb.seal(sent, **({} if v6 else {"id": 99})))
    bench.lan.drain()
    front = 40 if v6 else 20
    for at in (800, 0):
        part = whole[front + at:][:800]
        if v6:
            bench.from_wan(IPv6(src=inb.src, dst=inb.dst) / IPv6ExtHdrFragment(
                nh=51, offset=at // 8, m=at == 0, id=77) / Raw(part))
        else:
            bench.from_wan(IP(src=inb.src, dst=inb.dst, proto=51, id=99, frag=at // 8,
                              flags="MF" if at == 0 else 0) / Raw(part))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    flows(bench, out, inb)


def test_ah_atomic_fragment(bench):
    """An atomic fragment is dropped: its fragment header was not signed."""
    out, inb = ah_tunnel(bench, v6=True)
    whole = raw(inb.seal(to_host(False)))
    with bench.dropped("ah-headers"):
        bench.from_wan(IPv6(src=inb.src, dst=inb.dst) / IPv6ExtHdrFragment(nh=51, id=7) / Raw(whole[40:]))
    flows(bench, out, inb)


@cases("sha1-4", "sha256-4", "sha512-6", "gmac128-6")
def test_ah_too_big(bench, case):
    """The source receives the path MTU, and a packet of that size fills the MTU to the byte. Packets
    without DF are fragmented."""
    auth, outer = case.split("-")
    out, _ = ah_tunnel(bench, auth, outer == "6")
    for inner6 in (False, True):
        bench.lan.drain()
        fields = {} if inner6 else {"flags": "DF"}
        bench.from_lan(to_far(inner6, size=1452, **fields))
        answer = bench.receive(bench.lan, 1)[0]
        mtu = answer[ICMPv6PacketTooBig].mtu if inner6 else answer[ICMP].nexthopmtu
        bench.wan.drain()
        sent = to_far(inner6, size=mtu - (48 if inner6 else 28), **fields)
        bench.from_lan(sent)
        got = bench.receive(bench.wan, 1)[0]
        assert len(raw(got)) == 1500, len(raw(got))
        same_but_hop(out.unseal(got)[0], sent)
    sent = to_far(False, size=1472)
    bench.wan.drain()
    bench.from_lan(sent)
    parts = [out.unseal(got)[0] for got in bench.receive(bench.wan, 2)]
    assert b"".join(raw(part.payload) for part in parts) == raw(sent.payload)


@cases(*(f"{auth}-{family}" for auth in ("md5", "sha1", "sha384", "xcbc", "gmac128") for family in "46"))
def test_ah_transport(bench, case):
    auth, family = case.split("-")
    v6 = family == "6"
    out, inb = ah_hosts(bench, auth, v6)
    peer, sum_of = (PEER6, in6_chksum) if v6 else (PEER, in4_chksum)
    bench.wan.drain()
    with bench.listen(address=WAN6 if v6 else WAN) as sock:
        for number, size in enumerate(SIZES, 1):
            data = (bytes(range(256)) * 6)[:size]
            bench.from_wan(inb.seal(from_peer(data, v6)))
            got, sender = sock.recvfrom(2000)
            assert (got, sender[:2]) == (data, (peer, 8888)), f"{size} bytes in"
            sock.sendto(data, (peer, 8888))
            got = bench.receive(bench.wan, 1)[0]
            payload, ah = out.unseal(got)
            assert (ah.nh, ah.seq, payload[8:]) == (17, number, data), f"{size} bytes out"
            assert (got.hlim if v6 else got.ttl) == 64
            assert sum_of(17, type(got)(src=got.src, dst=got.dst), payload) == 0
    bench.expect_usage(len(SIZES), sum(SIZES) + 8 * len(SIZES), out, inb)  # as Linux: without the IP header


def test_ah_options(bench):
    """IPv4: immutable options are authenticated, mutable ones are not; all arrive."""
    out, inb = ah_hosts(bench)
    with bench.listen() as sock:
        bench.wan.drain()
        sock.setsockopt(socket.IPPROTO_IP, 4, ROUTER_ALERT + RECORD + b"\x01")  # IP_OPTIONS
        sock.sendto(b"options", (PEER, 8888))
        got = bench.receive(bench.wan, 1)[0]
        assert got.ihl == 8 and raw(got)[20:24] == ROUTER_ALERT, got.summary()
        assert out.unseal(got)[0][8:] == b"options"
        for options in (ROUTER_ALERT, RECORD + b"\0", b"\x01" + RECORD):
            bench.from_wan(inb.seal(from_peer(b"in", options=parsed(options))))
            assert sock.recvfrom(2000)[0] == b"in", options
        sealed = raw(inb.seal(from_peer(b"on the way", options=parsed(RECORD + b"\0"))))
        bench.from_wan(with_options(sealed, RECORDED + b"\0"))
        assert sock.recvfrom(2000)[0] == b"on the way"
        sealed = raw(inb.seal(from_peer(b"forged", options=parsed(ROUTER_ALERT))))
        with bench.dropped("auth-failed"):
            bench.from_wan(with_options(sealed, ROUTER_ALERT[:3] + b"\x01"))
        sealed = raw(inb.seal(from_peer(b"bad", options=parsed(RECORD + b"\0"))))
        with bench.dropped("ah-headers", 3):
            for options in (ROUTE + b"\0", b"\x07\x09\x04" + bytes(5), b"\x07\x01\x04" + bytes(5)):
                bench.from_wan(with_options(sealed, options))
        dice = random.Random(4)
        for _ in range(200):
            start = dice.choice((b"", b"\x01", ROUTER_ALERT, ROUTE[:3]))
            bench.from_wan(with_options(sealed, start + dice.randbytes(8 - len(start))))
        bench.from_wan(inb.seal(from_peer(b"still there"), seq=1000))
        while (got := sock.recvfrom(2000)[0]) != b"still there":
            assert got == b"bad", got  # the received options did not matter


def test_ah_route_at_its_end(bench):
    """A packet with an unfinished source route is dropped. The ICV covers a finished route as zeros (RFC 4302, A1)."""
    out, inb = ah_tunnel(bench)
    sent = to_host(False)
    taken(bench, inb, inb.seal(sent, options=parsed(ROUTED + b"\0")), sent)
    with bench.dropped("ah-headers"):
        bench.from_wan(inb.seal(sent, options=parsed(ROUTE + b"\0")))
    flows(bench, out, inb)


def parsed(options):
    """Options as Scapy parses them, one by one."""
    return IP(raw(IP(options=options))).options


def with_options(whole, options):
    """A packet whose options a router has changed."""
    header = bytearray(whole[:20] + options)
    header[10:12] = bytes(2)
    header[10:12] = checksum(bytes(header)).to_bytes(2, "big")
    return bytes(header) + whole[len(header):]


def test_ah_extensions(bench):
    """IPv6: mutable options may change, all else in front of AH may not. AH stands behind the headers that
    routers read."""
    out, inb = ah_hosts(bench, v6=True)
    hop = IPv6ExtHdrHopByHop(options=[HBHOptUnknown(otype=0x3e, optdata=b"abcd")])
    stays = IPv6ExtHdrDestOpt(options=[HBHOptUnknown(otype=0x1e, optdata=b"efgh")])
    routing = IPv6ExtHdrRouting(type=253, segleft=0, addresses=[])

    def sealed(*front):
        inner = from_peer(b"extensions", True)
        header = IPv6(src=PEER6, dst=WAN6)
        for extension in front:
            header = header / extension.copy()
        return raw(inb.seal(IPv6(raw(header / inner.payload))))

    with bench.listen(address=WAN6) as sock:
        for front in ((hop,), (stays,), (hop, stays), (hop, stays, routing)):
            bench.from_wan(sealed(*front))
            assert sock.recvfrom(2000)[0] == b"extensions", front
        bench.from_wan(sealed(hop).replace(b"abcd", b"ABCD"))
        assert sock.recvfrom(2000)[0] == b"extensions"
        with bench.dropped("auth-failed", 2):
            bench.from_wan(sealed(stays).replace(b"efgh", b"EFGH"))
            bench.from_wan(sealed(hop).replace(b"\x3e\x04abcd", b"\x3f\x04abcd"))
        with bench.dropped("ah-headers"):
            bench.from_wan(sealed(stays).replace(b"\x1e\x04efgh", b"\x1e\x09efgh"))
        dice = random.Random(6)
        good = sealed(stays)
        for _ in range(200):
            bench.from_wan(good.replace(b"\x1e\x04efgh", dice.randbytes(6)))
        bench.from_wan(inb.seal(from_peer(b"still there", True), seq=1000))
        assert sock.recvfrom(2000)[0] == b"still there"
        bench.wan.drain()
        sock.setsockopt(socket.IPPROTO_IPV6, 54, bytes([0, 0, 0x3e, 4]) + b"abcd")  # IPV6_HOPOPTS
        sock.setsockopt(socket.IPPROTO_IPV6, 59, bytes([0, 0, 0x3e, 4]) + b"efgh")  # IPV6_DSTOPTS
        sock.sendto(b"between", (PEER6, 8888))
        got = bench.receive(bench.wan, 1)[0]
        assert got.nh == 0 and raw(got)[40] == 51 and raw(got)[44:48] == b"abcd", got.summary()
        payload, ah = out.unseal(got)
        assert ah.nh == 60 and payload[4:8] == b"efgh" and payload[16:] == b"between"


def test_ah_cut_afterwards(bench):
    """Transport mode: AH covers the whole packet, which is fragmented afterwards if it may be."""
    out, _ = ah_hosts(bench)
    with bench.listen() as sock:
        bench.wan.drain()
        sock.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_MTU_DISCOVER: IP_PMTUDISC_DONT
        sock.sendto(b"z" * 1472, (PEER, 8888))
        first, second = bench.receive(bench.wan, 2)
        whole = IP(raw(IP(src=first.src, dst=first.dst, id=first.id, proto=51) /
                       Raw(raw(first.payload) + raw(second.payload))))
        assert out.unseal(whole)[0][8:] == b"z" * 1472


@cases("4", "6")
def test_ah_path_mtu(bench, case):
    """A router has reported its MTU."""
    out, _ = ah_tunnel(bench, "sha1", case == "6")
    bench.wan.drain()
    bench.from_lan(to_far(False, size=1400, flags="DF"))
    say(bench, too_big(bench.receive(bench.wan, 1)[0], 1300))
    expect_refused(bench, to_far(False, size=1400, flags="DF"), 1300 - len(raw(out.outer())) - 24)


def test_ah_minimum_mtu(bench):
    """A packet of the minimum IPv6 MTU is not refused: its AH packet is fragmented."""
    out, _ = ah_tunnel(bench, v6=True)
    set_mtu(bench, 1300)
    try:
        bench.wan.drain()
        sent = to_far(True, size=1280 - 48)
        bench.from_lan(sent)
        same_but_hop(out.unseal(together(bench.receive(bench.wan, 2)))[0], sent)
    finally:
        set_mtu(bench, 1500)


@cases("4", "6")
def test_ah_fuzz(bench, case):
    """Hundreds of damaged AH packets: none comes out, the SA still works."""
    v6 = case == "6"
    out, inb = ah_tunnel(bench, v6=v6)
    front = 40 if v6 else 20
    dice = random.Random(51)
    good = raw(inb.seal(to_host(False), seq=1000))
    bench.lan.drain()
    for _ in range(300):
        bad = bytearray(cut(good, dice.randrange(front + 1, len(good) + 1)))
        for _ in range(dice.randrange(1, 4)):
            bad[dice.randrange(front, len(bad))] ^= dice.randrange(1, 256)
        bench.from_wan(bytes(bad))
    inb.seq = 1000
    sent = to_host(False)
    bench.from_wan(inb.seal(sent))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    flows(bench, out, inb)


def test_ah_not_around_esp(bench):
    """No nested SAs (RFC 4301 removed them): a protected packet is not looked up in the SPD again, and AH
    inside AH of the same two hosts is not verified again."""
    out, inb = bench.tunnel()
    around = AhSa("sha256", "out", bench.spi(), transport=True)
    within = AhSa("sha256", "in", bench.spi(), transport=True)
    more = "mode=transport ipsec=ah proto=50"
    bench.gateway.fill(around.line(), within.line(),
                       policy("out", f"{WAN}-{WAN}", f"{PEER}-{PEER}", spi=around.spi, more=more),
                       policy("in", f"{PEER}-{PEER}", f"{WAN}-{WAN}", spi=within.spi, more=more))
    bench.expect_flow(out, inb)
    bench.lan.drain()
    bench.from_wan(within.seal(inb.seal(to_host(False))))
    bench.expect_nothing(bench.lan)
    bench.expect_flow(out, inb)
