# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of VLANs share: a wire with all tags of its frames, and VLANs of the gateway with a host each."""
import contextlib
import itertools
import socket
import struct

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import raw

from bench import IPV4, IPV6, QUIET, Bench, is_link_control, packet, policy, same_but_hop
from gateway import HOST, LAN_NET, PEER, WAN, inside_lan
from network import PACKET_OUTGOING, PATIENCE, Port, ip, ip_batch, readable, wait_until
from peer import SUITE, Sa
from test_reload import ports, reload, usual_again, with_main

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
