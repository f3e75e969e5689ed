# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that do not fit into one frame: cut before ESP, put together before ESP."""
import socket

from scapy.layers.inet import IP, UDP, defragment, fragment
from scapy.packet import Raw, raw

from bench import ARRIVE, QUIET, packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_HOST, FAR_NET, HOST, LAN, LAN_NET, PEER, WAN
from network import inside, wait_until
from peer import SUITES, Sa
from test_esp import cases


def pieces(packet, size=1480):
    """The packet in IP fragments, as they look on the wire."""
    return [IP(raw(piece)) for piece in fragment(IP(raw(packet)), fragsize=size)]


def numbered(packet, number):
    """With another identification than the packet before."""
    packet = IP(raw(packet))
    packet.id = number
    del packet.chksum
    return packet


def whole(fragments):
    packets = [packet for packet in defragment(list(fragments)) if not packet.frag and not packet.flags.MF]
    assert len(packets) == 1, [packet.summary() for packet in packets]
    return IP(raw(packets[0]))


def receive_whole(bench):
    """One packet from the WAN, in however many pieces."""
    return whole(bench.receive(bench.wan, 1) + list(bench.packets(bench.wan, QUIET)))


@cases(*(suite.name for suite in SUITES), "gcm128-udp")
def test_cut_before_esp(bench, case):
    """Without DF: each part is protected by itself, and no ESP packet is a fragment."""
    out, inb = bench.tunnel(case.removesuffix("-udp"), encap=case.endswith("-udp"))
    for size in (1440, 1472):
        sent = to_far_host(size, id=size)
        bench.wan.drain()
        bench.from_lan(sent)
        got = bench.receive(bench.wan, 2)
        assert all(not outer.frag and not outer.flags.MF and outer.len <= 1500 for outer in got)
        same_but_hop(whole(out.unseal(outer)[0] for outer in got), sent)
    bench.expect_flow(out, inb)


def test_cut_a_fragment(bench):
    """What arrives as a fragment may have to be cut once more."""
    out, _ = bench.tunnel()
    sent = to_far_host(2000, id=99)
    bench.wan.drain()
    for piece in pieces(sent):
        bench.from_lan(piece)
    got = bench.receive(bench.wan, 3)
    same_but_hop(whole(out.unseal(outer)[0] for outer in got), sent)


ORDERS = {"in-order": lambda them: them, "reversed": lambda them: them[::-1],
          "last-first": lambda them: them[-1:] + them[:-1]}


@cases(*(f"{order}-{encap}" for order in ORDERS for encap in ("plain", "udp")))
def test_received_in_pieces(bench, case):
    """ESP in fragments, as a peer sends it that cuts after ESP."""
    order, _, encap = case.rpartition("-")
    out, inb = bench.tunnel(encap=encap == "udp")
    for size in (1480, 400):
        sent = to_host(1472)
        bench.lan.drain()
        for piece in ORDERS[order](pieces(inb.seal(sent), size)):
            bench.from_wan(piece)
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    bench.expect_flow(out, inb)


def test_many_at_once(bench):
    """The fragments of many packets mixed."""
    _, inb = bench.tunnel(window=1024)
    sent = [to_host(1450, id=number) for number in range(100)]
    cut = []
    for number, packet_sent in enumerate(sent):
        cut.append(pieces(numbered(inb.seal(packet_sent), number), 800))
    bench.lan.drain()
    for piece in [group[0] for group in cut] + [group[1] for group in cut]:
        bench.from_wan(piece)
    got = bench.receive(bench.lan, len(sent))
    for packet_got, packet_sent in zip(sorted(got, key=lambda one: one.id), sent):
        same_but_hop(packet_got, packet_sent)


def test_piece_lost(bench):
    """What never becomes whole is dropped, under its name, and soon."""
    out, inb = bench.tunnel()
    with bench.dropped("reassembly", 3):
        for left_out in range(3):
            bench.from_wan(pieces(numbered(inb.seal(to_host(1000)), left_out), 600)[left_out % 2])
    bench.expect_flow(out, inb)


def test_pieces_overlap(bench):
    """Two that say different things about the same bytes."""
    out, inb = bench.tunnel()
    first, last = pieces(inb.seal(to_host(1000)), 600)
    last.frag -= 8
    del last.chksum
    with bench.dropped("reassembly", 2):
        bench.from_wan(first)
        bench.from_wan(last)
    bench.expect_flow(out, inb)


def test_too_many_pieces(bench):
    """A packet in more pieces than are kept, and one that would be longer than 64 KiB."""
    out, inb = bench.tunnel()
    before = bench.gateway.drops().get("reassembly", 0)
    bench.lan.drain()
    cut = pieces(inb.seal(to_host(1000)), 64)
    for piece in cut:
        bench.from_wan(piece)
    wait_until(lambda: bench.gateway.drops().get("reassembly", 0) - before == len(cut), 3, "all dropped")
    with bench.dropped("malformed"):
        bench.from_wan(IP(src=PEER, dst=WAN, proto=50, frag=0x1fff) / Raw(bytes(100)))
    bench.expect_flow(out, inb)


@cases("gcm128", "cbc128-sha256", "chacha")
def test_received_long(bench, case):
    """ESP that is longer than a buffer of the ports: as long as its pieces are few."""
    out, inb = bench.tunnel(case)
    for size in (1600, 2200, 4000, 11000):
        sent = to_host(size, id=size)
        bench.lan.drain()
        for piece in pieces(inb.seal(sent)):
            bench.from_wan(piece)
        same_but_hop(whole(bench.receive(bench.lan, -(-(size + 8) // 1480))), sent)
    bench.expect_flow(out, inb)


def port_policies(bench, action="protect", suite="gcm128"):
    """Which ask for ports, as peers narrow them. @return the outbound SA"""
    out, inb = bench.tunnel(suite)
    udp = "proto=17 dport=2000-2999"
    bench.gateway.fill("flush", out.line(), inb.line(),
                       policy("out", LAN_NET, FAR_NET, action, more=udp, spi=out.spi if action == "protect" else 0),
                       policy("fwd", FAR_NET, LAN_NET, more="proto=17 sport=2000-2999", spi=inb.spi))
    return out


@cases(*ORDERS)
def test_put_together_for_ports(bench, case):
    """A peer takes no part without ports under such a policy (RFC 4301, 7): all of the
    packet is protected, and its ESP is cut."""
    out = port_policies(bench)
    for size in (1400, 1600, 4000, 11000):
        sent = to_far_host(size, id=size)
        bench.wan.drain()
        for piece in ORDERS[case](pieces(sent, 800 if size < 1500 else 1480)):
            bench.from_lan(piece)
        same_but_hop(out.unseal(receive_whole(bench))[0], sent)
    # Nor does it take what we would have cut.
    sent = to_far_host(1472)
    bench.wan.drain()
    bench.from_lan(sent)
    same_but_hop(out.unseal(receive_whole(bench))[0], sent)


@cases("bypass", "discard")
def test_put_together_for_other_policies(bench, case):
    """What may pass passes in pieces again, what may not is one packet that is dropped."""
    port_policies(bench, case)
    sent = to_far_host(3000, id=9)
    bench.wan.drain()
    if case == "discard":
        with bench.dropped("policy-discard"):
            for piece in pieces(sent):
                bench.from_lan(piece)
        return
    for piece in pieces(sent):
        bench.from_lan(piece)
    same_but_hop(whole(bench.receive(bench.wan, 3)), sent)


def test_put_together_from_wan(bench):
    """In plaintext, what policy wants protected gets in neither whole nor in pieces."""
    port_policies(bench)
    with bench.dropped("policy-plaintext"):
        for piece in pieces(packet(FAR_HOST, HOST, 3000, sport=2222)):
            bench.from_wan(piece)
    other = packet(FAR_HOST, HOST, 3000, sport=5, id=77)
    bench.lan.drain()
    for piece in pieces(other):
        bench.from_wan(piece)
    same_but_hop(whole(bench.receive(bench.lan, 3)), other)


def test_put_together_for_transport(bench):
    """This host's own kernel cuts what it sends."""
    out = Sa(SUITES[0], "out", bench.spi(), more="mode=transport")
    bench.gateway.fill("flush", out.line(), policy("out", f"{WAN}-{WAN}", f"{PEER}-{PEER}", spi=out.spi,
                                                   more="mode=transport"))
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        for size in (1600, 3000, 9000):
            bench.wan.drain()
            sock.sendto(b"k" * size, (PEER, 99))
            _, proto, payload, _ = out.unseal_payload(receive_whole(bench))
            assert (proto, payload[8:]) == (17, b"k" * size)


def test_put_together_never(bench):
    """A part is missing, or says ports without the rest."""
    port_policies(bench)
    with bench.dropped("reassembly", 3):
        for number in range(3):
            bench.from_lan(pieces(to_far_host(1600, id=number))[number % 2])


def listen(bench, port):
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((WAN, port))
        sock.settimeout(ARRIVE)
    return sock


def between_gateways(direction):
    ends = (WAN, PEER) if direction == "out" else (PEER, WAN)
    return policy(direction, *(f"{end}-{end}" for end in ends))


@cases(*(f"{port}-{order}" for port in (500, 4500) for order in ORDERS))
def test_ike_in_pieces(bench, case):
    """Certificates make IKE long. No policy is about it, in fragments or whole."""
    port, _, order = case.partition("-")
    port = int(port)
    bench.tunnel(more_lines=[between_gateways("in"), between_gateways("out")])
    marker = bytes(4) if port == 4500 else b""
    request, answer = marker + b"request." * 500, marker + b"answer.." * 500
    with listen(bench, port) as sock:
        for piece in ORDERS[order](pieces(IP(src=PEER, dst=WAN) / UDP(sport=port, dport=port) / Raw(request))):
            bench.from_wan(piece)
        assert sock.recvfrom(8000) == (request, (PEER, port))
        bench.wan.drain()
        sock.sendto(answer, (PEER, port))
        got = whole(bench.receive(bench.wan, 3))
        assert (got.src, got.dst, got[UDP].sport, got[UDP].dport) == (WAN, PEER, port, port)
        assert raw(got[UDP].payload) == answer


def test_other_udp_in_pieces(bench):
    """To another port: policy says protect, so neither side gets a piece of it."""
    bench.tunnel(more_lines=[between_gateways("in"), between_gateways("out")])
    with listen(bench, 501) as sock:
        with bench.dropped("policy-plaintext"):
            for piece in pieces(IP(src=PEER, dst=WAN) / UDP(sport=500, dport=501) / Raw(bytes(3000))):
                bench.from_wan(piece)
        with bench.held(3):
            sock.sendto(bytes(4000), (PEER, 500))


def test_long_inside_to_the_kernel(bench):
    """Out of the tunnel to the gateway, longer than its TAP's MTU."""
    _, inb = bench.tunnel()
    sent = packet(FAR_HOST, LAN, 1600, dport=9)
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((LAN, 9))
        sock.settimeout(ARRIVE)
    with sock:
        for piece in pieces(inb.seal(sent)):
            bench.from_wan(piece)
        assert sock.recv(4000) == raw(sent[UDP].payload)
