# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets longer than the MTU: fragmented before ESP, reassembled before ESP."""
import contextlib
import random
import socket

from scapy.layers.inet import IP, UDP, IPOption_NOP, defragment, fragment
from scapy.packet import Raw, raw

from bench import ike, packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_HOST, FAR_NET, HOST, LAN, LAN_NET, PEER, WAN
from network import inside, wait_until
from peer import SUITES, Sa
from test_esp import cases
from test_reload import reload, usual_again, with_main


def pieces(packet, size=1480):
    """The packet in IP fragments, as they look on the wire."""
    return [IP(raw(piece)) for piece in fragment(IP(raw(packet)), fragsize=size)]


def numbered(packet, number):
    """The packet with another identification."""
    packet = IP(raw(packet))
    packet.id = number
    del packet.chksum
    return packet


def whole(fragments):
    packets = [packet for packet in defragment(list(fragments)) if not packet.frag and not packet.flags.MF]
    assert len(packets) == 1, [packet.summary() for packet in packets]
    return IP(raw(packets[0]))


def receive_whole(bench):
    """One packet from the WAN, whole or in fragments."""
    return whole(bench.receive_pieces(bench.wan))


@cases("gcm128", "cbc256-sha512", "3des-md5", "gcm128-udp")
def test_cut_before_esp(bench, case):
    """Without DF: each fragment is protected on its own, and no ESP packet is fragmented."""
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
    """A received fragment may be longer than the MTU, and is fragmented again."""
    out, _ = bench.tunnel()
    sent = to_far_host(2000, id=99)
    bench.wan.drain()
    bench.from_lan(*pieces(sent))
    got = bench.receive(bench.wan, 3)
    same_but_hop(whole(out.unseal(outer)[0] for outer in got), sent)


ORDERS = {"in-order": lambda them: them, "reversed": lambda them: them[::-1],
          "last-first": lambda them: them[-1:] + them[:-1]}
LONG = 60000


def mixed(them):
    """A shuffled order, the same in each run."""
    return random.Random(len(them)).sample(them, len(them))


@cases(*(f"{order}-{encap}" for order in ORDERS for encap in ("plain", "udp")))
def test_received_in_pieces(bench, case):
    """ESP in fragments, from a peer that fragments after ESP."""
    order, _, encap = case.rpartition("-")
    out, inb = bench.tunnel(encap=encap == "udp")
    for size in (1480, 400):
        sent = to_host(1472)
        bench.lan.drain()
        bench.from_wan(*ORDERS[order](pieces(inb.seal(sent), size)))
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    bench.expect_flow(out, inb)


def test_many_at_once(bench):
    """Fragments of many packets, interleaved."""
    _, inb = bench.tunnel(window=1024)
    sent = [to_host(1450, id=number) for number in range(100)]
    cut = []
    for number, packet_sent in enumerate(sent):
        cut.append(pieces(numbered(inb.seal(packet_sent), number), 800))
    bench.lan.drain()
    bench.from_wan(*[group[0] for group in cut] + [group[1] for group in cut])
    got = bench.receive(bench.lan, len(sent))
    for packet_got, packet_sent in zip(sorted(got, key=lambda one: one.id), sent):
        same_but_hop(packet_got, packet_sent)


def test_piece_lost(bench):
    """Incomplete packets are dropped as `reassembly`."""
    out, inb = bench.tunnel()
    with bench.dropped("reassembly", 3):  # a unit test checks the time
        for left_out in range(3):
            bench.from_wan(pieces(numbered(inb.seal(to_host(1000)), left_out), 600)[left_out % 2])
    bench.expect_flow(out, inb)


def test_pieces_overlap(bench):
    """Overlapping fragments with different contents."""
    out, inb = bench.tunnel()
    first, last = pieces(inb.seal(to_host(1000)), 600)
    last.frag -= 8
    del last.chksum
    with bench.dropped("reassembly", 2):
        bench.from_wan(first, last)
    # One overlap among many fragments drops the whole packet (RFC 5722).
    cut = mixed(pieces(inb.seal(to_host(LONG))))
    wrong = IP(raw(cut[7]))
    wrong.frag += 1
    del wrong.chksum
    with bench.dropped("reassembly", len(cut) + 1):
        bench.from_wan(*cut[:20] + [wrong] + cut[20:])
    bench.expect_flow(out, inb)


def test_pieces_twice(bench):
    """Duplicate fragments are dropped; the packet is reassembled."""
    _, inb = bench.tunnel()
    sent = to_host(LONG)
    cut = mixed(pieces(numbered(inb.seal(sent), 4)))
    before = bench.gateway.drops().get("reassembly", 0)
    bench.lan.drain()
    bench.from_wan(*[piece for piece in cut[:-1] for _ in range(2)] + cut[-1:])
    same_but_hop(whole(bench.receive(bench.lan, len(pieces(sent)))), sent)
    assert bench.gateway.drops()["reassembly"] - before == len(cut) - 1


def test_too_many_pieces(bench):
    """A packet in too many fragments, and one that would exceed 64 KiB."""
    out, inb = bench.tunnel()
    before = bench.gateway.drops().get("reassembly", 0)
    bench.lan.drain()
    cut = pieces(inb.seal(to_host(1000)), 8)
    assert len(cut) > 128
    bench.from_wan(*cut)
    wait_until(lambda: bench.gateway.drops().get("reassembly", 0) - before == len(cut), "all dropped")
    for wrong in (IP(src=PEER, dst=WAN, proto=50, frag=0x1fff) / Raw(bytes(100)),
                  IP(src=PEER, dst=WAN, proto=50, frag=10) / b"",
                  IP(src=PEER, dst=WAN, proto=50, flags="MF") / Raw(bytes(100))):
        with bench.dropped("malformed"):
            bench.from_wan(wrong)
    # The first fragment's options make it too long.
    cut = pieces(IP(src=PEER, dst=WAN, id=9, proto=50) / Raw(bytes(65500)), 1400)
    first = IP(src=PEER, dst=WAN, id=cut[0].id, proto=50, flags="MF", options=[IPOption_NOP()] * 40)
    with bench.dropped("malformed", len(cut)):
        bench.from_wan(*[first / Raw(raw(cut[0])[20:])] + cut[1:])
    bench.expect_flow(out, inb)


@cases("gcm128", "cbc256-sha512", "ccm128-8", "chacha", "gmac128", "ctr256-xcbc", "3des-md5", "gcm128-udp",
       "cbc128-sha1-esn")
def test_received_long(bench, case):
    """ESP longer than a port's buffer, its fragments in any order, is reassembled."""
    suite = case.removesuffix("-udp").removesuffix("-esn")
    _, inb = bench.tunnel(suite, encap=case.endswith("-udp"), esn=case.endswith("-esn"))
    for size in (1600, 2200, LONG) if case == "gcm128" else (LONG,):
        sent = to_host(size, id=size)
        bench.lan.drain()
        bench.from_wan(*mixed(pieces(inb.seal(sent))))
        same_but_hop(whole(bench.receive(bench.lan, len(pieces(sent)))), sent)


def test_received_longest(bench):
    """The protected packet has IPv4's maximum length."""
    _, inb = bench.tunnel()
    sent = to_host(65450, id=1)
    sealed = inb.seal(sent)
    assert 65530 < len(raw(sealed)) < 65536
    bench.lan.drain()
    bench.from_wan(*pieces(sealed))
    same_but_hop(whole(bench.receive(bench.lan, len(pieces(sent)))), sent)


@contextlib.contextmanager
def not_policed(bench):
    """No policing, so that a flood of fragments reaches the reassembly buffers."""
    with usual_again(bench) as usual:
        reload(bench, with_main(usual, "police_fragments = 0"))
        yield


def test_flood_of_pieces(bench):
    """Incomplete packets of other hosts: forwarded packets still pass, and cygnetd does not run out of
    buffers."""
    out, inb = bench.tunnel()
    sent = to_host(LONG)
    cut = mixed(pieces(inb.seal(sent)))
    flood = [bytearray(bench.frame(bench.wan, "wan", IP(src="203.0.113.200", dst=WAN, proto=proto, id=64 * number,
                                                        flags="MF") / Raw(bytes(1400))))
             for proto in (17, 50) for number in range(400)]
    received = bench.gateway.received("wan")
    with not_policed(bench), bench.dropped("reassembly", len(range(0, len(cut), 15)) * len(flood)):
        for number in range(0, len(cut), 15):
            for frame in flood:
                bench.wan.send(frame)
                # Identification and source change together, so that the checksum stays.
                frame[19] += 1
                frame[29] -= 1
            bench.from_wan(*cut[number:number + 15])
            received += len(flood) + len(cut[number:number + 15])
            wait_until(lambda: bench.gateway.received("wan") >= received, "all received")
        same_but_hop(whole(bench.receive(bench.lan, len(pieces(sent)))), sent)
    bench.expect_flow(out, inb)


@cases("ect0-ce", "ce-ect1", "ect0-ect0", "not-ce", "ce-not")
def test_congestion_of_one_piece(bench, case):
    """ECN marks of fragments are combined (RFC 3168, 5.3) if the sender uses ECN."""
    inb = Sa(SUITES[0], "in", bench.spi(), more="ecn=yes")
    bench.gateway.fill("flush", inb.line(), policy("fwd", FAR_NET, LAN_NET, spi=inb.spi))
    marks = {"not": 0, "ect1": 1, "ect0": 2, "ce": 3}
    outer = [marks[mark] for mark in case.split("-")]
    sent = to_host(3000, tos=2, id=5)
    cut = pieces(numbered(inb.seal(sent), sum(outer)))
    for number, piece in enumerate(cut):
        piece.tos = outer[number % 2]
        del piece.chksum
    if "not" in case:
        with bench.dropped("reassembly"):
            bench.from_wan(*cut)
        return
    bench.lan.drain()
    bench.from_wan(*mixed(cut))
    sent.tos = 3 if "ce" in case else 2
    same_but_hop(whole(bench.receive(bench.lan, len(pieces(sent)))), sent)


def port_policies(bench, action="protect", suite="gcm128", **options):
    """Policies with ports, as peers narrow them. @return the outbound SA"""
    out, inb = bench.tunnel(suite, **options)
    udp = "proto=17 dport=2000-2999"
    bench.gateway.fill("flush", out.line(), inb.line(),
                       policy("out", LAN_NET, FAR_NET, action, more=udp, spi=out.spi if action == "protect" else 0),
                       policy("fwd", FAR_NET, LAN_NET, more="proto=17 sport=2000-2999", spi=inb.spi))
    return out


@cases(*ORDERS)
def test_put_together_for_ports(bench, case):
    """Under a policy with ports a peer accepts no fragment without ports (RFC 4301, 7): the whole packet is
    protected, and its ESP packet is fragmented."""
    out = port_policies(bench)
    for size in (1400, 1600, 2090, LONG, 65450):
        sent = to_far_host(size, id=size)
        bench.wan.drain()
        bench.from_lan(*ORDERS[case](pieces(sent, 800 if size < 1500 else 1480)))
        same_but_hop(out.unseal(receive_whole(bench))[0], sent)
    # The peer does not accept our inner fragments either.
    sent = to_far_host(1472)
    bench.wan.drain()
    bench.from_lan(sent)
    same_but_hop(out.unseal(receive_whole(bench))[0], sent)


def test_put_together_too_long(bench):
    """The packet is too long for ESP."""
    port_policies(bench)
    with bench.dropped("too-big"):
        bench.from_lan(*pieces(to_far_host(65490, id=8)))


@cases("bypass", "discard")
def test_put_together_for_other_policies(bench, case):
    """A reassembled packet that a policy lets pass is sent in fragments again; one that is dropped counts once."""
    port_policies(bench, case)
    sent = to_far_host(LONG, id=9)
    bench.wan.drain()
    if case == "discard":
        with bench.dropped("policy-discard"):
            bench.from_lan(*pieces(sent))
        return
    bench.from_lan(*pieces(sent))
    same_but_hop(whole(bench.receive(bench.wan, len(pieces(sent)))), sent)


def test_put_together_from_wan(bench):
    """Plaintext that a policy protects does not enter, whole or in fragments."""
    port_policies(bench)
    with bench.dropped("policy-plaintext"):
        bench.from_wan(*pieces(packet(FAR_HOST, HOST, 3000, sport=2222)))
    other = packet(FAR_HOST, HOST, 3000, sport=5, id=77)
    bench.lan.drain()
    bench.from_wan(*pieces(other))
    same_but_hop(whole(bench.receive(bench.lan, 3)), other)


def test_put_together_for_transport(bench):
    """The gateway's kernel fragments its own packets."""
    out = Sa(SUITES[0], "out", bench.spi(), more="mode=transport")
    bench.gateway.fill("flush", out.line(), policy("out", f"{WAN}-{WAN}", f"{PEER}-{PEER}", spi=out.spi,
                                                   more="mode=transport"))
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        for size in (1600, 3000, LONG):
            bench.wan.drain()
            sock.sendto(b"k" * size, (PEER, 99))
            _, proto, payload, _ = out.unseal_payload(receive_whole(bench))
            assert (proto, payload[8:]) == (17, b"k" * size)


def between_gateways(direction):
    ends = (WAN, PEER) if direction == "out" else (PEER, WAN)
    return policy(direction, *(f"{end}-{end}" for end in ends))


@cases(*(f"{port}-{order}" for port in (500, 4500) for order in ORDERS))
def test_ike_in_pieces(bench, case):
    """Certificates make IKE messages long. No policy applies to IKE, in fragments or whole."""
    port, _, order = case.partition("-")
    port = int(port)
    bench.tunnel(more_lines=[between_gateways("in"), between_gateways("out")])
    marker = bytes(4) if port == 4500 else b""
    request, answer = ike(b"request." * 500, marker), ike(b"answer.." * 500, marker)
    with bench.listen(port) as sock:
        bench.from_wan(*ORDERS[order](pieces(IP(src=PEER, dst=WAN) / UDP(sport=port, dport=port) / Raw(request))))
        assert sock.recvfrom(8000) == (request, (PEER, port))
        bench.wan.drain()
        sock.sendto(answer, (PEER, port))
        got = whole(bench.receive(bench.wan, 3))
        assert (got.src, got.dst, got[UDP].sport, got[UDP].dport) == (WAN, PEER, port, port)
        assert raw(got[UDP].payload) == answer


def test_other_udp_in_pieces(bench):
    """To another port a policy protects the packet, so no fragment passes in either direction."""
    bench.tunnel(more_lines=[between_gateways("in"), between_gateways("out")])
    with bench.listen(501) as sock:
        with bench.dropped("policy-plaintext"):
            bench.from_wan(*pieces(IP(src=PEER, dst=WAN) / UDP(sport=500, dport=501) / Raw(bytes(3000))))
        with bench.waiting(3):
            sock.sendto(bytes(4000), (PEER, 500))


def test_long_inside_to_the_kernel(bench):
    """A decrypted packet for the gateway, longer than its TAP's MTU."""
    _, inb = bench.tunnel()
    with bench.listen(9, LAN) as sock:
        for size in (1600, LONG):
            sent = packet(FAR_HOST, LAN, size, dport=9)
            bench.from_wan(*pieces(inb.seal(sent)))
            assert sock.recv(65535) == raw(sent[UDP].payload)
