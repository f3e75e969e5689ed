# SPDX-License-Identifier: GPL-2.0-or-later
"""VLANs on ports (IEEE 802.1Q and 802.1ad): frames as they are on the wire, with their tags."""
import contextlib
import itertools
import random
import struct

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import IPV4, IPV6, QUIET, packet, policy, same_but_hop
from gateway import FAR_HOST, FAR_NET, HOST, HOST6, LAN_NET, PEER, WAN
from network import PATIENCE, wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_fragments import pieces
from test_frames import Tap
from test_ipv6 import packet6
from test_jumbo import mtu_of
from test_kernel import resolved
from test_reload import reload
from test_tos import with_tos
from vlan import (ARP_TYPE, BROADCAST, C_TAG, DEI, OLD_TAG, S_TAG, Vlan, arp_answers, both_ways, esp_both_ways, hop,
                  joined, split, to_lan, to_vlan, tunnels, vlans)

# Of a VLAN with one tag: the type on the wire, the port, and the MTU. Beside its MTU a link takes a tag of 802.1Q.
PLAIN = {"802.1q": (C_TAG, "wan", 1500), "802.1ad": (S_TAG, "wan", 1496), "lan": (C_TAG, "lan", 1500)}


@cases(*PLAIN)
def test_vlan_plain(bench, case):
    """Plaintext both ways, up to the longest packet: each frame that leaves, byte by byte. The first packets pass the
    stages, the others may be of a known flow."""
    kind, port, mtu = PLAIN[case]
    more = f"vlan_type = {case}\n" if case != "lan" else ""
    vlan = Vlan(bench, port=port, types=[kind], more=more)
    with vlans(bench, vlan):
        other, device, host = (bench.wan, "wan", PEER) if port == "lan" else (bench.lan, "lan", HOST)
        assert vlan.mac == bench.gateway.mac[port] and mtu_of(bench, vlan.name) == mtu
        for size in (1, 100, 100, mtu - 28):
            sent = packet(host, vlan.host, size, flags="DF")
            vlan.wire.drain()
            other.send(bench.frame(other, device, sent))
            frame, want = vlan.wire.receive()[0][0], vlan.leaving(IPV4, hop(sent))
            assert frame[:len(want)] == want and not any(frame[len(want):]), f"\n got {frame.hex()}\nwant {want.hex()}"
            assert want[12:18] == struct.pack("!3H", kind, 100, 0x0800)
            sent = packet(vlan.host, host, size, flags="DF")
            other.drain()
            vlan.wire.send(vlan.frame(sent) + bytes(40 if size == 1 else 0))  # short frames are padded
            same_but_hop(bench.receive(other, 1)[0], sent)


def test_vlan_plain6(bench):
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        for _ in range(3):
            sent = packet6(HOST6, vlan.host6, tc=0xb9, fl=77)
            vlan.wire.drain()
            bench.from_lan(sent)
            assert vlan.wire.receive()[0][0] == vlan.leaving(IPV6, hop(sent))
            sent = packet6(vlan.host6, HOST6)
            same_but_hop(to_lan(bench, vlan, sent), sent)


# Type of the outer tag that leaves.
STACKED = {"auto": S_TAG, "802.1ad": S_TAG, "802.1q": C_TAG}


@cases(*STACKED)
def test_vlan_qinq(bench, case):
    """Two tags in each frame, both ways. Of a frame that comes in, their types do not matter."""
    vlan = Vlan(bench, "300.40", name="wan.q", types=[STACKED[case], C_TAG], more=f"vlan_type = {case}\n")
    with vlans(bench, vlan):
        mtu = 1492 if STACKED[case] == S_TAG else 1496
        assert mtu_of(bench, vlan.name) == mtu
        for size in (100, 100, mtu - 28):
            sent = packet(HOST, vlan.host, size, flags="DF")
            vlan.wire.drain()
            bench.from_lan(sent)
            frame, want = vlan.wire.receive()[0][0], vlan.leaving(IPV4, hop(sent))
            assert frame == want, f"\n got {frame.hex()}\nwant {want.hex()}"
            assert want[12:22] == struct.pack("!5H", STACKED[case], 300, C_TAG, 40, 0x0800)
            sent = packet(vlan.host, HOST, size, flags="DF")
            same_but_hop(to_lan(bench, vlan, sent), sent)
        for outer, inner in itertools.product((C_TAG, S_TAG, OLD_TAG), repeat=2):
            sent = packet(vlan.host, HOST, id=outer)
            same_but_hop(to_lan(bench, vlan, sent, [(outer, 300), (inner, 40)]), sent)
        out, inb = tunnels(bench, vlan)[0]
        esp_both_ways(bench, vlan, out, inb)


@cases("8100", "88a8", "9100")
def test_vlan_types(bench, case):
    """Of a frame with one tag the type does not matter either; the drop eligible indicator is ignored."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        for tci in (100, 100 | DEI, 5 << 13 | 100):
            sent = packet(vlan.host, HOST, id=tci)
            same_but_hop(to_lan(bench, vlan, sent, [(int(case, 16), tci)]), sent)


@cases("gcm128", "cbc128-sha256", "gcm128-udp")
def test_vlan_tunnel(bench, case):
    """ESP with a peer in the VLAN, both ways; ESP in fragments is put together. A tunnel of the untagged port works
    beside it."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        port = vlan.port_itself()
        encap = case.endswith("-udp")
        both = tunnels(bench, vlan, port, suite=case.removesuffix("-udp"), encap=encap)
        for end, (out, inb) in zip((vlan, port), both):
            for size in (0, 100, 1300):
                esp_both_ways(bench, end, out, inb, size=size)
            sent = packet(end.far_host, HOST, 1200, id=9)
            bench.lan.drain()
            end.send(*pieces(inb.seal(sent), 800))
            same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def known(bench, pass_eight):
    """Pass packets of a flow until they take the fast path. A gateway without flows passes some by the stages."""
    for _ in range(20):
        before = bench.gateway.counted("shortcut")
        pass_eight()
        if bench.gateway.took_fast_path(before, 8):
            return
    raise AssertionError("packets do not take the fast path")


@cases("plain", "tunnel", "qinq")
def test_vlan_flows(bench, case):
    """Known flows take the fast path, out and in."""
    vlan = Vlan(bench, "300.40", name="wan.q") if case == "qinq" else Vlan(bench)
    with vlans(bench, vlan):
        out, inb = (None, None) if case == "plain" else tunnels(bench, vlan)[0]
        far = vlan.far_host if out else vlan.host

        def eight_out():
            sent = [packet(HOST, far, id=number) for number in range(8)]
            vlan.wire.drain()
            bench.from_lan(*sent)
            for got, one in zip(vlan.receive(8), sent):
                same_but_hop(out.unseal(got)[0] if out else got, one)

        def eight_in():
            sent = [packet(far, HOST, id=number) for number in range(8)]
            bench.lan.drain()
            vlan.send(*(inb.seal(one) if inb else one for one in sent))
            for got, one in zip(bench.receive(bench.lan, 8), sent):
                same_but_hop(got, one)
        known(bench, eight_out)
        known(bench, eight_in)
        # Frames of the flow with other tags, and without.
        sealed = inb.seal(packet(far, HOST)) if inb else packet(far, HOST)
        with bench.dropped("vlan-tag", 2):
            vlan.send(sealed, tags=[(C_TAG, 200)])
            vlan.send(sealed, tags=vlan.tags() + [(C_TAG, 1)])
        with bench.dropped("not-ours"):
            vlan.send(sealed, to="02:00:00:00:99:99")
        eight_in()


@cases("100", "300.40")
def test_vlan_priority(bench, case):
    """The priority of frames that leave: fixed, or that of the packet's DSCP, in all tags. A reload changes it at once,
    also for known flows. Packets of the kernel have it, too, and ARP has priority 0 unless it is fixed."""
    vlan = Vlan(bench, case, name="wan.q" if "." in case else None)
    with vlans(bench, vlan) as text:
        def expect(of_tos):
            for tos in (0, 0x28, 0xb9, 0xe0):
                for sent in [packet(HOST, vlan.host, tos=tos)] * 3 + [packet6(HOST6, vlan.host6, tc=tos)] * 3:
                    same_but_hop(to_vlan(bench, vlan, sent, of_tos(tos)), sent)
            vlan.wire.drain()
            vlan.send(IP(src=vlan.host, dst=vlan.address, tos=0x40) / ICMP(id=7))
            assert vlan.receive(1, of_tos(0x40))[0].tos == 0x40
            answer = arp_answers(vlan)[0]
            assert split(answer)[0] == vlan.tags(of_tos(0)), answer.hex()
        expect(lambda tos: 0)
        assert f"[port {vlan.name}] priority: 5 from now on" in reload(bench, text + "priority = 5\n")
        expect(lambda tos: 5)
        assert f"[port {vlan.name}] priority: dscp from now on" in reload(bench, text + "priority = dscp\n")
        expect(lambda tos: tos >> 5)
        reload(bench, text)
        expect(lambda tos: 0)


COPIED = {"none": "", "dscp": "dscp=out", "dscp-ecn": "dscp=out ecn=yes"}


@cases(*COPIED)
def test_vlan_priority_esp(bench, case):
    """The priority of ESP is that of the outer header's DSCP: that of the packet inside, if the SA copies it."""
    vlan = Vlan(bench, more="priority = dscp\n")
    with vlans(bench, vlan):
        out, _ = tunnels(bench, vlan, out_more=COPIED[case])[0]
        for tos in (0, 0x28, 0xb9, 0xe0):
            shown = 0 if case == "none" else tos & 0xfc
            for _ in range(3):
                sent = packet(HOST, vlan.far_host, tos=tos)
                outer = to_vlan(bench, vlan, sent, shown >> 5)
                assert outer.tos & 0xfc == shown, hex(outer.tos)
                same_but_hop(out.unseal(outer)[0], sent)


@cases("100", "300.40")
def test_vlan_dscp(bench, case):
    """dscp = priority: packets that come in get the DSCP of their outermost tag. ECN stays, and so does what is inside
    ESP, unless its SA copies the DSCP of the outer header. A reload changes it."""
    vlan = Vlan(bench, case, name="wan.q" if "." in case else None, more="dscp = priority\n")
    with vlans(bench, vlan) as text:
        for pcp in range(8):
            for ecn in (0, 1, 3):
                tags = vlan.tags(pcp, 7 - pcp)
                for sent in (packet(vlan.host, HOST, tos=0x28 | ecn), packet6(vlan.host6, HOST6, tc=0x28 | ecn)):
                    got = to_lan(bench, vlan, sent, tags)
                    same_but_hop(got, (IPv6 if sent.version == 6 else IP)(with_tos(sent, pcp << 5 | ecn)))
            vlan.wire.drain()
            vlan.send(IP(src=vlan.host, dst=vlan.address, tos=0x28) / ICMP(id=pcp), tags=tags)
            assert vlan.receive()[0].tos == pcp << 5, "the kernel answers with the DSCP that it gets"
        for setting in ("", "dscp=in"):
            _, inb = tunnels(bench, vlan, more=setting)[0]
            for pcp in (0, 3, 3, 7):
                sent = packet(vlan.far_host, HOST, tos=0x28)
                got = to_lan(bench, vlan, inb.seal(sent), vlan.tags(pcp, 1))
                same_but_hop(got, IP(with_tos(sent, pcp << 5)) if setting else sent)
        bench.gateway.fill("flush")
        reload(bench, text.replace("dscp = priority\n", ""))
        for pcp in (0, 5, 5):
            sent = packet(vlan.host, HOST, tos=0x29)
            same_but_hop(to_lan(bench, vlan, sent, vlan.tags(pcp)), sent)


# Tags that are not those of one of the VLANs 100, 300 and 300.40.
OTHER_TAGS = {
    "unknown": ((C_TAG, 200),),
    "last": ((C_TAG, 4095),),
    "priority": ((C_TAG, 0),),  # a priority tag: VLAN 0
    "priority-5": ((C_TAG, 5 << 13),),
    "in-priority": ((C_TAG, 0), (C_TAG, 100)),
    "around-priority": ((C_TAG, 100), (C_TAG, 0)),
    "one-more": ((C_TAG, 100), (C_TAG, 7)),
    "twice": ((C_TAG, 100), (C_TAG, 100)),
    "one-more-than-two": ((S_TAG, 300), (C_TAG, 40), (C_TAG, 1)),
    "other-inner": ((S_TAG, 300), (C_TAG, 41)),
    "other-outer": ((S_TAG, 301), (C_TAG, 40)),
    "swapped": ((S_TAG, 40), (C_TAG, 300)),
    "inner-alone": ((C_TAG, 40),),
}


def test_vlan_unknown(bench):
    """Frames with tags that no VLAN has are dropped, and neither forwarded nor given to the kernel; so are frames with one
    tag more than their VLAN, and all that have a tag at a port without VLANs."""
    one, other = Vlan(bench), Vlan(bench, "300", 4, name="wan.lab")
    both = Vlan(bench, "300.40", 5, name="wan.q")
    with vlans(bench, one, other, both), contextlib.ExitStack() as stack:
        taps = [stack.enter_context(Tap(bench, device)) for device in ("wan", one.tap, other.tap, both.tap)]
        port = one.port_itself()
        for name, tags in OTHER_TAGS.items():
            try:
                with bench.dropped("vlan-tag", 2):
                    for dst in (HOST, port.address):
                        port.send(packet(port.host, dst), tags=tags)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error
        with bench.dropped("vlan-tag"):
            bench.lan.send(bench.frame(bench.lan, "lan", b"\x45")[:12] + joined(one.tags()) + IPV4 + raw(packet(HOST, PEER)))
        for tap in taps:
            assert not tap.got(port.frame(b"\x45")[:12], QUIET), "the kernel got it"
        for end in (one, other, both, port):
            both_ways(bench, end)


def test_vlan_cut(bench):
    """Frames that end within or behind their tags do no harm."""
    one, both = Vlan(bench), Vlan(bench, "300.40", 5, name="wan.q")
    with vlans(bench, one, both):
        for vlan in (one, both):
            frame = vlan.frame(packet(vlan.host, HOST))
            bench.lan.drain()
            bench.wan.drain()
            for length in range(14, 22 + 4 * len(vlan.ids)):
                vlan.wire.send(frame[:length])
            bench.expect_nothing()
            both_ways(bench, vlan)


def test_vlan_others(bench):
    """Frames of the VLAN to other MAC addresses, and broadcasts, are not forwarded."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        others = ("02:00:00:00:99:99", bench.gateway.mac["lan"], BROADCAST, "01:00:5e:00:00:01")
        with bench.dropped("not-ours", len(others)):
            for mac in others:
                vlan.send(packet(vlan.host, HOST), to=mac)
        both_ways(bench, vlan)


@cases("100", "300.40")
def test_vlan_kernel(bench, case):
    """The kernel answers ARP and pings in the VLAN, in its frames; a socket of this host hears and answers."""
    vlan = Vlan(bench, case, name="wan.q" if "." in case else None)
    with vlans(bench, vlan):
        answer, = arp_answers(vlan)
        said = ARP(op=2, hwsrc=vlan.mac, psrc=vlan.address, hwdst=vlan.wire.mac.hex(":"), pdst=vlan.host)
        assert answer[:len(vlan.leaving(ARP_TYPE, said))] == vlan.leaving(ARP_TYPE, said), answer.hex()
        vlan.wire.drain()
        vlan.send(IP(src=vlan.host, dst=vlan.address) / ICMP(id=7, seq=9) / Raw(b"x" * 56))
        frame, _, got = vlan.wire.receive()[0]
        assert (got.src, got.dst, got[ICMP].type, got[ICMP].seq) == (vlan.address, vlan.host, 0, 9), got.summary()
        assert frame == vlan.leaving(IPV4, got), frame.hex()
        vlan.send(IPv6(src=vlan.host6, dst=vlan.address6) / ICMPv6EchoRequest(id=7, seq=9))
        got = vlan.receive()[0]
        assert (got.src, got[ICMPv6EchoReply].seq) == (vlan.address6, 9), got.summary()
        with bench.listen(7777, vlan.address) as sock:
            vlan.send(IP(src=vlan.host, dst=vlan.address) / UDP(sport=7000, dport=7777) / Raw(b"question"))
            assert sock.recvfrom(2000) == (b"question", (vlan.host, 7000))
            sock.sendto(b"answer", (vlan.host, 7000))
            assert raw(vlan.receive()[0][UDP].payload)[:6] == b"answer"


def test_vlan_neighbour(bench):
    """A packet to a host of the VLAN whose MAC address is unknown: ARP in the VLAN asks for it, and packets leave after the
    answer."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        host, mac = f"{vlan.host[:-1]}33", "02:00:00:00:00:33"
        vlan.wire.drain()
        bench.from_lan(packet(HOST, host))
        asked = (split(frame) for frame in vlan.wire.frames(PATIENCE))
        tags = next((tags for tags, rest in asked if rest[12:14] == ARP_TYPE and Ether(rest)[ARP].pdst == host), None)
        assert tags == vlan.tags(), f"ARP in {tags}"
        vlan.wire.send(vlan.ethernet(ARP_TYPE, ARP(op=2, hwsrc=mac, psrc=host, hwdst=vlan.mac, pdst=vlan.address)))
        wait_until(lambda: resolved(bench, host, mac), "the kernel knows the neighbour")

        def leaves():
            bench.from_lan(packet(HOST, host, dport=99))
            return [(frame[:6].hex(":"), tags) for frame, tags, _ in vlan.wire.packets(0.2)]
        got = []
        wait_until(lambda: got.extend(leaves()) or got, "packets to the neighbour")
        assert all(one == (mac, vlan.tags()) for one in got), got


def test_vlan_ttl(bench):
    """The ICMP error about a packet from the VLAN goes back in the VLAN."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        vlan.wire.drain()
        vlan.send(packet(vlan.host, HOST, ttl=1))
        answer = vlan.receive()[0]
        assert (answer.src, answer.dst, answer[ICMP].type) == (vlan.address, vlan.host, 11), answer.summary()


def test_vlan_forwarding_off(bench):
    """The kernel's forwarding switch of the TAP holds for the VLAN, and not for the port."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        _, inb = tunnels(bench, vlan)[0]
        for _ in range(3):
            to_lan(bench, vlan, inb.seal(packet(vlan.far_host, HOST)))
        bench.gateway.in_gw("sysctl", "-q", "-w", f"net/ipv4/conf/{vlan.tap}/forwarding=0")
        bench.gateway.hear()
        with bench.dropped("forwarding", 2):
            vlan.send(packet(vlan.host, HOST), inb.seal(packet(vlan.far_host, HOST)))
        both_ways(bench, vlan.port_itself())


def test_vlan_policy(bench):
    """Plaintext in the VLAN that a policy protects is dropped; without an SA nothing leaves."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        out, inb = tunnels(bench, vlan)[0]
        with bench.dropped("policy-plaintext", 3):
            vlan.send(*[packet(vlan.far_host, HOST)] * 3)
        esp_both_ways(bench, vlan, out, inb)
        bench.gateway.fill("flush", policy("out", LAN_NET, vlan.far_net))
        with bench.waiting(3):
            bench.from_lan(*[packet(HOST, vlan.far_host)] * 3)
        bench.gateway.fill("flush", policy("out", LAN_NET, vlan.far_net, "discard"))
        with bench.dropped("policy-discard", 3):
            bench.from_lan(*[packet(HOST, vlan.far_host)] * 3)


def test_vlan_policy_of_interface(bench):
    """A policy for the VLAN's interface does not apply to the port, and the other way round."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        port = vlan.port_itself()
        for bound, free in ((vlan, port), (port, vlan)):
            bench.gateway.fill("flush", policy("fwd", bound.net, LAN_NET, more=f"dev={bound.tap}"))
            sent = packet(bound.host, HOST)
            for _ in range(3):
                same_but_hop(to_lan(bench, free, sent), sent)
            with bench.dropped("policy-plaintext", 3):
                bound.send(*[sent] * 3)


def test_vlan_side(bench):
    """Decrypted packets do not leave by the VLAN in plaintext, whether their ESP has come by it or by the port; they do
    where it has side = inside. ESP of the VLAN does not leave by the port in plaintext either."""
    vlan = Vlan(bench)
    with vlans(bench, vlan) as text:
        port = vlan.port_itself()

        def inbound(end, *nets):
            """@return an inbound SA of the host at that end, whose policies are for the networks"""
            inb = Sa(SUITE["gcm128"], "in", bench.spi())
            inb.src, inb.dst = end.host, end.address
            bench.gateway.fill("flush", inb.line(), *(
                policy("fwd", FAR_NET, net, spi=inb.spi).replace(f"end={WAN} ", f"end={end.address} ") for net in nets))
            return inb
        for end, target, reason in ((vlan, vlan, "hairpin"), (port, vlan, "outside"), (vlan, port, "outside")):
            inb = inbound(end, target.net)
            with bench.dropped(reason, 3):
                for _ in range(3):
                    end.send(inb.seal(packet(FAR_HOST, target.host)))
        reload(bench, text + "side = inside\n")
        inb = inbound(port, vlan.net)
        for _ in range(3):
            sent = packet(FAR_HOST, vlan.host)
            vlan.wire.drain()
            port.send(inb.seal(sent))
            same_but_hop(vlan.receive()[0], sent)
        reload(bench, text)
        with bench.dropped("outside", 2):
            for _ in range(2):
                port.send(inb.seal(packet(FAR_HOST, vlan.host)))


def test_vlan_between(bench):
    """From one VLAN to another one of the same port, and between a VLAN and the untagged port."""
    one, other = Vlan(bench), Vlan(bench, "200", 4, name="wan.lab")
    with vlans(bench, one, other):
        for source, target in itertools.permutations((one, other, one.port_itself()), 2):
            for _ in range(3):
                sent = packet(source.host, target.host)
                target.wire.drain()
                source.send(sent)
                same_but_hop(target.receive()[0], sent)


COUNT = 150  # more than a burst


@cases("plain", "tunnel")
def test_vlan_interleaved(bench, case):
    """Packets of three VLANs and the untagged port, interleaved in one burst: each leaves by its own, and in order."""
    stacked = Vlan(bench, "300.40", 5, name="wan.q")
    every = [Vlan(bench), Vlan(bench, "200", 4, name="wan.lab"), stacked]
    with vlans(bench, *every):
        every.append(stacked.port_itself())
        pairs = dict(zip(every, tunnels(bench, *every) if case == "tunnel" else itertools.repeat(None)))

        def far(end):
            return end.far_host if pairs[end] else end.host
        for seed in range(3):
            order = random.Random(seed).choices(every, k=COUNT)
            stacked.wire.drain()
            with bench.gateway.paused():
                bench.from_lan(*(packet(HOST, far(end), number % 50, id=number) for number, end in enumerate(order)))
            got = stacked.wire.receive(COUNT)
            for end in every:
                mine = [received for _, tags, received in got if tags == end.tags()]
                inner = [pairs[end][0].unseal(one)[0] if pairs[end] else one for one in mine]
                assert {one.dst for one in inner} == {far(end)}, f"{end.name}: {[one.summary() for one in inner]}"
                assert [one.id for one in inner] == [number for number in range(COUNT) if order[number] is end], end.name
            bench.lan.drain()
            sent = [packet(far(end), HOST, number % 50, id=number) for number, end in enumerate(order)]
            sealed = [pairs[end][1].seal(one) if pairs[end] else one for end, one in zip(order, sent)]
            with bench.gateway.paused():
                for end, one in zip(order, sealed):
                    end.send(one)
            got = bench.receive(bench.lan, COUNT)
            for end in every:
                mine = [one for one in got if one.src == far(end)]
                assert [one.id for one in mine] == [number for number in range(COUNT) if order[number] is end], end.name
                for one in mine:
                    same_but_hop(one, sent[one.id])
