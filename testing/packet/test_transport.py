# SPDX-License-Identifier: GPL-2.0-or-later
"""ESP in transport mode between the gateway's own kernel and the peer."""
import socket

from scapy.layers.inet import ICMP, IP, TCP, UDP, in4_chksum
from scapy.packet import Raw, raw

from bench import policy, to_far_host
from gateway import PEER, WAN
from network import ip
from peer import SUITES, Sa
from test_esp import cases

OURS, THEIRS = f"{WAN}-{WAN}", f"{PEER}-{PEER}"
# test_esp has each suite.
KINDS = ("gcm128", "cbc128-sha256", "chacha", "null-sha1", "ctr256-xcbc", "gmac128", "ccm128-8", "3des-md5", "gcm128-udp",
         "cbc256-sha512-udp")
BEHIND_NAT, OURS_OUTSIDE = "192.168.9.9", "203.0.113.9"
# The peer's view of its own address and of ours: with a NAT in front of it, of us, of both.
NATS = {"peer": (BEHIND_NAT, WAN), "us": (PEER, OURS_OUTSIDE), "both": (BEHIND_NAT, OURS_OUTSIDE)}


def host_to_host(bench, case="gcm128", more="mode=transport"):
    """SAs in transport mode between the two gateways. @return outbound and inbound SA"""
    suite = {suite.name: suite for suite in SUITES}[case.removesuffix("-udp")]
    options = {"encap": case.endswith("-udp"), "more": "mode=transport"}
    out = Sa(suite, "out", bench.spi(), **options)
    inb = Sa(suite, "in", bench.spi(), **options)
    bench.gateway.fill("flush", out.line(), inb.line(),
                       policy("out", OURS, THEIRS, spi=out.spi, more=more),
                       policy("in", THEIRS, OURS, spi=inb.spi, more=more))
    return out, inb


def from_peer(data, src=PEER, dst=WAN, dport=7777):
    return IP(raw(IP(src=src, dst=dst) / UDP(sport=8888, dport=dport) / Raw(data)))


@cases(*KINDS)
def test_transport_both_ways(bench, case):
    out, inb = host_to_host(bench, case)
    bench.wan.drain()
    with bench.listen() as sock:
        for number, size in enumerate((0, 1, 2, 3, 14, 15, 16, 100, 1000, 1380), 1):
            data = bytes(range(256)) * 6
            bench.from_wan(inb.seal_payload(from_peer(data[:size])))
            got, sender = sock.recvfrom(2000)
            assert (got, sender) == (data[:size], (PEER, 8888)), f"{size} bytes in"
            sock.sendto(data[:size], sender)
            header, proto, payload, seq = out.unseal_payload(bench.receive(bench.wan, 1)[0])
            assert (proto, seq) == (17, number), (proto, seq)
            sent = UDP(payload)
            assert raw(sent.payload) == data[:size], f"{size} bytes out"
            assert in4_chksum(17, IP(src=header.src, dst=header.dst), payload) == 0, "UDP checksum"
    bench.expect_usage(10, 2531 + 10 * 8, out, inb)  # as Linux: without the IP header


def test_transport_keeps_the_header(bench):
    """Options, TOS, identification and DF are unchanged, both of the peer's packets when they reach the kernel and of
    the kernel's packets when they leave."""
    out, inb = host_to_host(bench)
    with bench.listen() as sock:
        bench.wan.drain()
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0xb8)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 33)
        sock.setsockopt(socket.IPPROTO_IP, 4, b"\x01\x01\x01\x00")  # IP_OPTIONS: no operation
        sock.sendto(b"options", (PEER, 8888))
        packet = bench.receive(bench.wan, 1)[0]
        assert (packet.tos, packet.ttl, packet.ihl) == (0xb8, 33, 6), packet.summary()
        _, proto, payload, _ = out.unseal_payload(packet)
        assert (proto, payload[8:]) == (17, b"options")
        inner = IP(raw(IP(src=PEER, dst=WAN, tos=0x28, options=b"\x01\x01\x01\x00") /
                       UDP(sport=8888, dport=7777) / Raw(b"with options")))
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        bench.from_wan(inb.seal_payload(inner))
        data, extra, _, _ = sock.recvmsg(2000, 100)
        assert data == b"with options" and extra[0][2][0] == 0x28, (data, extra)


@cases(*NATS)
def test_transport_checksum_behind_nat(bench, case):
    """The peer's checksum covers addresses that a NAT has changed, on its side or ours: it is computed again (RFC 3948,
    3.1.2). A zero checksum of UDP (none) is kept."""
    _, inb = host_to_host(bench, "gcm128-udp")
    inner = from_peer(b"behind a NAT", *NATS[case])
    with bench.listen() as sock:
        bench.from_wan(inb.seal_payload(inner))
        assert sock.recvfrom(2000) == (b"behind a NAT", (PEER, 8888))
        inner[UDP].chksum = 0
        bench.from_wan(inb.seal_payload(inner))
        assert sock.recvfrom(2000) == (b"behind a NAT", (PEER, 8888))


@cases(*NATS)
def test_transport_tcp_behind_nat(bench, case):
    """A SYN to a closed port is answered by RST: its checksum was right for the kernel."""
    out, inb = host_to_host(bench, "gcm128-udp")
    bench.wan.drain()
    src, dst = NATS[case]
    bench.from_wan(inb.seal_payload(IP(raw(IP(src=src, dst=dst) /
                                           TCP(sport=4000, dport=4001, flags="S", seq=7)))))
    _, proto, payload, _ = out.unseal_payload(bench.receive(bench.wan, 1)[0])
    assert proto == 6 and TCP(payload).flags == "RA" and TCP(payload).ack == 8


def test_transport_ping(bench):
    """The kernel answers; the answer leaves protected."""
    out, inb = host_to_host(bench, "cbc128-sha1")
    bench.wan.drain()
    bench.from_wan(inb.seal_payload(IP(raw(IP(src=PEER, dst=WAN) / ICMP(id=3, seq=4) / Raw(b"abc")))))
    _, proto, payload, _ = out.unseal_payload(bench.receive(bench.wan, 1)[0])
    assert proto == 1 and ICMP(payload).type == 0 and payload[8:] == b"abc"


def test_transport_too_big(bench):
    """With DF the kernel is told the MTU, and sends the next packet accordingly."""
    out, _ = host_to_host(bench, "gcm128")
    with bench.listen() as sock:
        sock.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER: IP_PMTUDISC_DO
        sock.connect((PEER, 8888))
        try:
            with bench.dropped("too-big"):
                sock.send(b"x" * 1472)
            longest = sock.getsockopt(socket.IPPROTO_IP, 14)  # IP_MTU
            assert 1440 <= longest < 1480, f"path MTU {longest}"
            sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # EMSGSIZE, once
            sock.send(b"y" * (longest - 28))
            packet = bench.receive(bench.wan, 1)[0]
            assert 1496 < packet.len <= 1500, f"{packet.len} bytes"
            assert out.unseal_payload(packet)[2][8:] == b"y" * (longest - 28)
        finally:
            ip("-n", bench.network.gw, "route", "flush", "cache")


def test_transport_cut_afterwards(bench):
    """Without DF the whole packet is encrypted, and its ESP packet is fragmented."""
    out, _ = host_to_host(bench, "gcm128")
    with bench.listen() as sock:
        bench.wan.drain()
        sock.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_MTU_DISCOVER: IP_PMTUDISC_DONT
        sock.sendto(b"z" * 1472, (PEER, 8888))
        first, second = bench.receive(bench.wan, 2)
        assert (first.frag, bool(first.flags.MF)) == (0, True), first.summary()
        assert second.frag * 8 == first.len - 20, second.summary()
        whole = IP(raw(IP(src=first.src, dst=first.dst, id=first.id, proto=50) /
                       Raw(raw(first.payload) + raw(second.payload))))
        assert out.unseal_payload(whole)[2][8:] == b"z" * 1472


def test_transport_inner_spoof(bench):
    """A tunnel packet in a transport mode SA is passed to the kernel as another protocol, which refuses it; a
    transport mode packet in a tunnel mode SA is dropped."""
    _, inb = bench.tunnel("gcm128")
    with bench.dropped("esp-padding"):
        bench.from_wan(inb.seal_payload(from_peer(b"not a tunnel")))


def test_transport_sa_for_a_tunnel_policy(bench):
    """The mode of the policy must match that of the SA (RFC 4301, 5.2)."""
    _, inb = host_to_host(bench, more="")
    with bench.dropped("policy-inbound"):
        bench.from_wan(inb.seal_payload(from_peer(b"mode")))


def test_transport_other_hosts(bench):
    """A policy wider than the SA's two hosts protects nobody else in transport mode."""
    out = Sa(SUITES[-1], "out", bench.spi(), more="mode=transport")
    bench.gateway.fill("flush", out.line(),
                       policy("out", "0.0.0.0-255.255.255.255", "0.0.0.0-255.255.255.255",
                              spi=out.spi, more="mode=transport"))
    with bench.dropped("transport"):
        bench.from_lan(to_far_host())
