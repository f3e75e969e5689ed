# SPDX-License-Identifier: GPL-2.0-or-later
"""DHCP of the gateway's own client and server bypasses policies that protect everything; no other packet with its
ports does."""
import contextlib
import socket
import time

from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.dhcp6 import DHCP6_Advertise, DHCP6_Rebind, DHCP6_Reply
from scapy.layers.inet import IP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt
from scapy.layers.l2 import Ether
from scapy.packet import Raw, raw

from bench import QUIET, policy
from gateway import FAR_HOST, HOST, LAN, PEER, WAN
from network import PATIENCE, inside, wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_firewall import DECRYPTED
from test_frames import Tap
from test_reload import reload, usual_again, with_main
from test_side import inside_lan

ALL, NONE, SERVER = "255.255.255.255", "0.0.0.0", "192.0.2.254"
ANY, ANY6 = "0.0.0.0-255.255.255.255", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
OURS6, THEIRS6, SERVERS6 = "fe80::1", "fe80::2", "ff02::1:2"
ASIDE = bytes.fromhex("02 43 59 47 4e 44")


def mac_of(bench, device):
    return bytes.fromhex(bench.gateway.mac[device].replace(":", ""))


def message(bench, device, src, dst, op=1, sport=68, dport=67, chaddr=None, more=b"", **fields):
    """A DHCP message. @param op  1: a client's, 2: a server's"""
    data = BOOTP(op=op, chaddr=chaddr or mac_of(bench, device), xid=7) / DHCP(options=[("message-type", 3), "end"])
    return IP(raw(IP(src=src, dst=dst, **fields) / UDP(sport=sport, dport=dport) / Raw(raw(data) + more)))


def answer(bench, device, src, dst, **fields):
    return message(bench, device, src, dst, **{"op": 2, "sport": 67, "dport": 68, **fields})


def from_kernel(bench, device, packet, src=None, dst="ff:ff:ff:ff:ff:ff"):
    frame = raw(Ether(src=src or bench.gateway.mac[device], dst=dst, type=0x86dd if packet.version == 6 else 0x800)) + raw(packet)
    with Tap(bench, device) as tap:
        tap.send(frame)
    return frame


def protect_everything(bench):
    """@return the outbound SA"""
    out, inb = Sa(SUITE["gcm128"], "out", bench.spi()), Sa(SUITE["gcm128"], "in", bench.spi())
    bench.gateway.fill("flush", out.line(), inb.line(),
                       *(policy(direction, ANY, ANY, spi=(out if direction == "out" else inb).spi)
                         for direction in ("out", "in", "fwd")),
                       *(policy(direction, ANY6, ANY6, "discard", v6=True) for direction in ("out", "in", "fwd")))
    bench.lan.drain()
    bench.wan.drain()
    return out


@contextlib.contextmanager
def with_sides(bench, *lines):
    with usual_again(bench) as usual:
        reload(bench, with_main(inside_lan(usual), *lines))
        yield protect_everything(bench)


def leaves(bench, device, packet):
    frame = from_kernel(bench, device, packet)
    port = getattr(bench, device)
    assert any(got[:len(frame)] == frame for got in port.frames(PATIENCE)), f"{packet.summary()} has not left"


def is_protected(bench, out, device, packet, **ether):
    from_kernel(bench, device, packet, **ether)
    inner, _ = out.unseal(bench.receive(bench.wan, 1)[0])
    assert raw(inner) == raw(packet), f"\n got {raw(inner).hex()}\nwant {raw(packet).hex()}"
    bench.expect_nothing()


def rebind6(src=OURS6, dst=SERVERS6, sport=546, dport=547, data=DHCP6_Rebind(), between=None):
    header = IPv6(src=src, dst=dst)
    return IPv6(raw((header / between if between else header) / UDP(sport=sport, dport=dport) / data))


def reply6(dst=THEIRS6, **fields):
    return rebind6(dst=dst, **{"sport": 547, "dport": 546, "data": DHCP6_Reply(), **fields})


def test_dhcp_sent(bench):
    """With sides, a client on the outside port and a server on the inside one."""
    with with_sides(bench):
        leaves(bench, "wan", message(bench, "wan", WAN, ALL))
        leaves(bench, "wan", message(bench, "wan", NONE, ALL))
        leaves(bench, "wan", rebind6())
        leaves(bench, "lan", answer(bench, "lan", LAN, ALL))
        leaves(bench, "lan", answer(bench, "lan", LAN, HOST))
        leaves(bench, "lan", reply6())


def test_dhcp_sent_without_sides(bench):
    """Without sides, a client on any port, a server on none."""
    out = protect_everything(bench)
    leaves(bench, "wan", message(bench, "wan", WAN, ALL))
    is_protected(bench, out, "lan", answer(bench, "lan", LAN, ALL))


def test_dhcp_switched_off(bench):
    with with_sides(bench, "dhcp = no") as out:
        is_protected(bench, out, "wan", message(bench, "wan", WAN, ALL))
        is_protected(bench, out, "lan", answer(bench, "lan", LAN, ALL))
        with bench.dropped("policy-discard"):
            from_kernel(bench, "wan", rebind6())
        with bench.dropped("policy-plaintext"):
            bench.from_wan(answer(bench, "wan", SERVER, WAN))


def forged_from_wan(bench):
    """Packets of the outside port that are not from the client."""
    def client(src=WAN, dst=ALL, **fields):
        return message(bench, "wan", src, dst, **fields)
    good = client()
    wrong_length = IP(raw(good))
    wrong_length[UDP].len -= 8
    no_cookie = IP(raw(good)[:28 + 236] + bytes(4) + raw(good)[28 + 240:])
    short = IP(src=WAN, dst=ALL) / UDP(sport=68, dport=67) / Raw(raw(good)[28:28 + 239])
    tcp = IP(raw(good))
    tcp.proto = 6
    return {
        "other address": client(FAR_HOST), "another port's": client(LAN), "all ones": client(ALL),
        "to a host": client(dst=SERVER), "to a far host": client(dst=FAR_HOST), "subnet": client(dst="192.0.2.255"),
        "source port": client(sport=1068), "destination port": client(dport=68), "both": client(sport=67, dport=67),
        "reply": client(op=2), "no cookie": no_cookie, "short": IP(raw(short)), "length": wrong_length, "tcp": tcp,
        "first fragment": client(flags="MF"), "later fragment": client(frag=8), "options": client(options=[IPOption_NOP()] * 4),
        "a server's": answer(bench, "wan", WAN, ALL), "a server's to a host": answer(bench, "wan", WAN, PEER),
    }


def test_dhcp_sent_forged(bench):
    """Messages that are not from the gateway's client or server are protected like any other packet, or dropped if the
    policy says so."""
    with with_sides(bench) as out:
        for packet in forged_from_wan(bench).values():
            is_protected(bench, out, "wan", IP(raw(packet)))
        # A frame that the kernel bridges has the source MAC address of another station.
        is_protected(bench, out, "wan", message(bench, "wan", NONE, ALL), src="02:00:00:00:00:99")
        for packet in (message(bench, "lan", LAN, ALL), message(bench, "lan", NONE, ALL), answer(bench, "lan", WAN, ALL),
                       answer(bench, "lan", NONE, ALL), answer(bench, "lan", LAN, FAR_HOST), answer(bench, "lan", LAN, HOST, op=1),
                       answer(bench, "lan", LAN, "224.0.0.1")):
            is_protected(bench, out, "lan", packet)
        for device, packet in (
                ("wan", rebind6(src="2001:db8:f::1")), ("wan", rebind6(dst="2001:db8:f::2")), ("wan", rebind6(dst="ff05::1:3")),
                ("wan", rebind6(sport=547)), ("wan", rebind6(data=DHCP6_Advertise())), ("wan", rebind6(data=Raw(b"\x06\0\0"))),
                ("wan", rebind6(between=IPv6ExtHdrDestOpt())), ("wan", reply6()), ("lan", rebind6()), ("lan", reply6(dst=SERVERS6)),
                ("lan", reply6(dst="2001:db8:1::10"))):
            with bench.dropped("policy-discard"):
                from_kernel(bench, device, packet)


def test_dhcp_sent_rate(bench):
    """A hundred messages a second bypass the policies; further ones are protected."""
    out, count, plain, protected = protect_everything(bench), 0, 0, 0
    packet = message(bench, "wan", WAN, ALL)
    frame = raw(Ether(src=bench.gateway.mac["wan"], dst="ff:ff:ff:ff:ff:ff", type=0x800)) + raw(packet)
    before = time.monotonic()
    # Twice as many as may pass, however long that takes.
    with Tap(bench, "wan") as tap:
        while count < 2 * (most := 100 * (2 + time.monotonic() - before)):
            for _ in range(100):
                tap.send(frame)
            for got in bench.receive(bench.wan, 100):
                if got.proto == 50:
                    protected += raw(out.unseal(got)[0]) == raw(packet)
                else:
                    plain += raw(got) == raw(packet)
            count += 100
    assert plain + protected == count
    assert 100 <= plain <= most, plain

    def passes():
        from_kernel(bench, "wan", packet)
        return bench.receive(bench.wan, 1)[0].proto == 17
    wait_until(passes, "the next second's pass")


class Kernel:
    """Packet sockets, and the UDP socket of client or server, in the gateway's kernel behind a port."""

    def __init__(self, bench, device, address, port):
        self.bench, self.device = bench, device
        self.tap = Tap(bench, device)
        with inside(bench.network.gw):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # A socket that is bound to the device also receives packets from 0.0.0.0.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        self.socket.bind((address, port))

    def saw(self, packet, dst):
        """Packet sockets have received it in a frame to that MAC address."""
        source = getattr(self.bench, self.device).mac
        assert self.tap.got(dst + source + b"\x08\x00" + raw(packet)), f"{packet.summary()} is not seen"

    def has(self, packet, timeout=QUIET):
        self.socket.settimeout(timeout)
        with contextlib.suppress(TimeoutError):
            return self.socket.recv(2000) == raw(packet[UDP].payload)
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.tap.socket.close()


def test_dhcp_answer(bench):
    """If a policy protects such packets, only packet sockets, which clients use, receive an answer; without a policy
    the UDP socket receives it as well."""
    packet = answer(bench, "wan", SERVER, WAN)
    with Kernel(bench, "wan", WAN, 68) as kernel:
        protect_everything(bench)
        before = bench.gateway.drops()
        bench.from_wan(packet)
        kernel.saw(packet, ASIDE)
        assert not kernel.has(packet)
        bench.gateway.fill("flush")
        bench.from_wan(packet)
        kernel.saw(packet, mac_of(bench, "wan"))
        assert kernel.has(packet, PATIENCE)
        assert bench.gateway.drops() == before


@cases("192.0.2.77", FAR_HOST, HOST)
def test_dhcp_offer(bench, case):
    """An answer to an address that the gateway does not have yet: packet sockets receive it, and it is never
    forwarded."""
    packet = answer(bench, "wan", SERVER, case)
    for prepare in (protect_everything, lambda bench: bench.gateway.fill("flush")):
        prepare(bench)
        with Kernel(bench, "wan", WAN, 68) as kernel:
            before = bench.gateway.drops()
            bench.lan.drain()
            bench.wan.drain()
            bench.from_wan(packet)
            kernel.saw(packet, ASIDE)
            bench.expect_nothing()
            assert bench.gateway.drops() == before


def refused(bench, device, packet):
    """A drop policy applies: packet sockets do not receive the answer."""
    with Tap(bench, device) as tap:
        with bench.dropped("policy-plaintext"):
            getattr(bench, f"from_{device}")(packet)
        assert not tap.got(ASIDE, QUIET), packet.summary()


def test_dhcp_answer_inside(bench):
    """An inside port has no client: answers are subject to the policies."""
    with with_sides(bench):
        for src, dst in ((HOST, LAN), (HOST, ALL)):
            refused(bench, "lan", answer(bench, "lan", src, dst))
        # To an address that the gateway does not have.
        refused(bench, "lan", answer(bench, "lan", HOST, FAR_HOST))


def test_dhcp_answer_forged(bench):
    """Answers for another client, and packets that are no answer, are refused."""
    other = bytes.fromhex(DECRYPTED.replace(":", ""))
    with with_sides(bench):
        for packet in (answer(bench, "wan", SERVER, WAN, chaddr=other), answer(bench, "wan", SERVER, WAN, op=1),
                       answer(bench, "wan", SERVER, WAN, sport=68), answer(bench, "wan", SERVER, WAN, dport=67),
                       answer(bench, "wan", SERVER, WAN, options=[IPOption_NOP()] * 4),
                       answer(bench, "wan", SERVER, LAN), message(bench, "wan", SERVER, WAN),
                       answer(bench, "wan", SERVER, HOST, chaddr=other)):
            refused(bench, "wan", packet)
        # In fragments, which are reassembled first.
        whole = answer(bench, "wan", SERVER, WAN, more=bytes(256), id=99)
        with bench.dropped("policy-plaintext"):
            for at, flags, rest in ((0, "MF", raw(whole)[20:276]), (32, 0, raw(whole)[276:])):
                bench.from_wan(IP(src=SERVER, dst=WAN, proto=17, id=99, frag=at, flags=flags) / Raw(rest))


def test_dhcp_request(bench):
    """Requests of a host on the inside port reach the server's socket. Others, and those on the outside port, are
    refused."""
    with with_sides(bench), Kernel(bench, "lan", "", 67) as kernel:
        for src, dst in ((NONE, ALL), (HOST, ALL), (HOST, LAN)):
            packet = message(bench, "lan", src, dst)
            before = bench.gateway.drops()
            bench.from_lan(packet)
            kernel.saw(packet, mac_of(bench, "lan"))
            assert kernel.has(packet, PATIENCE), packet.summary()
            assert bench.gateway.drops() == before
        for packet in (message(bench, "lan", FAR_HOST, LAN), message(bench, "lan", HOST, WAN), message(bench, "lan", HOST, LAN, op=2),
                       message(bench, "lan", HOST, LAN, sport=69)):
            with bench.dropped("policy-plaintext"):
                bench.from_lan(packet)
        with bench.dropped("policy-plaintext"):
            bench.from_wan(message(bench, "wan", PEER, WAN))
        kernel.socket.settimeout(QUIET)
        with contextlib.suppress(TimeoutError):
            raise AssertionError(f"the server has {kernel.socket.recvfrom(2000)}")


def test_dhcp6_answer(bench):
    """DHCPv6 between link-local addresses, which no router forwards."""
    with with_sides(bench), Tap(bench, "wan") as tap:
        packet = reply6(src=THEIRS6, dst=OURS6)
        bench.from_wan(packet)
        assert tap.got(mac_of(bench, "wan") + bench.wan.mac + b"\x86\xdd" + raw(packet))
        for wrong in (reply6(src="2001:db8:f::2", dst=OURS6), reply6(src=THEIRS6, dst=OURS6, data=DHCP6_Rebind())):
            with bench.dropped("policy-discard"):
                bench.from_wan(wrong)
