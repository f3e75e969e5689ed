# SPDX-License-Identifier: GPL-2.0-or-later
"""IPv6 in plaintext: routing, ICMPv6, and policies that extension headers cannot evade."""
import random

from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (HBHOptUnknown, ICMPv6DestUnreach, ICMPv6EchoRequest, ICMPv6ND_NA,
                                ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6PacketTooBig,
                                ICMPv6TimeExceeded, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                                IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, in6_chksum)
from scapy.layers.l2 import Ether
from scapy.packet import Raw, raw

from bench import QUIET, ike, policy, same_but_hop
from gateway import FAR_HOST6, FAR_NET6, HOST6, LAN6, LAN_NET6, PEER6, WAN6
from network import PATIENCE, Limit, ip
from test_esp import cases
from test_frames import Tap, from_gateway, to_gateway

EVERYWHERE = "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
HERE, THERE = "2001:db8:1::77", "2001:db8:2::77"


def packet6(src=HOST6, dst=FAR_HOST6, size=100, hlim=64, sport=1111, dport=2222, extensions=None,
            **fields):
    packet = IPv6(src=src, dst=dst, hlim=hlim, **fields)
    if extensions is not None:
        packet /= extensions
    data = (f"{src}>{dst} ".encode() * (1 + size // 10))[:size]
    return IPv6(raw(packet / UDP(sport=sport, dport=dport) / Raw(data)))


def test_plain6_forwarding(bench):
    """Only the hop limit changes; traffic class and flow label stay."""
    bench.gateway.fill("flush")
    for hlim in (2, 64, 255):
        bench.wan.drain()
        bench.lan.drain()
        sent = packet6(hlim=hlim, tc=0xb9, fl=0x12345)
        bench.from_lan(sent)
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)
        sent = packet6(FAR_HOST6, HOST6, hlim=hlim)
        bench.from_wan(sent)
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def error_to_host(bench, sent, kind, reason, source=LAN6):
    """The gateway drops a host's packet, and sends an ICMPv6 error."""
    before = bench.gateway.drops().get(reason, 0)
    bench.lan.drain()
    bench.wan.drain()
    bench.from_lan(sent)
    answer = bench.receive(bench.lan, 1)[0]
    bench.expect_nothing(bench.wan)
    assert (answer.src, answer.dst) == (source, sent.src), answer.summary()
    assert kind in answer, answer.summary()
    whole = raw(answer)
    assert in6_chksum(58, IPv6(whole[:40]), whole[40:]) == 0, "ICMPv6 checksum"
    assert len(whole) == min(1280, 48 + len(raw(sent))), len(whole)
    quoted = bytearray(raw(sent))
    quoted[7] -= reason != "ttl"
    assert whole[48:] == quoted[:len(whole) - 48]
    assert bench.gateway.drops().get(reason, 0) == before + 1
    return answer


def test_hop_limit_expiry6(bench):
    bench.gateway.fill("flush")
    for hlim in (0, 1):
        answer = error_to_host(bench, packet6(hlim=hlim), ICMPv6TimeExceeded, "ttl")
        assert answer[ICMPv6TimeExceeded].code == 0


def test_no_route6(bench):
    bench.gateway.fill("flush")
    answer = error_to_host(bench, packet6(dst="2001:db8:99::1"), ICMPv6DestUnreach, "no-route")
    assert answer[ICMPv6DestUnreach].code == 0


def test_too_big6(bench):
    """Routers do not fragment IPv6; the source receives the MTU."""
    bench.gateway.fill("flush")
    set_mtu(bench, 1400)
    try:
        answer = error_to_host(bench, packet6(size=1353), ICMPv6PacketTooBig, "too-big")
        assert answer[ICMPv6PacketTooBig].mtu == 1400
        sent = packet6(size=1352)
        bench.from_lan(sent)
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)
    finally:
        set_mtu(bench, 1500)


def set_mtu(bench, mtu):
    ip("-n", bench.network.gw, "link", "set", "wan", "mtu", str(mtu))
    bench.gateway.hear()


def test_no_error_about_errors6(bench):
    """No error to an invalid source (RFC 4443, 2.4)."""
    bench.gateway.fill("flush")
    quoted = raw(packet6(FAR_HOST6, HOST6))
    with bench.dropped("ttl", 2):
        for kind in (ICMPv6DestUnreach, ICMPv6PacketTooBig):
            bench.from_lan(IPv6(src=HOST6, dst=FAR_HOST6, hlim=1) / kind() / quoted)


def test_policies6(bench):
    """Packets that a policy protects neither enter nor leave in plaintext."""
    bench.gateway.fill("flush", policy("out", LAN_NET6, FAR_NET6), policy("in", FAR_NET6, LAN_NET6),
                       policy("fwd", FAR_NET6, LAN_NET6))
    with bench.dropped("policy-plaintext", 2):
        bench.from_wan(packet6(FAR_HOST6, HOST6))
        bench.from_wan(packet6(FAR_HOST6, LAN6))
    sent = packet6(dst="2001:db8:2:1::1")
    bench.from_lan(sent)
    same_but_hop(bench.receive(bench.wan, 1)[0], sent)
    with bench.waiting():
        bench.from_lan(packet6())


def discard_port(bench, port=7):
    """UDP packets to one port are dropped, all others pass."""
    bench.gateway.fill("flush", policy("out", LAN_NET6, FAR_NET6, "discard", more=f"proto=17 dport={port}-{port}"))


EXTENSIONS = {
    "none": None,
    "hop-by-hop": IPv6ExtHdrHopByHop(),
    "options": IPv6ExtHdrDestOpt(),
    "options-twice": IPv6ExtHdrDestOpt() / IPv6ExtHdrDestOpt(),
    "routing": IPv6ExtHdrRouting(type=4, segleft=0, addresses=[THERE]),
    "all": (IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / IPv6ExtHdrRouting(type=4, segleft=0) /
            IPv6ExtHdrDestOpt()),
    "atomic": IPv6ExtHdrFragment(offset=0, m=0, id=7),
    "atomic-options": IPv6ExtHdrFragment(offset=0, m=0, id=7) / IPv6ExtHdrDestOpt(),
    "long": IPv6ExtHdrDestOpt(options=[HBHOptUnknown(otype=30, optdata=bytes(240))]),
}


@cases(*EXTENSIONS)
def test_ports_behind_extensions6(bench, case):
    discard_port(bench)
    bench.wan.drain()
    for port in (6, 8):
        sent = packet6(dport=port, extensions=EXTENSIONS[case])
        bench.from_lan(sent)
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)
    with bench.dropped("policy-discard"):
        bench.from_lan(packet6(dport=7, extensions=EXTENSIONS[case]))


ODD = {
    "hop-by-hop-later": IPv6ExtHdrDestOpt() / IPv6ExtHdrHopByHop(),
    "hop-by-hop-twice": IPv6ExtHdrHopByHop() / IPv6ExtHdrHopByHop(),
    "options-thrice": IPv6ExtHdrDestOpt() / IPv6ExtHdrDestOpt() / IPv6ExtHdrDestOpt(),
    "routing-twice": IPv6ExtHdrRouting(type=4, segleft=0) / IPv6ExtHdrRouting(type=4, segleft=0),
    "source-route": IPv6ExtHdrRouting(type=0, addresses=[THERE]),
    "segments-left": IPv6ExtHdrRouting(type=4, segleft=1, addresses=[THERE]),
    "fragment-twice": IPv6ExtHdrFragment(m=0) / IPv6ExtHdrFragment(m=0),
    "fragment-options": IPv6ExtHdrFragment(m=1) / IPv6ExtHdrDestOpt(),
    "later-fragment-options": IPv6ExtHdrFragment(offset=20) / IPv6ExtHdrDestOpt(),
}


@cases(*ODD)
def test_odd_extensions6(bench, case):
    """Packets that are dropped whatever the policies are."""
    bench.gateway.fill("flush")
    with bench.dropped("ipv6-headers", 2):
        bench.from_lan(packet6(extensions=ODD[case]))
        bench.from_wan(packet6(FAR_HOST6, LAN6, extensions=ODD[case]))


def test_malformed6(bench):
    bench.gateway.fill("flush")
    good = raw(packet6())
    faults = [good[:20], good[:39], good[:100], b"\x45" + good[1:], b"\x70" + good[1:],
              good[:4] + b"\x05\xdc" + good[6:]]
    with bench.dropped("malformed", 2 * len(faults)):
        for fault in faults:
            for port, device in ((bench.lan, "lan"), (bench.wan, "wan")):
                port.send(to_gateway(bench, device, b"\x86\xdd" + fault))


def test_version_and_type6(bench):
    """The frame's family differs from the packet's."""
    bench.gateway.fill("flush")
    with bench.dropped("malformed", 2):
        bench.lan.send(to_gateway(bench, "lan", b"\x08\x00" + raw(packet6())))
        bench.wan.send(to_gateway(bench, "wan", b"\x08\x00" + raw(packet6(FAR_HOST6, HOST6))))


def test_fragments6(bench):
    """A later fragment has no ports: under policies with ports it does not pass alone."""
    later = IPv6(src=HOST6, dst=FAR_HOST6) / IPv6ExtHdrFragment(nh=17, offset=20, id=9) / Raw(bytes(64))
    bench.gateway.fill("flush")
    sent = IPv6(raw(later))
    bench.wan.drain()
    bench.from_lan(sent)
    same_but_hop(bench.receive(bench.wan, 1)[0], sent)
    discard_port(bench)
    with bench.dropped("reassembly"):
        bench.from_lan(later)


def test_fragments_hide_protocol6(bench):
    """The next header of a later fragment is not trusted (RFC 8200, 4.5): the fragment does not pass by a
    policy for another protocol, but waits for the first one."""
    bench.gateway.fill("flush", *(policy(direction, EVERYWHERE, EVERYWHERE, "discard", more="proto=6")
                                  for direction in ("out", "fwd")))
    bench.from_lan(packet6())
    bench.receive(bench.wan, 1)
    with bench.dropped("reassembly", 4):
        for protocol in (59, 253, 50, 17):
            bench.from_lan(IPv6(src=HOST6, dst=FAR_HOST6) / IPv6ExtHdrFragment(
                nh=protocol, offset=20, id=protocol) / Raw(bytes(64)))


def test_icmp6_types(bench):
    """Ports of a policy are ICMPv6's type and code."""
    bench.gateway.fill("flush", policy("out", LAN_NET6, FAR_NET6, "discard", more="proto=58 sport=128-128"))
    with bench.dropped("policy-discard"):
        bench.from_lan(IPv6(src=HOST6, dst=FAR_HOST6) / ICMPv6EchoRequest())
    sent = IPv6(raw(IPv6(src=HOST6, dst=FAR_HOST6) / ICMPv6EchoRequest(type=129)))
    bench.from_lan(sent)
    same_but_hop(bench.receive(bench.wan, 1)[0], sent)


def test_martians6(bench):
    bench.gateway.fill("flush")
    sources = ("::", "::1", "::ffff:10.0.0.1", "ff02::5", "fe80::1", LAN6, WAN6)
    with bench.dropped("martian", len(sources) + 1):
        for source in sources:
            bench.from_lan(packet6(src=source))
        bench.from_lan(packet6(dst="::ffff:10.2.0.10"))


def test_forwarding_off6(bench):
    bench.gateway.fill("flush")

    def switch(value):
        bench.gateway.in_gw("sysctl", "-q", "-w", f"net.ipv6.conf.all.forwarding={value}")
        bench.gateway.hear()

    try:
        switch(0)
        with bench.dropped("forwarding"):
            bench.from_lan(packet6())
    finally:
        switch(1)
    bench.from_lan(packet6())
    bench.receive(bench.wan, 1)


def solicitation(bench, target, src=HOST6, hlim=255):
    return IPv6(src=src, dst=LAN6, hlim=hlim) / ICMPv6ND_NS(tgt=target) / ICMPv6NDOptDstLLAddr(
        lladdr=bench.lan.mac.hex(":"))


def protect_all(bench):
    bench.gateway.fill("flush", *(policy(direction, EVERYWHERE, EVERYWHERE) for direction in ("in", "out", "fwd")))


def test_discovery_past_policies6(bench):
    """Neighbour discovery works though all traffic is to be protected; nothing else passes."""
    protect_all(bench)
    frame = to_gateway(bench, "lan", b"\x86\xdd" + raw(solicitation(bench, LAN6)))
    with Tap(bench, "lan") as tap:
        bench.lan.send(frame)
        assert tap.got(frame), "the kernel did not get it"
        answer = from_gateway(bench, "lan", b"\x86\xdd" + raw(
            IPv6(src=LAN6, dst=HOST6, hlim=255) / ICMPv6ND_NA(tgt=LAN6)))
        tap.send(answer)
        assert answer in bench.lan.frames(PATIENCE), "it did not leave"
        with bench.dropped("policy-plaintext", 3):
            bench.from_lan(solicitation(bench, LAN6, hlim=254))
            bench.from_lan(IPv6(src="fe80::77", dst="ff02::1", hlim=255) / ICMPv6EchoRequest())
            bench.from_lan(packet6(dst="fe80::1"))
        with bench.waiting(2):
            tap.send(from_gateway(bench, "lan", b"\x86\xdd" + raw(packet6(src="fe80::1", dst="fe80::77"))))
            tap.send(from_gateway(bench, "lan", b"\x86\xdd" + raw(packet6(src=LAN6, dst="ff05::77"))))
    # Forwarded, the same packet is subject to policies.
    protect_all(bench)
    bench.wan.drain()
    with bench.dropped("policy-plaintext"):
        bench.from_lan(IPv6(src=HOST6, dst=FAR_HOST6, hlim=255) / ICMPv6ND_NS(tgt=FAR_HOST6))


def test_link_local_to_kernel6(bench):
    """Without a policy a packet from a link-local address goes to the kernel, and is never forwarded."""
    bench.gateway.fill("flush")
    for dst in ("fe80::77", "ff02::5", "ff05::1", LAN6):
        frame = to_gateway(bench, "lan", b"\x86\xdd" + raw(packet6(src="fe80::78", dst=dst)))
        with Tap(bench, "lan") as tap:
            bench.lan.send(frame)
            assert tap.got(frame), f"the kernel did not get what is to {dst}"
    bench.expect_nothing(bench.wan)


def test_neighbour_resolution6(bench):
    """The kernel solicits the neighbour; after the advertisement the queued packet leaves."""
    bench.gateway.fill("flush")
    unknown = f"2001:db8:f::{random.randrange(0x100, 0xffff):x}"
    bench.wan.drain()
    sent = packet6(dst=unknown)
    bench.from_lan(sent)
    limit = Limit(PATIENCE)
    while not limit.over():
        for frame in bench.wan.frames(QUIET):
            asked = Ether(frame)
            if ICMPv6ND_NS in asked and asked[ICMPv6ND_NS].tgt == unknown:
                bench.from_wan(IPv6(src=unknown, dst=asked[IPv6].src, hlim=255) / ICMPv6ND_NA(
                    tgt=unknown, R=0, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=bench.wan.mac.hex(":")))
            elif IPv6 in asked and asked[IPv6].dst == unknown:
                same_but_hop(asked[IPv6], sent)
                return
    raise AssertionError(f"it did not arrive; drops {bench.gateway.drops()}")


def test_ike6(bench):
    """No policy applies to IKE of the gateway."""
    protect_all(bench)
    frame = to_gateway(bench, "wan", b"\x86\xdd" + raw(IPv6(src=PEER6, dst=WAN6) / UDP(sport=500, dport=500) / Raw(ike(b"request"))))
    with Tap(bench, "wan") as tap:
        bench.wan.send(frame)
        assert tap.got(frame), "the kernel did not get it"
        answer = from_gateway(bench, "wan", b"\x86\xdd" + raw(IPv6(src=WAN6, dst=PEER6) / UDP(sport=500, dport=500) / Raw(ike(b"answer"))))
        bench.wan.drain()
        tap.send(answer)
        assert answer in bench.wan.frames(PATIENCE), "it did not leave"


def test_tcp_flow6(bench):
    """Policies with TCP ports."""
    bench.gateway.fill("flush", policy("out", LAN_NET6, FAR_NET6, "discard", more="proto=6 dport=22-22"))
    with bench.dropped("policy-discard"):
        bench.from_lan(IPv6(src=HOST6, dst=FAR_HOST6) / TCP(dport=22))
    sent = IPv6(raw(IPv6(src=HERE, dst=FAR_HOST6) / TCP(dport=23)))
    bench.from_lan(sent)
    same_but_hop(bench.receive(bench.wan, 1)[0], sent)
