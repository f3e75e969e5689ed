# SPDX-License-Identifier: GPL-2.0-or-later
"""ESP in transport mode with IPv6, between the gateway's own kernel and the peer."""
import contextlib
import socket

from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (HBHOptUnknown, ICMPv6EchoReply, ICMPv6EchoRequest, IPv6,
                                IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting, PadN, defragment6, in6_chksum)
from scapy.layers.ipsec import ESP
from scapy.packet import Raw, raw

from bench import policy
from gateway import PEER6, WAN6
from network import ip
from peer import SUITE, Sa
from test_esp import cases
from test_ipv6 import packet6

OURS, THEIRS = f"{WAN6}-{WAN6}", f"{PEER6}-{PEER6}"
BEHIND_NAT = "2001:db8:9::9"
HEADERS = {"hop": IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0\0")]),
           "routing": IPv6ExtHdrRouting(type=0, segleft=0, addresses=["2001:db8::5"]),
           "options": IPv6ExtHdrDestOpt(options=[HBHOptUnknown(otype=0x1e, optdata=b"abcd")])}


def host_to_host(bench, case="gcm128"):
    """SAs in transport mode between the two gateways. @return outbound and inbound SA"""
    suite = SUITE[case.removesuffix("-udp")]
    options = {"encap": case.endswith("-udp"), "more": "mode=transport", "v6": True}
    out, inb = Sa(suite, "out", bench.spi(), **options), Sa(suite, "in", bench.spi(), **options)
    bench.gateway.fill("flush", out.line(), inb.line(),
                       policy("out", OURS, THEIRS, spi=out.spi, more="mode=transport", v6=True),
                       policy("in", THEIRS, OURS, spi=inb.spi, more="mode=transport", v6=True))
    return out, inb


def from_peer(data, src=PEER6, dport=7777):
    return IPv6(raw(IPv6(src=src, dst=WAN6) / UDP(sport=8888, dport=dport) / Raw(data)))


def seal(inb, packet, front=(), **fields):
    """ESP behind the extension headers of front, around everything else that follows the IPv6 header."""
    data = raw(inb._close(raw(packet)[40:], packet.nh))  # pylint: disable=protected-access
    nh = 50
    if inb.encap:
        header = UDP(sport=inb.encap[1], dport=inb.encap[0], chksum=0)
        data, nh = raw(header / Raw(data)), 17
    return chain(IPv6(src=inb.src, dst=inb.dst, **fields), front, nh, data)


def chain(header, front, nh, data):
    """A packet with the extension headers of front, and another payload behind them."""
    numbers = [{"hop": 0, "routing": 43, "options": 60}[name] for name in front] + [nh]
    extensions = b""
    for name, follows in zip(front, numbers[1:]):
        extensions += bytes([follows]) + raw(HEADERS[name])[1:]
    header.nh, header.plen = numbers[0], len(extensions) + len(data)
    return IPv6(raw(header)[:40] + extensions + data)


def unseal(out, packet, front=0, high=0):
    """Decrypt a packet that left, with ESP behind front bytes of extension headers.
    @return next header, payload, sequence number"""
    data = raw(packet)
    assert (packet.src, packet.dst) == (out.src, out.dst), packet.summary()
    assert packet.plen == len(data) - 40, "payload length"
    data = data[40 + front:]
    if out.encap:
        udp = UDP(data[:8])
        assert (udp.sport, udp.dport, udp.len) == (*out.encap, len(data)), udp.summary()
        assert udp.chksum and in6_chksum(17, IPv6(raw(packet)[:40]), data) == 0, "UDP checksum"
        data = data[8:]
    plain, seq = out._open(ESP(data), high)  # pylint: disable=protected-access
    return plain.nh, plain.data, seq


@cases("gcm128", "cbc128-sha256", "chacha", "null-sha1", "gcm128-udp", "cbc256-sha512-udp")
def test_transport6_both_ways(bench, case):
    out, inb = host_to_host(bench, case)
    bench.wan.drain()
    with bench.listen(address=WAN6) as sock:
        for number, size in enumerate((0, 1, 2, 3, 14, 15, 16, 100, 1000, 1380), 1):
            data = (bytes(range(256)) * 6)[:size]
            bench.from_wan(seal(inb, from_peer(data)))
            got, sender = sock.recvfrom(2000)
            assert (got, sender[:2]) == (data, (PEER6, 8888)), f"{size} bytes in"
            sock.sendto(data, (PEER6, 8888))
            packet = bench.receive(bench.wan, 1)[0]
            assert packet.nh == (17 if out.encap else 50)
            proto, payload, seq = unseal(out, packet)
            assert (proto, seq, payload[8:]) == (17, number, data), f"{size} bytes out"
            assert in6_chksum(17, IPv6(src=WAN6, dst=PEER6), payload) == 0, "checksum inside"
    bench.expect_usage(10, 2531 + 10 * 8, out, inb)  # as Linux: without the IP header


@cases("hop", "routing", "options", "hop-options-routing", "hop-routing-options")
def test_transport6_extensions_in(bench, case):
    """The datagram arrives with any extension headers in front of ESP and inside it."""
    _, inb = host_to_host(bench)
    data = raw(from_peer(b"behind"))[40:]
    behind = IPv6(raw(chain(IPv6(src=PEER6, dst=WAN6), ("options",), 17, data)))
    with bench.listen(address=WAN6) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
        for inner in (from_peer(b"behind"), behind):
            bench.from_wan(seal(inb, inner, case.split("-"), tc=0x28))
            got, extra, _, _ = sock.recvmsg(2000, 100)
            assert got == b"behind" and extra[0][2][0] == 0x28, (got, extra)
    bench.expect_usage(2, 14 + 22, inb)  # bytes inside ESP


def test_transport6_extensions_out(bench):
    """ESP is inserted behind the headers for routers and in front of those for the destination
    (RFC 4303, 3.1.1)."""
    out, _ = host_to_host(bench)
    hop, options = bytes([0, 0, 1, 4, 0, 0, 0, 0]), bytes([0, 0, 0x1e, 4]) + b"abcd"
    with bench.listen(address=WAN6) as sock:
        bench.wan.drain()
        sock.setsockopt(socket.IPPROTO_IPV6, 54, hop)      # IPV6_HOPOPTS
        sock.setsockopt(socket.IPPROTO_IPV6, 59, options)  # IPV6_DSTOPTS
        sock.sendto(b"between", (PEER6, 8888))
        packet = bench.receive(bench.wan, 1)[0]
        assert packet.nh == 0 and raw(packet)[40] == 50, "hop-by-hop options, then ESP"
        assert raw(packet)[42:48] == hop[2:]
        proto, payload, _ = unseal(out, packet, 8)
        assert (proto, payload[:8]) == (60, b"\x11" + options[1:]), payload.hex()
        assert in6_chksum(17, IPv6(src=WAN6, dst=PEER6), payload[8:]) == 0
        assert payload[16:] == b"between"
    bench.expect_usage(1, 23, out)  # bytes inside ESP


def test_transport6_checksum_behind_nat(bench):
    """The peer's checksum covers the address that it had before the NAT (RFC 3948, 3.1.2)."""
    _, inb = host_to_host(bench, "gcm128-udp")
    with bench.listen(address=WAN6) as sock:
        for front in ((), ("options",)):
            inner = from_peer(b"behind a NAT", src=BEHIND_NAT)
            bench.from_wan(seal(inb, inner, front))
            assert sock.recvfrom(2000)[0] == b"behind a NAT"


def test_transport6_tcp_behind_nat(bench):
    """A SYN to a closed port is answered by RST: its checksum was right for the kernel."""
    out, inb = host_to_host(bench, "gcm128-udp")
    bench.wan.drain()
    bench.from_wan(seal(inb, IPv6(raw(IPv6(src=BEHIND_NAT, dst=WAN6) /
                                      TCP(sport=4000, dport=4001, flags="S", seq=7)))))
    proto, payload, _ = unseal(out, bench.receive(bench.wan, 1)[0])
    assert proto == 6 and TCP(payload).flags == "RA" and TCP(payload).ack == 8


def test_transport6_checksum_stays(bench):
    """Without UDP around ESP the checksum is the peer's: a wrong one stays wrong."""
    _, inb = host_to_host(bench)
    with bench.listen(address=WAN6) as sock:
        wrong = from_peer(b"wrong")
        wrong[UDP].chksum ^= 1
        bench.from_wan(seal(inb, wrong))
        bench.from_wan(seal(inb, from_peer(b"right")))
        assert sock.recvfrom(2000)[0] == b"right"


def test_transport6_ping(bench):
    """The kernel answers; the answer leaves protected."""
    out, inb = host_to_host(bench, "cbc128-sha1")
    bench.wan.drain()
    bench.from_wan(seal(inb, IPv6(raw(IPv6(src=PEER6, dst=WAN6) /
                                      ICMPv6EchoRequest(id=3, seq=4, data=b"abc")))))
    proto, payload, _ = unseal(out, bench.receive(bench.wan, 1)[0])
    assert proto == 58 and ICMPv6EchoReply(payload).data == b"abc"


def test_transport6_too_big(bench):
    """The kernel is told the MTU, and sends the next packets accordingly."""
    out, _ = host_to_host(bench, "gcm128")
    with bench.listen(address=WAN6) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, 23, 2)  # IPV6_MTU_DISCOVER: IPV6_PMTUDISC_DO
        sock.connect((PEER6, 8888))
        try:
            with bench.dropped("too-big"):
                sock.send(b"x" * 1452)
            longest = sock.getsockopt(socket.IPPROTO_IPV6, 24)  # IPV6_MTU
            assert 1440 <= longest < 1480, f"path MTU {longest}"
            with contextlib.suppress(OSError):  # EMSGSIZE, once
                sock.send(b"")
            bench.wan.drain()
            sock.send(b"y" * (longest - 48))
            packet = bench.receive(bench.wan, 1)[0]
            assert 1496 < len(raw(packet)) <= 1500, len(raw(packet))
            assert unseal(out, packet)[1][8:] == b"y" * (longest - 48)
        finally:
            ip("-n", bench.network.gw, "-6", "route", "flush", "cache")


def test_transport6_refused(bench):
    """Refused packets: not between the SA's hosts; a fragment; decrypted extension headers that are not allowed
    there."""
    out, inb = host_to_host(bench)
    with bench.dropped("ipv6-headers"):
        bench.from_wan(seal(inb, IPv6(raw(IPv6(src=PEER6, dst=WAN6, nh=44) / Raw(b"\x11\0\0")))))
    bench.gateway.fill(policy("out", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                              "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", spi=out.spi,
                              more="mode=transport", v6=True, prio=2000))
    with bench.dropped("transport", 2):
        bench.from_lan(packet6())
        bench.from_lan(fragment6())


def test_transport6_put_together(bench):
    """A packet that the kernel has fragmented is reassembled and protected as a whole; its ESP packet is fragmented."""
    out, _ = host_to_host(bench)
    with bench.listen(address=WAN6) as sock:
        for size in (1600, 3000):
            bench.wan.drain()
            sock.sendto(b"k" * size, (PEER6, 99))
            outer = IPv6(raw(defragment6(bench.receive_pieces(bench.wan))))
            proto, payload, _ = unseal(out, outer)
            assert (proto, payload[8:]) == (17, b"k" * size)


def fragment6():
    whole = packet6(size=64)
    return IPv6(raw(IPv6(src=whole.src, dst=whole.dst) / IPv6ExtHdrFragment(nh=17, offset=0, m=1, id=5) /
                    Raw(raw(whole)[40:104])))
