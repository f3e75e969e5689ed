# SPDX-License-Identifier: GPL-2.0-or-later
"""VLANs on ports (IEEE 802.1Q and 802.1ad): frames as they are on the wire, with their tags."""
import contextlib
import itertools
import json
import os
import random
import socket
import struct
import threading
import time

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import IPV4, IPV6, QUIET, Bench, is_link_control, packet, policy, same_but_hop
from gateway import FAR_HOST, FAR_NET, HOST, HOST6, LAN_NET, PEER, WAN, inside_lan
from network import PACKET_OUTGOING, PATIENCE, Port, ip, ip_batch, readable, wait_until
from peer import SUITE, Sa
from test_capture import Capture
from test_esp import cases
from test_fragments import pieces, whole
from test_frames import Tap
from test_ipv6 import packet6
from test_jumbo import change_mtu, mtu_of
from test_kernel import resolved
from test_path_mtu import expect_refused
from test_reload import Dmz, lossless, ports, reload, usual_again, with_main
from test_takeover import begin, finish, on_af_packet
from test_tos import with_tos
from test_trace import verdict

# Types of a tag: that of a C-VLAN, that of an S-VLAN, and that of outer tags before IEEE 802.1ad.
C_TAG, S_TAG, OLD_TAG = 0x8100, 0x88a8, 0x9100
ARP_TYPE, BROADCAST = b"\x08\x06", "ff:ff:ff:ff:ff:ff"
DEI = 0x1000  # drop eligible indicator, a bit of the TCI

# The kernel takes the outer tag out of what a socket receives, and has it in auxiliary data (linux/if_packet.h).
SOL_PACKET, PACKET_AUXDATA = 263, 8
AUXDATA = struct.Struct("=3I4H")
TAG_VALID, TYPE_VALID = 1 << 4, 1 << 6


def with_tag(frame, auxiliary):
    """Put the tag that the kernel has taken out back into a frame."""
    for level, kind, data in auxiliary:
        if (level, kind) != (SOL_PACKET, PACKET_AUXDATA):
            continue
        status, *_, tci, tag_type = AUXDATA.unpack(data[:AUXDATA.size])
        if status & TAG_VALID:
            return frame[:12] + struct.pack("!2H", tag_type if status & TYPE_VALID else C_TAG, tci) + frame[12:]
    return frame


def split(frame):
    """@return the tags of a frame, each its type and its TCI, and the frame without them"""
    tags = []
    while (kind := int.from_bytes(frame[12:14], "big")) in (C_TAG, S_TAG, OLD_TAG):
        tags.append((kind, int.from_bytes(frame[14:16], "big")))
        frame = frame[:12] + frame[16:]
    return tags, frame


def joined(tags):
    return b"".join(struct.pack("!2H", *tag) for tag in tags)


class Wire(Port):
    """The far end of a veth, with all tags in what it receives."""

    def __init__(self, namespace, device):
        super().__init__(namespace, device)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)

    def frames(self, timeout):
        while readable([self.socket], timeout):
            frame, auxiliary, _, address = self.socket.recvmsg(65536, socket.CMSG_SPACE(AUXDATA.size))
            if address[2] != PACKET_OUTGOING:
                yield with_tag(frame, auxiliary)

    def packets(self, timeout):
        """IP packets from the gateway. @return of each its frame, the frame's tags, and the packet without padding"""
        for frame in self.frames(timeout):
            tags, rest = split(frame)
            if rest[12:14] == IPV4:
                yield frame, tags, Bench.packet_in(rest)
            elif rest[12:14] == IPV6 and not is_link_control(rest[14:]):
                yield frame, tags, IPv6(rest[14:54 + int.from_bytes(rest[18:20], "big")])

    def receive(self, count=1):
        got = list(itertools.islice(self.packets(PATIENCE), count))
        assert len(got) == count, f"{len(got)} of {count} packets arrived"
        return got


class Vlan:
    """A VLAN of the gateway's, and a host in it. The one without an ID is the port itself."""

    def __init__(self, bench, ids="100", number=3, port="wan", name=None, types=None, more=""):
        """@param number  of its networks @param types  of the tags that the gateway sends @param more  lines of the section"""
        self.bench, self.port, self.more = bench, port, more
        self.name = self.tap = name or f"{port}.{ids}"
        self.ids = [int(one) for one in ids.split(".")] if ids else []
        self.types = types or ([S_TAG] if len(self.ids) > 1 else []) + [C_TAG] * bool(ids)
        self.address, self.host = f"192.0.{number}.1", f"192.0.{number}.2"
        self.net = f"192.0.{number}.0-192.0.{number}.255"
        self.address6, self.host6 = f"2001:db8:e{number}::1", f"2001:db8:e{number}::2"
        self.far_route = f"10.2.{number}.0/24"
        self.far_host, self.far_net = f"10.2.{number}.10", f"10.2.{number}.0-10.2.{number}.255"
        self.wire = self.mac = None

    def vlan(self):
        return ".".join(map(str, self.ids))

    def section(self):
        return f"[port {self.name}]\nvlan = {self.vlan()}\n{self.more}"

    def set_up(self, wire):
        """Set up its TAP, as Gateway.set_up_taps() does for ports. A route leads to networks behind the host."""
        gateway = self.bench.gateway
        self.wire = wire
        ip_batch(self.bench.network.gw, [
            f"address replace {self.address}/24 dev {self.tap}",
            f"address replace {self.address6}/64 dev {self.tap} nodad",
            f"link set {self.tap} up",
            *(f"neigh replace {host} dev {self.tap} lladdr {wire.mac.hex(':')} nud permanent"
              for host in (self.host, self.host6)),
            f"route replace {self.far_route} via {self.host} dev {self.tap}"])
        self.mac = gateway.mac_of(self.tap)
        wanted = {f"{self.address}/32", f"{self.address6}/128", self.far_route}
        wait_until(lambda: wanted <= {row["prefix"] for row in gateway.ask("/cygnet/routes").values()},
                   f"cygnetd knows the routes of {self.tap}")
        gateway.hear()

    def port_itself(self):
        """@return the port's untagged end, with the usual peer"""
        port = Vlan(self.bench, "", 2, name=self.port)
        port.wire, port.mac = self.wire, self.bench.gateway.mac[self.port]
        return port

    def tags(self, *priorities):
        """The tags of a frame. @param priorities  of all tags, or of each"""
        given = itertools.chain(priorities or (0,), itertools.repeat(priorities[-1] if priorities else 0))
        return [(kind, pcp << 13 | one) for kind, pcp, one in zip(self.types, given, self.ids)]

    def ethernet(self, kind, data, tags=None, to=None):
        """A frame from the host. @param tags  instead of the VLAN's"""
        tags = self.tags() if tags is None else tags
        return bytes.fromhex((to or self.mac).replace(":", "")) + self.wire.mac + joined(tags) + kind + raw(data)

    def frame(self, sent, tags=None, to=None):
        return self.ethernet(IPV6 if raw(sent)[0] >> 4 == 6 else IPV4, sent, tags, to)

    def send(self, *packets, tags=None, to=None):
        for sent in packets:
            self.wire.send(self.frame(sent, tags, to))

    def leaving(self, kind, data, tags=None):
        """The frame in which the gateway sends something to the host."""
        tags = self.tags() if tags is None else tags
        return self.wire.mac + bytes.fromhex(self.mac.replace(":", "")) + joined(tags) + kind + raw(data)

    def receive(self, count=1, pcp=0):
        """Packets that leave, all of them in the VLAN and with this priority."""
        got = self.wire.receive(count)
        for _, tags, received in got:
            assert tags == self.tags(pcp), f"{received.summary()} in {tags}, not {self.tags(pcp)}"
        return [received for *_, received in got]


@contextlib.contextmanager
def wires(bench):
    """@return what gives the wire of a port"""
    of = {}

    def wire(port):
        if port not in of:
            of[port] = Wire(bench.network.far, port)
        return of[port]
    try:
        yield wire
    finally:
        for one in of.values():
            one.socket.close()


@contextlib.contextmanager
def vlans(bench, *every):
    """The usual gateway with VLANs, which are added by reload. Only the LAN is inside, and plaintext that matches no
    policy passes. @return the configuration"""
    try:
        with usual_again(bench) as usual, wires(bench) as wire:
            text = with_main(inside_lan(usual), "no_policy = pass") + "".join(vlan.section() for vlan in every)
            log = reload(bench, text)
            assert set(ports(bench)) == {"lan", "wan", *(vlan.name for vlan in every)}, log
            for vlan in every:
                vlan.set_up(wire(vlan.port))
            bench.gateway.fill("flush")
            yield text
    finally:
        bench.gateway.hear()


def hop(sent):
    """@return the packet after one hop"""
    if sent.version == 6:
        after = IPv6(raw(sent))
        after.hlim -= 1
        return after
    after = IP(raw(sent))
    after.ttl -= 1
    del after.chksum
    return after


def to_vlan(bench, vlan, sent, pcp=0):
    """One packet from the LAN leaves in the VLAN. @return it as it leaves"""
    vlan.wire.drain()
    bench.from_lan(sent)
    return vlan.receive(1, pcp)[0]


def to_lan(bench, vlan, sent, tags=None):
    """One packet from the VLAN leaves by the LAN. @return it as it leaves"""
    bench.lan.drain()
    vlan.send(sent, tags=tags)
    return bench.receive(bench.lan, 1)[0]


def both_ways(bench, vlan, times=2, **fields):
    """Plaintext between the host of the LAN and that of the VLAN; the first packet passes the stages."""
    for _ in range(times):
        sent = packet(HOST, vlan.host, **fields)
        same_but_hop(to_vlan(bench, vlan, sent), sent)
        sent = packet(vlan.host, HOST, **fields)
        same_but_hop(to_lan(bench, vlan, sent), sent)


def tunnels(bench, *every, suite="gcm128", encap=False, out_more="", more=""):
    """A tunnel in each VLAN, whose peer is the host there. @return outbound and inbound SA of each"""
    lines, pairs = ["flush"], []
    for number, vlan in enumerate(every, 1):
        out = Sa(SUITE[suite], "out", bench.spi(), encap=encap, reqid=number, more=out_more)
        inb = Sa(SUITE[suite], "in", bench.spi(), encap=encap, reqid=number, more=more)
        out.src, out.dst, inb.src, inb.dst = vlan.address, vlan.host, vlan.host, vlan.address
        to_peer = policy("out", LAN_NET, vlan.far_net, spi=out.spi, reqid=number)
        from_peer = [policy(direction, vlan.far_net, LAN_NET, spi=inb.spi, reqid=number) for direction in ("in", "fwd")]
        lines += [out.line(), inb.line(), to_peer.replace(f"end={PEER} ", f"end={vlan.host} "),
                  *(line.replace(f"end={WAN} ", f"end={vlan.address} ") for line in from_peer)]
        pairs.append((out, inb))
    bench.gateway.fill(*lines)
    return pairs


def esp_both_ways(bench, vlan, out, inb, times=2, **fields):
    for _ in range(times):
        sent = packet(HOST, vlan.far_host, **fields)
        same_but_hop(out.unseal(to_vlan(bench, vlan, sent))[0], sent)
        sent = packet(vlan.far_host, HOST, **fields)
        same_but_hop(to_lan(bench, vlan, inb.seal(sent)), sent)


def row_of(bench, name):
    return next(row for row in bench.gateway.ask("/cygnet/ports").values() if row["name"] == name)


def set_mac(bench, device, mac):
    ip("-n", bench.network.gw, "link", "set", device, "address", mac)
    wait_until(lambda: row_of(bench, device)["mac"].lower() == mac, f"{device} has the MAC address {mac}")
    bench.gateway.learn_neighbours()  # which the kernel has forgotten
    bench.gateway.hear()


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


def test_vlan_mac(bench):
    """The TAP gets another MAC address: the VLAN takes frames to it, and no longer those to the port's; frames leave from
    it. The untagged port keeps its own, and the VLAN its one while that of the port changes."""
    vlan, mac = Vlan(bench), "02:00:00:00:0c:01"
    with vlans(bench, vlan):
        port = vlan.port_itself()
        both_ways(bench, vlan, 4)
        set_mac(bench, vlan.tap, mac)
        vlan.set_up(vlan.wire)  # the kernel has forgotten the TAP's neighbours
        assert vlan.mac == mac
        for _ in range(4):
            sent = packet(HOST, vlan.host)
            vlan.wire.drain()
            bench.from_lan(sent)
            assert vlan.wire.receive()[0][0] == vlan.leaving(IPV4, hop(sent))
        both_ways(bench, vlan, 4)
        answer = arp_answers(vlan)[0]
        assert (answer[6:12].hex(":"), Ether(split(answer)[1])[ARP].hwsrc) == (mac, mac)
        with bench.dropped("not-ours", 2):
            vlan.send(packet(vlan.host, HOST), to=port.mac)
            port.send(packet(port.host, HOST), to=mac)
        both_ways(bench, port)
        set_mac(bench, vlan.tap, port.mac)
        vlan.set_up(vlan.wire)
        both_ways(bench, vlan)
        with bench.dropped("not-ours"):
            vlan.send(packet(vlan.host, HOST), to=mac)


def test_vlan_mac_of_port(bench):
    """The port gets another MAC address: its VLANs keep the one that it had, as in Linux."""
    if bench.gateway.driver != "net_af_packet":
        return  # net_af_xdp cannot change it
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        port = vlan.port_itself()
        before = port.mac
        try:
            set_mac(bench, "wan", "02:00:00:00:0c:02")
            port.mac = "02:00:00:00:0c:02"
            for _ in range(3):
                sent = packet(HOST, vlan.host)
                vlan.wire.drain()
                bench.from_lan(sent)
                assert vlan.wire.receive()[0][0] == vlan.leaving(IPV4, hop(sent))
            for end in (vlan, port):
                both_ways(bench, end)
            with bench.dropped("not-ours"):
                port.send(packet(port.host, HOST), to=before)
        finally:
            set_mac(bench, "wan", before)
        port.mac = before
        for end in (vlan, port):
            both_ways(bench, end)


def arp_answers(vlan):
    """@return the frames of the gateway's ARP answers for its address in the VLAN"""
    vlan.wire.drain()
    request = ARP(op=1, hwsrc=vlan.wire.mac.hex(":"), psrc=vlan.host, pdst=vlan.address)
    vlan.wire.send(vlan.ethernet(ARP_TYPE, request, to=BROADCAST))
    answers = []
    while frame := next(vlan.wire.frames(QUIET if answers else PATIENCE), None):
        rest = split(frame)[1]
        if rest[12:14] == ARP_TYPE and Ether(rest)[ARP].op == 2:
            answers.append(frame)
    return answers


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


def expect_longest(bench, vlan, mtu):
    """Longer packets with DF are refused, and those without are fragmented."""
    for _ in range(3):
        sent = packet(HOST, vlan.host, mtu - 28, flags="DF")
        same_but_hop(to_vlan(bench, vlan, sent), sent)
        if mtu < 1500:  # no longer packet comes from the LAN
            expect_refused(bench, packet(HOST, vlan.host, mtu - 27, flags="DF"), mtu)
            sent = packet(HOST, vlan.host, 1472, id=7)
            vlan.wire.drain()
            bench.from_lan(sent)
            got = vlan.receive(2)
            assert all(one.len <= mtu for one in got), [one.len for one in got]
            same_but_hop(whole(got), sent)


def test_vlan_mtu(bench):
    """The section's MTU, which is at most the port's, and which a reload changes: of plaintext and of ESP."""
    vlan = Vlan(bench, more="mtu = 1400\n")
    with vlans(bench, vlan) as text:
        assert mtu_of(bench, vlan.name) == tap_mtu(bench, vlan) == 1400
        expect_longest(bench, vlan, 1400)
        out, inb = tunnels(bench, vlan)[0]
        fits = expect_refused(bench, packet(HOST, vlan.far_host, 1472, flags="DF"))
        assert 1280 < fits < 1400
        sent = packet(HOST, vlan.far_host, fits - 28, flags="DF")
        outer = to_vlan(bench, vlan, sent)
        assert 1400 - 16 < outer.len <= 1400
        same_but_hop(out.unseal(outer)[0], sent)
        vlan.wire.drain()
        sent = packet(HOST, vlan.far_host, 1472, id=8)
        bench.from_lan(sent)
        got = vlan.receive(2)
        assert all(one.len <= 1400 for one in got)
        same_but_hop(whole(out.unseal(one)[0] for one in got), sent)
        esp_both_ways(bench, vlan, out, inb)
        sent = packet(HOST, PEER, 1472, flags="DF")
        same_but_hop(to_vlan(bench, vlan.port_itself(), sent), sent)
        bench.gateway.fill("flush")
        assert f"[port {vlan.name}] mtu: 1450 from now on" in reload(bench, text.replace("= 1400", "= 1450"))
        assert mtu_of(bench, vlan.name) == tap_mtu(bench, vlan) == 1450
        expect_longest(bench, vlan, 1450)
        assert f"[port {vlan.name}] mtu: " in reload(bench, text.replace("= 1400", "= 1501"))
        assert mtu_of(bench, vlan.name) == 1450
        expect_longest(bench, vlan, 1450)
    with usual_again(bench) as usual:
        log = reload(bench, usual + Vlan(bench, more="mtu = 1501\n").section())
        assert f"[port {vlan.name}] mtu: " in log and ports(bench) == ["lan", "wan"], log


def tap_mtu(bench, vlan):
    return json.loads(bench.gateway.in_gw("ip", "-j", "link", "show", "dev", vlan.tap, capture_output=True).stdout)[0]["mtu"]


def test_vlan_mtu_of_tap(bench):
    """A change of the TAP's MTU is followed, but not above what the port's allows; the VLANs of a port whose own MTU
    becomes less follow it."""
    one, both = Vlan(bench), Vlan(bench, "300.40", 5, name="wan.q")
    with vlans(bench, one, both):
        for vlan, most in ((one, 1500), (both, 1492)):
            expect_longest(bench, vlan, most)
            change_mtu(bench, vlan.tap, 1300)
            expect_longest(bench, vlan, 1300)
            mark = os.path.getsize(bench.gateway.log)
            ip("-n", bench.network.gw, "link", "set", vlan.tap, "mtu", "9000")
            refused = f"cannot have MTU 9000, {vlan.tap} goes back to 1300"
            wait_until(lambda mark=mark, refused=refused: bench.gateway.logged(refused, mark), refused)
            wait_until(lambda vlan=vlan: tap_mtu(bench, vlan) == 1300, "the TAP has its MTU again")
            assert mtu_of(bench, vlan.name) == 1300
            expect_longest(bench, vlan, 1300)
            change_mtu(bench, vlan.tap, most)
            expect_longest(bench, vlan, most)
        try:
            change_mtu(bench, "wan", 1400)
            for vlan, most in ((one, 1400), (both, 1392)):
                wait_until(lambda vlan=vlan, most=most: mtu_of(bench, vlan.name) == tap_mtu(bench, vlan) == most,
                           f"{vlan.name} has an MTU of {most}")
                expect_longest(bench, vlan, most)
        finally:
            change_mtu(bench, "wan", 1500)
        change_mtu(bench, both.tap, 1492)
        expect_longest(bench, both, 1492)
        assert mtu_of(bench, one.name) == 1400, "it stays when the port's grows again"


class Flood:
    """Frames of the host in the VLAN to that of the LAN, about a thousand a second while the body runs."""

    def __init__(self, bench, vlan):
        self.wire, self.frame = vlan.wire, vlan.frame(packet(vlan.host, HOST))
        self.bench, self.stop = bench, threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self):
        while not self.stop.is_set():
            self.wire.send(self.frame)
            time.sleep(0.001)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        for _ in self.bench.packets(self.bench.lan, QUIET):
            pass  # until no frame is on its way any more


def expect_removed(bench, vlan):
    """Nothing is left of the VLAN, whose frames are dropped."""
    gateway = bench.gateway
    gateway.hear()
    wait_until(lambda: f"{vlan.address}/32" not in {row["prefix"] for row in gateway.ask("/cygnet/routes").values()},
               "cygnetd has forgotten the address")
    assert f" {vlan.tap}:" not in gateway.in_gw("ip", "-o", "link", capture_output=True, text=True).stdout
    with bench.dropped("vlan-tag", 5):
        vlan.send(*[packet(vlan.host, HOST)] * 5)


def test_vlan_reload(bench):
    """A VLAN is added and removed while packets flow, in it and in a tunnel of the untagged port, which loses none."""
    vlan = Vlan(bench)
    with usual_again(bench) as usual, wires(bench) as wire:
        for _ in range(2):
            with lossless(bench):
                log = reload(bench, usual + vlan.section())
                assert f"cygnetd: port {vlan.name}: " in log and f"TAP {vlan.tap}\n" in log, log
            assert ports(bench) == ["lan", "wan", vlan.name]
            vlan.set_up(wire("wan"))
            bench.gateway.fill("flush")
            both_ways(bench, vlan)
            with Flood(bench, vlan), lossless(bench):
                assert f"port {vlan.name}: removed\n" in reload(bench, usual)
            assert ports(bench) == ["lan", "wan"]
            expect_removed(bench, vlan)
        # Packets for the VLAN are in flight while it is removed.
        reload(bench, usual + vlan.section())
        vlan.set_up(wire("wan"))
        bench.gateway.fill("flush")
        both_ways(bench, vlan, 4)
        with Flood(bench, vlan):
            for _ in range(200):
                bench.lan.send(bench.frame(bench.lan, "lan", packet(HOST, vlan.host)))
            reload(bench, usual)
        expect_removed(bench, vlan)
        both_ways(bench, vlan.port_itself())


def test_vlan_reload_restart(bench):
    """Keys of a VLAN that need a restart are named, and the VLAN stays."""
    vlan = Vlan(bench)
    with vlans(bench, vlan) as text:
        log = reload(bench, text.replace("vlan = 100", "vlan = 101\nvlan_type = 802.1ad"))
        assert f"[port {vlan.name}] vlan: needs a restart; it stays 100\n" in log, log
        assert f"[port {vlan.name}] vlan_type: needs a restart; it stays auto\n" in log, log
        both_ways(bench, vlan)
        with bench.dropped("vlan-tag"):
            vlan.send(packet(vlan.host, HOST), tags=[(C_TAG, 101)])


def test_vlan_reload_port(bench):
    """A port is added and removed with its VLAN. The port is not removed without the VLAN, and the VLAN carries packets
    again when the interface below the port was made anew."""
    vlan = Vlan(bench, port="dmz")
    with usual_again(bench) as usual, Dmz(bench) as dmz, wires(bench) as wire:
        for _ in range(2):
            # The order of the sections does not matter.
            log = reload(bench, usual + vlan.section() + dmz.section)
            assert set(ports(bench)) == {"lan", "wan", "dmz", vlan.name}, log
            dmz.set_up()
            vlan.set_up(wire("dmz"))
            bench.gateway.fill("flush")
            dmz.expect_both_ways()
            both_ways(bench, vlan)
            log = reload(bench, usual + vlan.section(), "stays as it was")
            assert f"[port {vlan.name}] vlan: there is no port dmz\n" in log, log
            both_ways(bench, vlan)
            log = reload(bench, usual)
            assert f"port {vlan.name}: removed\n" in log and "port dmz: removed\n" in log, log
            assert ports(bench) == ["lan", "wan"]
            bench.gateway.hear()
        reload(bench, usual + dmz.section + vlan.section())
        dmz.set_up()
        vlan.set_up(wire("dmz"))
        dmz.port.socket.close()
        vlan.wire.socket.close()
        mark = os.path.getsize(bench.gateway.log)
        ip("-n", bench.network.gw, "link", "del", "dmz-veth")
        bench.network.add_veth("dmz")
        dmz.port = Port(bench.network.far, "dmz")
        wait_until(lambda: bench.gateway.logged("port dmz: carries packets again", mark), "the port has a new device")
        anew = Wire(bench.network.far, "dmz")
        with contextlib.closing(anew.socket):
            dmz.set_up()
            vlan.set_up(anew)
            dmz.expect_both_ways()
            both_ways(bench, vlan)


NO_VLAN = ("4095", "0", "100.4095", "0.100", "1.2.3", "100.", ".100", "lab", "-1", "100,200")
BROKEN = (
    ("[port x.100]\nvlan = 100", "[port x.100] vlan: there is no port x"),
    ("[port wan.5]\nvlan = 5\ndevice = net_af_packet7,iface=dmz-veth",
     "[port wan.5] device: it is a VLAN of port wan, which has the device"),
    ("[port wan.lab]\nvlan = 100\n[port wan.100]\nvlan = 100",
     "[port wan.100] vlan: VLAN 100 of port wan is already port wan.lab"),
    ("[port wan.q]\nvlan = 300.40\n[port wan.q2]\nvlan = 300.40",
     "[port wan.q2] vlan: VLAN 300.40 of port wan is already port wan.q"),
    *((f"[port wan.5]\nvlan = {text}", f"[port wan.5] vlan: '{text}' is no VLAN, such as 100, or 100.200 with two tags")
      for text in NO_VLAN),
    ("[port wan.5]\nvlan = 5\nvlan_type = 0x88a8", "[port wan.5] vlan_type: '0x88a8' is not one of auto, 802.1q, 802.1ad"),
    ("[port wan.5]\nvlan = 5\npriority = 8", "[port wan.5] priority: '8' is not one of "),
    ("[port wan.5]\nvlan = 5\ndscp = sometimes", "[port wan.5] dscp: 'sometimes' is not one of keep, priority"),
)


def test_vlan_broken(bench):
    """Errors of the configuration, each with its line; nothing changes."""
    with usual_again(bench) as usual:
        for section, error in BROKEN:
            log = reload(bench, f"{usual}{section}\n", "stays as it was")
            key = error.split("] ")[1].split(":")[0]
            lines = f"{usual}{section}".splitlines()
            line = max(number for number, text in enumerate(lines, 1) if text.startswith(f"{key} = "))
            assert f"cygnetd: error: {bench.gateway.conf}:{line}: {error}" in log, log
            assert ports(bench) == ["lan", "wan"]
        # VLANs of the same number on different ports, and one beside two tags that begin with it.
        every = [Vlan(bench), Vlan(bench, port="lan"), Vlan(bench, "100.40", name="wan.q")]
        reload(bench, usual + "".join(vlan.section() for vlan in every))
        assert set(ports(bench)) == {"lan", "wan", "wan.100", "lan.100", "wan.q"}


def test_vlan_start(bench):
    """A gateway that has its VLANs from the start; the TAP of one has a name of its own. cygnetctl and telemetry say which
    VLANs there are, and on which port."""
    one, other = Vlan(bench, more="tap = lab0\n"), Vlan(bench, "300.40", 5, name="wan.q")
    one.tap = "lab0"
    sections = one.section() + other.section()
    with wires(bench) as wire, \
            bench.gateway.rewritten(lambda usual: with_main(inside_lan(usual), "no_policy = pass") + sections):
        for vlan in (one, other):
            vlan.set_up(wire("wan"))
        bench.gateway.fill("flush")
        for vlan in (one, other):
            both_ways(bench, vlan)
        wanted = [("lan", "", ""), ("wan", "", ""), ("wan.100", "100", "wan"), ("wan.q", "300.40", "wan")]
        gateway = bench.gateway
        shown = [json.loads(gateway.in_gw(f"{gateway.build}/root/bin/cygnetctl", "-p", gateway.prefix, "--json", "show", "ports",
                                          capture_output=True).stdout), bench.gateway.ask("/cygnet/ports").values()]
        for rows in shown:
            assert [(row["name"], row["vlan"], row["on"]) for row in rows] == wanted, list(rows)
        before = {name: gateway.received(name) for name in ("wan", "wan.100", "wan.q")}
        to_lan(bench, one, packet(one.host, HOST))
        wait_until(lambda: gateway.received("wan.100") > before["wan.100"], "its frames are counted")
        assert gateway.received("wan.q") == before["wan.q"]
        pairs = tunnels(bench, one, other)
        for vlan, (out, inb) in zip((one, other), pairs):
            esp_both_ways(bench, vlan, out, inb)
        # The same after a restart, with sequence numbers that go on.
        gateway.kill()
        gateway.start()
        for vlan, (out, inb) in zip((one, other), pairs):
            vlan.set_up(wire("wan"))
            esp_both_ways(bench, vlan, out, inb)


def test_vlan_capture(bench):
    """Frames of a VLAN are captured with their tags, under its name."""
    vlan, other = Vlan(bench, "300.40"), Vlan(bench, number=4)
    with vlans(bench, vlan, other):
        capture = Capture(bench, "at", "rx,tx", "port", vlan.name)
        for one in (vlan, other):
            both_ways(bench, one, 1)
        got = [(one, *split(one.frame)) for one in capture.end()]
        got = [(one.point, one.words["port"], [tci for _, tci in tags]) for one, tags, rest in got if rest[12:14] == IPV4]
        assert got == [(point, vlan.name, vlan.ids) for point in ("tx", "rx")], got


def test_vlan_trace(bench):
    """A trace of a packet that comes in by a VLAN, or leaves by one."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        assert verdict(bench, f"src {HOST} dst {vlan.host} proto udp") == f"sent {vlan.name}"
        assert verdict(bench, f"in {vlan.name} src {vlan.host} dst {HOST} proto udp") == "sent lan"
        tunnels(bench, vlan)
        assert verdict(bench, f"src {HOST} dst {vlan.far_host} proto udp") == f"sent {vlan.name}"
        assert verdict(bench, f"in {vlan.name} src {vlan.far_host} dst {HOST} proto udp") == "dropped policy-plaintext"


@on_af_packet
def test_vlan_takeover(bench):
    """Another cygnetd takes over: VLANs, and addresses and routes of their TAPs, stay."""
    every = Vlan(bench), Vlan(bench, "300.40", 4)
    with vlans(bench, *every):
        pairs = tunnels(bench, *every)
        for _ in range(2):
            for vlan, pair in zip(every, pairs):
                esp_both_ways(bench, vlan, *pair)
            finish(bench.gateway, *begin(bench.gateway))
            bench.gateway.hear()
        for vlan, pair in zip(every, pairs):
            esp_both_ways(bench, vlan, *pair)


def test_vlan_macvlan(bench):
    """A virtual router's macvlan on the TAP of a VLAN: frames to its MAC address are taken in that VLAN alone."""
    vlan, mac = Vlan(bench), "00:00:5e:00:01:0b"
    with vlans(bench, vlan):
        port = vlan.port_itself()
        try:
            ip_batch(bench.network.gw, [f"link add vrrp1 link {vlan.tap} address {mac} type macvlan mode bridge",
                                        "link set vrrp1 up"])
            wait_until(lambda: bench.gateway.logged(f"takes frames to {mac.upper()}"), "frames to it are taken")
            vlan.mac = mac
            for _ in range(3):
                sent = packet(vlan.host, HOST)
                same_but_hop(to_lan(bench, vlan, sent), sent)
            with bench.dropped("not-ours"):
                port.send(packet(port.host, HOST), to=mac)
        finally:
            ip("-n", bench.network.gw, "link", "del", "vrrp1")


def test_vlan_reload_same_tags(bench):
    """A new section has the tags of one that keeps them until a restart: it is refused, and frames come in by the old one."""
    vlan = Vlan(bench, name="wan.a")
    with vlans(bench, vlan) as text:
        log = reload(bench, text.replace("vlan = 100", "vlan = 200") + Vlan(bench, name="wan.b").section())
        assert "[port wan.b] vlan: port wan.a still has it" in log, log
        assert "wan.b" not in ports(bench)
        both_ways(bench, vlan)
