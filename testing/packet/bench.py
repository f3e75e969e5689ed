# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the tests: packets to send, expected output, expected drops."""
import contextlib
import itertools
import socket

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import Ether
from scapy.packet import Raw, raw

from gateway import FAR_HOST, FAR_NET, HOST, LAN_NET, PEER, PEER6, WAN, WAN6
from network import PATIENCE, frames, inside, wait_until
from peer import SUITE, Sa, WrongPacketError, is_plaintext

IPV4, IPV6 = b"\x08\x00", b"\x86\xdd"
# Neighbour and router discovery and listener reports, which the gateway's kernel sends.
LINK_CONTROL = (130, 131, 132, 133, 134, 135, 136, 137, 143)
QUIET = 0.15  # seconds without a frame after which a test assumes that none is sent


def policy(direction, src, dst, action="protect", spi=0, prio=1000, reqid=1, more="", v6=False):
    end = (PEER6 if v6 else PEER) if direction == "out" else (WAN6 if v6 else WAN)
    return (f"policy dir={direction} src={src} dst={dst} action={action} spi={spi:#x} "
            f"end={end} prio={prio} reqid={reqid} {more}")


def ike(text, marker=b"", version=0x20):
    """IKE (RFC 7296, 3.1) with text behind its header."""
    return marker + b"from her" + bytes(8) + bytes([33, version, 34, 8]) + bytes(4) + \
        (28 + len(text)).to_bytes(4, "big") + text


class Bench:
    """A gateway with one pair of SAs between the hosts' nets, unless a test says otherwise."""

    def __init__(self, network, gateway):
        self.network, self.gateway = network, gateway
        self.lan, self.wan = network.lan, network.wan
        self.next_spi = 0x1000

    def spi(self):
        """A new SPI each time, so that no test sees another test's SA."""
        self.next_spi += 1
        return self.next_spi

    def tunnel(self, suite="gcm128", more_lines=(), **options):
        """A fresh SAD and SPD with one tunnel. @return outbound and inbound SA"""
        suite = SUITE[suite] if isinstance(suite, str) else suite
        out = Sa(suite, "out", self.spi(), encap=options.get("encap"), esn=options.get("esn"),
                 more=options.pop("out_more", ""))
        inb = Sa(suite, "in", self.spi(), **options)
        self.gateway.fill("flush", out.line(), inb.line(),
                          policy("out", LAN_NET, FAR_NET, spi=out.spi),
                          policy("in", FAR_NET, LAN_NET, spi=inb.spi),
                          policy("fwd", FAR_NET, LAN_NET, spi=inb.spi), *more_lines)
        return out, inb

    # Consecutive frames from the hosts and from the peer.
    def from_lan(self, *packets):
        for frame in [self.frame(self.lan, "lan", packet) for packet in packets]:
            self.lan.send(frame)

    def from_wan(self, *packets):
        for frame in [self.frame(self.wan, "wan", packet) for packet in packets]:
            self.wan.send(frame)

    def frame(self, port, device, packet):
        data = raw(packet)
        kind = 0x86dd if data[0] >> 4 == 6 else 0x0800
        return raw(Ether(dst=self.gateway.mac[device], src=port.mac.hex(":"), type=kind)) + data

    @staticmethod
    def packets(ports, timeout):
        """IP packets that the gateway sends at a port, or several, without the padding of minimal frames."""
        for frame in frames(ports if isinstance(ports, tuple) else (ports,), timeout):
            if frame[12:14] == IPV4:
                yield Bench.packet_in(frame)
            elif frame[12:14] == IPV6 and not is_link_control(frame[14:]):
                yield IPv6(frame[14:54 + int.from_bytes(frame[18:20], "big")])

    @staticmethod
    def packet_in(frame):
        packet = IP(frame[14:])
        return IP(frame[14:14 + packet.len])

    def receive(self, port, count, timeout=PATIENCE):
        got = list(itertools.islice(self.packets(port, timeout), count))
        assert len(got) == count, f"{len(got)} of {count} packets arrived; drops {self.gateway.drops()}"
        return got

    def receive_pieces(self, port):
        """One packet, as a frame or as fragments, and the packets that follow it."""
        pieces = []
        while not are_whole(pieces):
            pieces += self.receive(port, 1)
        return pieces + list(self.packets(port, QUIET))

    def expect_nothing(self, *ports):
        leaked = list(self.packets(ports or (self.lan, self.wan), QUIET))
        if any(map(is_plaintext, leaked)):
            raise WrongPacketError(f"leaked: {[packet.summary() for packet in leaked]}")
        assert not leaked, f"leaked: {[packet.summary() for packet in leaked]}"

    def drops_since(self, before):
        """Packets dropped by reason since an earlier result of drops()."""
        return {reason: count - before.get(reason, 0) for reason, count in self.gateway.drops().items()
                if count != before.get(reason, 0)}

    def wait_until_dropped(self, reason, before, count=1):
        """Wait until count packets more than before have been dropped for this reason."""
        wait_until(lambda: self.gateway.drops().get(reason, 0) - before >= count, f"{count} {reason}")

    @contextlib.contextmanager
    def dropped(self, reason, count=1):
        """The body drops count packets for this reason and none for another; the gateway sends nothing."""
        before = self.gateway.drops()
        self.lan.drain()
        self.wan.drain()
        yield
        with contextlib.suppress(AssertionError):
            self.wait_until_dropped(reason, before.get(reason, 0), count)
        self.expect_nothing()
        delta = self.drops_since(before)
        assert delta == {reason: count}, f"expected {count} {reason}, dropped {delta}"

    def wait_until_waiting(self, count, before):
        """Wait until count packets more than before have been queued for an SA."""
        wait_until(lambda: self.gateway.counted("waited_for_sa") - before >= count, f"{count} packets wait for an SA")

    @contextlib.contextmanager
    def waiting(self, count=1):
        """The body queues count packets for an SA. They are dropped with their policies, and none leaves.
        The SPD is empty afterwards."""
        with self.dropped("policy-gone", count):
            before = self.gateway.counted("waited_for_sa")
            yield
            self.wait_until_waiting(count, before)
            self.expect_nothing()
            assert self.gateway.counted("waited_for_sa") == before + count
            self.gateway.fill("flush")

    def listen(self, port=7777, address=WAN):
        """@return a UDP socket in the gateway's kernel"""
        with inside(self.network.gw):
            sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((address, port))
        sock.settimeout(PATIENCE)
        return sock

    def usage(self, sa):
        """The result of query_sa()."""
        return self.gateway.query(f"sa-query ipsec={sa.ipsec} spi={sa.spi:#x} dst={sa.dst}")

    def expect_usage(self, packets, size, *sas):
        """Each SA has counted this many packets and bytes."""
        for sa in sas:
            got = self.usage(sa)
            assert (got["packets"], got["bytes"]) == (packets, size), (sa.direction, got)

    def expect_flow(self, out, inb):
        """Both directions still work."""
        self.lan.drain()
        self.wan.drain()
        sent = to_far_host()
        self.from_lan(sent)
        inner, _ = out.unseal(self.receive(self.wan, 1)[0])
        same_but_hop(inner, sent)
        sent = to_host()
        self.from_wan(inb.seal(sent))
        same_but_hop(self.receive(self.lan, 1)[0], sent)


def are_whole(pieces):
    """Whether all fragments of a packet have arrived, or it is not fragmented."""
    end, more = 0, True
    for start, size, more in sorted(map(extent, pieces)):
        if start > end:
            return False
        end = start + size
    return not more


def extent(packet):
    """A fragment's offset, length and more-fragments flag."""
    if packet.version == 4:
        return packet.frag * 8, packet.len - packet.ihl * 4, bool(packet.flags.MF)
    if IPv6ExtHdrFragment not in packet:
        return 0, packet.plen, False
    return packet[IPv6ExtHdrFragment].offset * 8, packet.plen - 8, bool(packet[IPv6ExtHdrFragment].m)


def is_link_control(packet):
    """An IPv6 header, optionally with a router alert behind it."""
    kind = packet[40:41] if packet[6] == 58 else packet[48:49] if packet[6] == 0 else b""
    return kind and kind[0] in LINK_CONTROL


def to_far_host(size=100, ttl=64, **fields):
    """UDP from the host on the LAN; size of the payload in bytes."""
    return packet(HOST, FAR_HOST, size, ttl, **fields)


def to_host(size=100, ttl=64, **fields):
    return packet(FAR_HOST, HOST, size, ttl, **fields)


def packet(src, dst, size=100, ttl=64, sport=1111, dport=2222, **fields):
    data = (f"{src}>{dst} ".encode() * (1 + size // 10))[:size]
    return IP(raw(IP(src=src, dst=dst, ttl=ttl, **fields) / UDP(sport=sport, dport=dport) / Raw(data)))


def same_but_hop(got, sent):
    """got is sent after one hop: TTL decremented, checksum updated, the rest unchanged."""
    if got.version == 6:
        want = IPv6(raw(sent))
        want.hlim -= 1
        assert raw(got) == raw(want), f"\n got {raw(got).hex()}\nwant {raw(want).hex()}"
        return
    want = IP(raw(sent))
    want.ttl -= 1
    del want.chksum
    assert raw(got) == raw(want), f"\n got {raw(got).hex()}\nwant {raw(want).hex()}"
