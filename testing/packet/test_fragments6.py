# SPDX-License-Identifier: GPL-2.0-or-later
"""Fragments of IPv6 packets, under policies with ports, which only the first fragment shows."""
import socket

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, defragment6
from scapy.packet import Raw, raw

from bench import packet, policy, same_but_hop
from gateway import FAR_HOST, FAR_HOST6, FAR_NET6, HOST, HOST6, LAN6, LAN_NET6
from network import PATIENCE, inside
from peer import SUITE, Sa
from test_esp import cases
from test_fragments import LONG, ORDERS, mixed, whole
from test_ipv6 import EVERYWHERE, packet6
from test_tunnel6 import flows, tunnel


def pieces(packet, size, number=7, claim=None):
    """The packet in fragments of at most size bytes. @param claim  next header of the later fragments"""
    data, room = raw(packet)[40:], (size - 48) // 8 * 8
    assert len(data) > room, "one part is none"
    return [IPv6(raw(IPv6(src=packet.src, dst=packet.dst, hlim=packet.hlim) / IPv6ExtHdrFragment(
        nh=claim if claim and at else packet.nh, offset=at // 8, m=int(at + room < len(data)), id=number) /
                     Raw(data[at:at + room]))) for at in range(0, len(data), room)]


def joined(parts):
    return IPv6(raw(defragment6(list(parts)))) if parts[0].version == 6 else whole(parts)


def receive_whole(bench):
    """One packet from the WAN, whole or in fragments. @return the packet, length of its longest fragment"""
    parts = bench.receive_pieces(bench.wan)
    return (joined(parts) if len(parts) > 1 else parts[0]), max(len(raw(part)) for part in parts)


def port_policies(bench, outer6, action="protect"):
    """Policies with ports. @return the outbound SA"""
    out = Sa(SUITE["gcm128"], "out", bench.spi(), v6=outer6)
    protect = action == "protect"
    bench.gateway.fill("flush", out.line(),
                       policy("out", LAN_NET6, FAR_NET6, action, more="proto=17 dport=2000-2999",
                              spi=out.spi if protect else 0, v6=outer6),
                       policy("fwd", FAR_NET6, LAN_NET6, more="proto=17 sport=2000-2999"))
    bench.lan.drain()
    bench.wan.drain()
    return out


@cases(*(f"{order}-{outer}" for order in ORDERS for outer in "46"))
def test_put_together6(bench, case):
    """The whole packet is protected, and its ESP packet is fragmented."""
    order, outer = case[:-2], case[-1]
    out = port_policies(bench, outer == "6")
    for size in (1400, 4000, LONG, 65410):
        sent = packet6(size=size)
        bench.from_lan(*ORDERS[order](pieces(sent, 800 if size < 1500 else 1500, size)))
        same_but_hop(out.unseal(receive_whole(bench)[0])[0], sent)


def test_received_long6(bench):
    """Fragmented ESP over IPv6: its inner packet may be fragmented or local."""
    out, inb = tunnel(bench, True)
    sent = packet(FAR_HOST, HOST, LONG, id=3)
    bench.lan.drain()
    bench.from_wan(*mixed(pieces(inb.seal(sent), 1500)))
    same_but_hop(whole(bench.receive(bench.lan, 41)), sent)
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.bind((LAN6, 9))
        sock.settimeout(PATIENCE)
    with sock:
        sent = packet6(FAR_HOST6, LAN6, LONG, dport=9)
        bench.from_wan(*mixed(pieces(inb.seal(sent), 1500, 8)))
        assert sock.recv(65535) == raw(sent[UDP].payload)
    cut = mixed(pieces(inb.seal(packet(FAR_HOST, HOST, LONG)), 1280, 9))
    with bench.dropped("reassembly", len(cut) - 1):
        bench.from_wan(*cut[1:])
    flows(bench, out, inb)


def test_put_together_for_bypass6(bench):
    """A packet that passes is sent in fragments again, none longer than the received ones."""
    port_policies(bench, False, "bypass")
    for size, most in ((3000, 1500), (3000, 1400), (1400, 1300), (1400, 800), (LONG, 1500)):
        sent = packet6(size=size)
        bench.from_lan(*pieces(sent, most, size + most))
        got, longest = receive_whole(bench)
        same_but_hop(got, sent)
        assert longest <= max(most, 1280), longest


def test_put_together_for_discard6(bench):
    port_policies(bench, False, "discard")
    with bench.dropped("policy-discard"):
        bench.from_lan(*pieces(packet6(size=3000), 1500))


def test_put_together_from_wan6(bench):
    """Plaintext that a policy protects does not enter, whole or in fragments; other plaintext does."""
    port_policies(bench, False)
    with bench.dropped("policy-plaintext"):
        bench.from_wan(*pieces(packet6(FAR_HOST6, HOST6, 3000, sport=2222), 1500))
    other = packet6(FAR_HOST6, HOST6, 3000, sport=5)
    bench.from_wan(*pieces(other, 1500))
    same_but_hop(joined(bench.receive(bench.lan, 3)), other)


def test_put_together_from_kernel6(bench):
    """The gateway's kernel fragments its own packets."""
    out = port_policies(bench, False)
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.bind((LAN6, 9))
    with sock:
        sock.sendto(bytes(LONG), (FAR_HOST6, 2222))
        inner, _ = out.unseal(receive_whole(bench)[0])
    assert (inner.src, inner.dst, len(inner[UDP].payload)) == (LAN6, FAR_HOST6, LONG), inner.summary()


def test_put_together_hidden_protocol6(bench):
    """The protocol is the first fragment's, whatever the later ones say (RFC 8200, 4.5)."""
    bench.gateway.fill("flush", *(policy(direction, EVERYWHERE, EVERYWHERE, "discard", more="proto=17")
                                  for direction in ("out", "fwd")))
    bench.wan.drain()
    with bench.dropped("policy-discard"):
        bench.from_lan(*pieces(packet6(size=2000), 1500, claim=253))
    other = IPv6(raw(IPv6(src=HOST6, dst=FAR_HOST6, nh=253) / Raw(bytes(2000))))
    bench.from_lan(*pieces(other, 1500, 8, claim=17))
    same_but_hop(receive_whole(bench)[0], other)


def test_not_put_together6(bench):
    """Incomplete packets are dropped, and fragments with another extension header in front."""
    port_policies(bench, False)
    with bench.dropped("reassembly"):
        bench.from_lan(pieces(packet6(size=2000), 1500)[1])
    first = pieces(packet6(size=2000), 1400)[0]
    with bench.dropped("ipv6-headers"):
        bench.from_lan(IPv6(raw(IPv6(src=HOST6, dst=FAR_HOST6) / IPv6ExtHdrHopByHop() / first.payload)))
