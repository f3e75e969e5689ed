# SPDX-License-Identifier: GPL-2.0-or-later
"""Policing: a flood of one class leaves the others, and IKE of peers, their share."""
import contextlib
import time

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr,
                                ICMPv6NDOptSrcLLAddr, IPv6)
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import ike, packet, policy, to_host
from gateway import FAR_HOST, FAR_NET, HOST, HOST6, LAN, LAN_NET, PEER, WAN, WAN6
from network import ip, wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_fragments import pieces
from test_ipv6 import packet6
from test_reload import reload

FLOOD, PARTS = 1800, 3
BURST = 200  # more packets than a rate of 1 allows in a burst and during a test
LITTLE = "\n".join(f"police_{kind} = 1" for kind in ("ike", "arp", "icmp", "other", "fragments", "sa"))
STRANGER = "192.0.2.99"


def flood(bench, frames):
    """@return how many of them cygnetd has received: the port's ring may be full at times"""
    before, now = bench.gateway.received("wan"), None
    for frame in frames:
        bench.wan.send(frame)
    while now != (now := bench.gateway.received("wan")):
        time.sleep(0.2)
    return now - before


def numbered(bench, packet, number):
    """Frames of a packet, each with a different source address outside the gateway's networks."""
    for i in range(number):
        packet.src = f"198.18.{i >> 8}.{i & 255}"
        yield bench.frame(bench.wan, "wan", packet)


def from_stranger(payload):
    return IP(src=STRANGER, dst=WAN) / payload


def arp(bench):
    """Who has the gateway's address?"""
    return raw(Ether(dst="ff:ff:ff:ff:ff:ff", src=bench.wan.mac.hex(":")) /
               ARP(op=1, hwsrc=bench.wan.mac.hex(":"), psrc=STRANGER, pdst=WAN))


def solicitation(bench):
    return bench.frame(bench.wan, "wan", IPv6(src="2001:db8:f::99", dst=WAN6, hlim=255) / ICMPv6ND_NS(tgt=WAN6))


FLOODS = {
    "ike": ("policed-ike", lambda bench: bench.frame(
        bench.wan, "wan", from_stranger(UDP(sport=500, dport=500) / Raw(ike(b"stranger"))))),
    "arp": ("policed-arp", arp),
    "nd": ("policed-arp", solicitation),
    "icmp": ("policed-icmp", lambda bench: bench.frame(bench.wan, "wan", from_stranger(ICMP() / Raw(b"x")))),
    "icmp6": ("policed-icmp", lambda bench: bench.frame(
        bench.wan, "wan", IPv6(src="2001:db8:f::99", dst=WAN6) / ICMPv6EchoRequest())),
    "other": ("policed-other", lambda bench: bench.frame(
        bench.wan, "wan", from_stranger(UDP(sport=7, dport=7) / Raw(b"x")))),
    "fragments": ("policed-fragments", lambda bench: bench.frame(
        bench.wan, "wan", IP(src=STRANGER, dst=WAN, flags="MF", id=7) / UDP(sport=7, dport=7) / Raw(bytes(64)))),
}


def known(bench):
    """The peer has a tunnel, and cygnetd has updated its list of peers since."""
    bench.tunnel()
    request = IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500) / Raw(ike(b"peer"))

    def passes():
        """Send more at once than the burst allowed to strangers."""
        before, received = dropped(bench, "policed-ike"), bench.gateway.received("wan")
        bench.from_wan(*[request] * (2 * BURST))
        wait_until(lambda: bench.gateway.received("wan") >= received + 2 * BURST, "they have come")
        return dropped(bench, "policed-ike") == before

    wait_until(passes, "the peer is known")


@contextlib.contextmanager
def policed(bench, lines=LITTLE):
    with bench.gateway.configured(lines):
        known(bench)
        yield


def dropped(bench, reason):
    return bench.gateway.drops().get(reason, 0)


def expect_dropped(bench, reason, count, before):
    """At least as many frames of a flood are dropped as exceed the burst."""
    assert count > 2 * BURST, f"{count} frames are no flood"
    wait_until(lambda: dropped(bench, reason) - before >= count - BURST, f"{count - BURST} {reason}")


def ike_in_flood(bench, frames):
    """IKE of the peer, sent after each part of a flood, arrives as a whole: its socket, which nobody reads
    meanwhile, has no room for the flood. @return frames of the flood"""
    request = IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500)
    with bench.listen(500) as sock:
        count, part = 0, len(frames) // PARTS
        for number in range(PARTS):
            count += flood(bench, frames[number * part:][:part])
            bench.from_wan(request / Raw(ike(b"%3d" % number)))
        left = {ike(b"%3d" % number) for number in range(PARTS)}
        while left:
            left.discard(sock.recv(2000))
    return count


def test_police(bench):
    """Most of a flood is dropped for the reason of its class, nothing for another reason, and the peer's IKE passes."""
    with policed(bench):
        for reason, frame in FLOODS.values():
            before = bench.gateway.drops()
            expect_dropped(bench, reason, ike_in_flood(bench, [frame(bench)] * FLOOD), before.get(reason, 0))
            after = bench.gateway.drops()
            others = {name for name in after if after[name] != before.get(name, 0)} - {reason, "reassembly"}
            assert not others, others


@contextlib.contextmanager
def behind_kernel(bench):
    """A host and a net behind an interface of the kernel that is no port. @return their addresses"""
    gw, device = bench.network.gw, "cyg-other"
    host, far = "10.1.0.200", "198.19.0.1"
    ip("-n", gw, "link", "add", device, "type", "veth", "peer", "name", "cyg-nobody")
    try:
        for end in (device, "cyg-nobody"):
            ip("-n", gw, "link", "set", end, "arp", "off", "up")
        for address in (host, far):
            ip("-n", gw, "route", "add", address, "dev", device)
        bench.gateway.hear()
        yield host, far
    finally:
        ip("-n", gw, "link", "del", device)


def only_dropped(bench, reason, frames):
    """Most of a flood is dropped for that reason, and nothing for another one but the TAPs' share of the time; IKE of the
    peer passes."""
    before = bench.gateway.drops()
    expect_dropped(bench, reason, ike_in_flood(bench, frames), before.get(reason, 0))
    others = set(bench.drops_since(before)) - {reason, "tap-full"}
    assert not others, others


@cases("local", "routed", "plaintext")
def test_police_to_kernel(bench, case):
    """What an SA has for the kernel is metered, for its own addresses and for what it forwards, and so is plaintext that
    it forwards. Another SA has a meter of its own."""
    with policed(bench), behind_kernel(bench) as (host, far):
        other = Sa(SUITE["gcm128"], "in", bench.spi())
        _, inb = bench.tunnel(more_lines=[other.line()])

        def sealed(sa, count, dst):
            return [bench.frame(bench.wan, "wan", sa.seal(packet(FAR_HOST, dst, dport=7))) for _ in range(count)]

        if case == "plaintext":
            only_dropped(bench, "policed-other", [bench.frame(bench.wan, "wan", packet(STRANGER, far))] * FLOOD)
            return
        only_dropped(bench, "policed-sa", sealed(inb, FLOOD, LAN if case == "local" else host))
        before = dropped(bench, "policed-sa")
        flood(bench, sealed(other, BURST // 4, LAN))
        assert dropped(bench, "policed-sa") == before, "another SA shares the meter"


def test_police_sources(bench):
    """All addresses together are one class."""
    packet = from_stranger(UDP(sport=500, dport=500) / Raw(ike(b"stranger")))
    with policed(bench):
        before = dropped(bench, "policed-ike")
        expect_dropped(bench, "policed-ike", flood(bench, numbered(bench, packet, FLOOD)), before)


def test_police_peer(bench):
    """IKE with a peer's address has a rate, too, which is not that of another peer."""
    other = "192.0.2.77"
    with bench.gateway.configured("police_peer = 1"):
        bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET),
                           policy("out", LAN_NET, "10.3.0.0-10.3.0.255").replace(f"end={PEER}", f"end={other}"))
        request = {end: IP(src=end, dst=WAN) / UDP(sport=500, dport=500) / Raw(ike(b"x")) for end in (PEER, other)}
        frame = bench.frame(bench.wan, "wan", request[PEER])

        def is_known():
            flood(bench, [frame] * 3 * BURST)
            return dropped(bench, "policed-peer")

        wait_until(is_known, "policed-peer")
        before = dropped(bench, "policed-peer")
        expect_dropped(bench, "policed-peer", flood(bench, [frame] * FLOOD), before)
        with bench.listen(500) as sock:
            bench.from_wan(request[other])
            while sock.recvfrom(2000)[1][0] != other:
                pass


def test_police_fragments_of_peer(bench):
    """ESP in fragments is not metered."""
    with policed(bench):
        _, inb = bench.tunnel()
        for number in range(BURST):
            bench.from_wan(*pieces(inb.seal(to_host(size=2000, id=number))))
        bench.receive(bench.lan, 2 * BURST)
        assert not dropped(bench, "policed-fragments")


def test_police_reload(bench):
    """0 is no limit, and other rates apply at once."""
    with policed(bench):
        text = bench.gateway.read_conf()
        log = reload(bench, text.replace("police_icmp = 1\n", "police_icmp = 0\n"))
        assert "police_icmp: 0 from now on" in log, log
        frame = FLOODS["icmp"][1](bench)
        flood(bench, [frame] * FLOOD)
        assert not dropped(bench, "policed-icmp")
        reload(bench, text)
        expect_dropped(bench, "policed-icmp", flood(bench, [frame] * FLOOD), 0)


def asked4(frame):
    return ARP in frame and frame[ARP].op == 1 and frame[ARP].pdst == NEXT_HOP["arp"]


def asked6(frame):
    return ICMPv6ND_NS in frame and frame[ICMPv6ND_NS].tgt == NEXT_HOP["nd"]


NEXT_HOP = {"arp": "192.0.2.44", "nd": "2001:db8:f::44"}
NEXT_HOP_MAC = "02:00:00:00:00:44"


def says4(bench, op, sender, mac=NEXT_HOP_MAC):
    """A reply to the gateway, or a request for its address."""
    own = bench.gateway.mac["wan"]
    return raw(Ether(dst=own, src=mac) / ARP(op=op, hwsrc=mac, psrc=sender, hwdst=own, pdst=WAN))


def says6(bench, op, sender, mac=NEXT_HOP_MAC):
    """The same, as an advertisement or a solicitation."""
    said = ICMPv6ND_NA(tgt=sender, R=1, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=mac) if op == 2 else \
        ICMPv6ND_NS(tgt=WAN6) / ICMPv6NDOptSrcLLAddr(lladdr=mac)
    return raw(Ether(dst=bench.gateway.mac["wan"], src=mac) / IPv6(src=sender, dst=WAN6, hlim=255) / said)


LINK = {"arp": (asked4, says4, STRANGER, "10.2.44.1"), "nd": (asked6, says6, "2001:db8:f::99", "2001:db8:2:44::1")}


def is_answered(frame, case):
    if case == "arp":
        return ARP in frame and frame[ARP].op == 2 and frame[ARP].pdst == NEXT_HOP[case]
    return ICMPv6ND_NA in frame and frame[IPv6].dst == NEXT_HOP[case]


def until(bench, what, wanted, again=lambda: None):
    """A frame at the WAN that is wanted. @param again  called before each wait of half a second"""
    found = []

    def look():
        again()
        found.extend(frame for frame in map(Ether, bench.wan.frames(0.5)) if wanted(frame))
        return found

    wait_until(look, what)
    return found[0]


@contextlib.contextmanager
def next_hop(bench, case):
    """A route by a next hop whose MAC address nobody knows."""
    family, net = ("-6", "2001:db8:2:44::/64") if case == "nd" else ("-4", "10.2.44.0/24")
    words = ("-n", bench.network.gw, family, "route")
    ip(*words, "add", net, "via", NEXT_HOP[case], "dev", "wan")
    try:
        bench.gateway.hear()
        yield
    finally:
        ip(*words, "del", net)


@cases(*LINK)
def test_police_next_hop(bench, case):
    """A flood by strangers, with requests or with replies, stops neither the next hop's answer nor its request. Of a flood
    with the next hop's own address little passes."""
    asked, says, stranger, beyond = LINK[case]
    floods = [[says(bench, op, stranger, "02:00:00:00:00:99")] * BURST for op in (1, 2)]
    with policed(bench), next_hop(bench, case):
        def flooded():
            """Strangers have used up their share, which grows by one a second."""
            before = dropped(bench, "policed-arp")
            count = sum(flood(bench, frames) for frames in floods)
            wait_until(lambda: dropped(bench, "policed-arp") >= before + count - BURST, "the flood is dropped")

        def send():
            bench.from_lan(packet6(HOST6, beyond) if case == "nd" else packet(HOST, beyond))

        flooded()
        until(bench, "the gateway asks for the next hop", asked, send)
        def say(op):
            """The kernel asks three times at most for a packet: on a slow machine once is not enough."""
            send()
            for frame in floods[0] + floods[1] + [says(bench, op, NEXT_HOP[case])]:
                bench.wan.send(frame)

        until(bench, "a packet to the next hop", lambda frame: frame.dst == NEXT_HOP_MAC, lambda: say(2))
        until(bench, "an answer to the next hop", lambda frame: is_answered(frame, case), lambda: say(1))
        before = dropped(bench, "policed-arp")
        expect_dropped(bench, "policed-arp", flood(bench, [says(bench, 2, NEXT_HOP[case])] * FLOOD), before)
