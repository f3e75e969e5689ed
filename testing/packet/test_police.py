# SPDX-License-Identifier: GPL-2.0-or-later
"""Policing: a flood of one class leaves the others, and IKE of peers, their share."""
import contextlib
import time

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NS, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import ike, policy, to_host
from gateway import FAR_NET, LAN_NET, PEER, WAN, WAN6
from network import wait_until
from test_fragments import pieces
from test_reload import reload

FLOOD, PARTS = 1800, 3
BURST = 200  # more packets than a rate of 1 allows in a burst and during a test
LITTLE = "\n".join(f"police_{kind} = 1" for kind in ("ike", "arp", "icmp", "other", "fragments"))
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


def ike_in_flood(bench, frame):
    """IKE of the peer, sent after each part of a flood, arrives as a whole: its socket, which nobody reads
    meanwhile, has no room for the flood. @return frames of the flood"""
    request = IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500)
    with bench.listen(500) as sock:
        count = 0
        for number in range(PARTS):
            count += flood(bench, [frame] * (FLOOD // PARTS))
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
            expect_dropped(bench, reason, ike_in_flood(bench, frame(bench)), before.get(reason, 0))
            after = bench.gateway.drops()
            others = {name for name in after if after[name] != before.get(name, 0)} - {reason, "reassembly"}
            assert not others, others


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
