# SPDX-License-Identifier: GPL-2.0-or-later
"""The exception path: packets for the kernel reach it, and its answers leave."""
import contextlib
import json
import socket

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import QUIET, ike, packet, policy, same_but_hop, to_host
from gateway import FAR_HOST, FAR_HOST6, HOST, LAN, LAN6, PEER, PEER6, WAN, WAN6
from network import PATIENCE, inside, ip, wait_until
from test_esp import cases
from test_tunnel6 import tunnel


@cases(500, 4500)
def test_ike(bench, case):
    """IKE to our address reaches its socket once; the answer leaves on the wire."""
    bench.tunnel()
    marker = b"\0\0\0\0" if case == 4500 else b""
    request, answer = ike(b"request" * 9, marker), ike(b"answer" * 9, marker)
    with bench.listen(case) as sock:
        bench.wan.drain()
        bench.from_wan(IP(src=PEER, dst=WAN) / UDP(sport=case, dport=case) / Raw(request))
        data, sender = sock.recvfrom(2000)
        assert (data, sender) == (request, (PEER, case))
        sock.sendto(answer, sender)
        got = bench.receive(bench.wan, 1)[0]
        assert (got.src, got.dst, got[UDP].sport, got[UDP].dport) == (WAN, PEER, case, case)
        assert raw(got[UDP].payload) == answer
        sock.settimeout(0.2)
        try:
            assert not sock.recv(2000), "received twice"
        except TimeoutError:
            pass


@cases(4, 6)
def test_keepalive(bench, case):
    """A NAT keepalive (RFC 3948, 2.3) is consumed: neither charon nor a drop counter sees it."""
    source, destination = (PEER6, WAN6) if case == 6 else (PEER, WAN)
    header = (IPv6 if case == 6 else IP)(src=source, dst=destination)
    bench.tunnel(encap=True)
    before = bench.gateway.counted("keepalives")
    dropped = bench.gateway.drops()
    with bench.listen(4500, destination) as sock:
        bench.from_wan(header / UDP(sport=4500, dport=4500) / Raw(b"\xff"))
        wait_until(lambda: bench.gateway.counted("keepalives") == before + 1, "keepalive counted")
        sock.settimeout(0.2)
        try:
            assert not sock.recv(2000), "a keepalive reached the socket"
        except TimeoutError:
            pass
    assert bench.gateway.drops() == dropped


def test_esp_in_udp_is_not_the_kernels(bench):
    """ESP on port 4500 is decrypted; charon's socket sees nothing of it."""
    _, inb = bench.tunnel(encap=True)
    with bench.listen(4500) as sock:
        bench.lan.drain()
        bench.from_wan(inb.seal(to_host()))
        same_but_hop(bench.receive(bench.lan, 1)[0], to_host())
        sock.settimeout(0.2)
        try:
            assert not sock.recv(2000), "ESP reached the socket"
        except TimeoutError:
            pass


def discarding(bench, v6):
    """SAs at port 5500, and policies that discard plaintext between the gateways. @return the header of packets from
    the peer, and the inbound SA"""
    theirs, ours = (PEER6, WAN6) if v6 else (PEER, WAN)
    _, inb = tunnel(bench, v6, encap=(5500, 4501))
    bench.gateway.fill("ike encap=1500-5500", *(
        policy(direction, *(f"{end}-{end}" for end in ends), "discard", prio=1, v6=v6)
        for direction, ends in (("in", (theirs, ours)), ("out", (ours, theirs)))))
    return (IPv6 if v6 else IP)(src=theirs, dst=ours), inb


def esp_arrives(bench, inb):
    """Send an ESP packet, and expect it decrypted. @return the ESP packet"""
    sealed = inb.seal(to_host())
    bench.lan.drain()
    bench.from_wan(sealed)
    same_but_hop(bench.receive(bench.lan, 1)[0], to_host())
    return sealed


def passes(bench, header, port, marker):
    """IKE comes in at a port and is answered."""
    request, answer = ike(b"request" * 9, marker), ike(b"answer" * 9, marker)
    with bench.listen(port, header.dst) as sock:
        bench.wan.drain()
        bench.from_wan(header / UDP(sport=4500, dport=port) / Raw(request))
        assert sock.recvfrom(2000)[0] == request
        sock.sendto(answer, (header.src, 4500))
        got = bench.receive(bench.wan, 1)[0]
        assert (got.dst, got[UDP].sport, raw(got[UDP].payload)) == (header.src, port, answer)


@cases(4, 6)
def test_ike_on_other_ports(bench, case):
    """If charon uses other ports than 500 and 4500, IKE bypasses the policies at those ports, and no longer at 500 and
    4500; ESP in UDP is accepted at the second one."""
    passing = {1500: "ike", 5500: "ike, esp"}
    with bench.gateway.charon():
        header, inb = discarding(bench, case == 6)
        wait_until(lambda: bench.gateway.ike() == passing, f"{passing} pass")
        passes(bench, header, 1500, b"")
        passes(bench, header, 5500, bytes(4))
        before = bench.gateway.counted("keepalives")
        bench.from_wan(header / UDP(sport=4501, dport=5500) / Raw(b"\xff"))
        wait_until(lambda: bench.gateway.counted("keepalives") == before + 1, "keepalive counted")
        sealed = esp_arrives(bench, inb)
        sealed[UDP].dport = 4500
        with bench.listen(500, header.dst) as sock, bench.dropped("policy-discard", 3):
            bench.from_wan(sealed, header / UDP(sport=500, dport=500) / Raw(ike(b"request")))
            sock.sendto(ike(b"answer"), (header.src, 500))


@cases(4, 6)
def test_ike_ports_of_a_dead_charon(bench, case):
    """After charon's end other programs may use its ports: policies apply to them in both directions, except to
    received ESP."""
    passing, left = {1500: "ike", 5500: "ike, esp"}, {500: "ike", 4500: "ike", 5500: "esp"}
    with bench.gateway.charon():
        header, inb = discarding(bench, case == 6)
        wait_until(lambda: bench.gateway.ike() == passing, f"{passing} pass")
    wait_until(lambda: bench.gateway.ike() == left, f"{left} pass")
    esp_arrives(bench, inb)
    for port in (1500, 5500):
        with bench.listen(port, header.dst) as sock, bench.dropped("policy-discard", 2):
            bench.from_wan(header / UDP(sport=4500, dport=port) / Raw(ike(b"request", bytes(4))))
            sock.sendto(ike(b"answer", bytes(4)), (header.src, 4500))
            sock.settimeout(0.2)
            try:
                assert not sock.recv(2000), "plaintext reached the socket"
            except TimeoutError:
                pass
    for port in (500, 4500):
        passes(bench, header, port, bytes(4))


@cases(4, 6)
def test_ike_destinations(bench, case):
    """A charon that notes where it sends IKE: what looks like IKE passes the policies towards these addresses alone,
    whichever program of this host sends it. IKE comes in from any address."""
    theirs, ours, other = (PEER6, WAN6, FAR_HOST6) if case == 6 else (PEER, WAN, FAR_HOST)
    out, _ = tunnel(bench, case == 6)

    def sent(address):
        """@return a packet that a program sends"""
        bench.wan.drain()
        sock.sendto(ike(b"any payload"), (address, 500))
        return bench.receive(bench.wan, 1)[0]

    def is_plain(address):
        got = sent(address)
        return UDP in got and got.dst == address

    def is_protected(address):
        return out.unseal(sent(address))[0].dst == address
    with bench.gateway.charon() as tell:
        bench.gateway.fill("ike encap=1500-5500", *(
            policy("out", f"{ours}-{ours}", f"{end}-{end}", spi=out.spi, prio=1, v6=case == 6) for end in (theirs, other)))
        wait_until(lambda: 1500 in bench.gateway.ike(), "port 1500 is for IKE")
        with bench.listen(1500, ours) as sock:
            assert is_plain(theirs) and is_plain(other), "a charon that notes nothing may send to any address"
            tell("ike-notes")
            assert is_protected(theirs) and is_protected(other)
            tell(f"ike-note dst={theirs}")
            assert is_plain(theirs) and is_protected(other)
            bench.from_wan((IPv6 if case == 6 else IP)(src=other, dst=ours) / UDP(sport=500, dport=1500) / Raw(ike(b"request")))
            assert sock.recvfrom(2000)[0] == ike(b"request")


NOT_IKE = {"nothing": b"", "text": b"plaintext" * 9, "marker": bytes(4) + b"plaintext" * 9, "esp-dummy": b"\xff\xff",
           "short": ike(b"", bytes(4))[:31], "long": ike(b"", bytes(4)) + b"and more", "version": ike(b"", bytes(4), 0x30),
           "no-spi": bytes(4) + bytes(8) + ike(b"")[8:], "no-marker": ike(b"")}


@cases(4, 6)
def test_ike_by_content(bench, case):
    """Only IKEv1, IKEv2 and keepalives bypass the policies at charon's ports, out and in; other packets do not."""
    theirs, ours = (PEER6, WAN6) if case == 6 else (PEER, WAN)
    header = (IPv6 if case == 6 else IP)(src=theirs, dst=ours)
    bench.gateway.fill("flush", *(policy(direction, *(f"{end}-{end}" for end in ends), "discard", v6=case == 6)
                                  for direction, ends in (("in", (theirs, ours)), ("out", (ours, theirs)))))
    with bench.listen(4500, ours) as natt, bench.listen(500, ours) as sock:
        with bench.dropped("policy-discard", len(NOT_IKE)):
            for text in NOT_IKE.values():
                natt.sendto(text, (theirs, 4501))
        plain = {name: text for name, text in NOT_IKE.items() if name not in ("no-marker", "long")}
        with bench.dropped("policy-discard", 2 * len(plain)):
            for text in plain.values():
                sock.sendto(text, (theirs, 500))
                bench.from_wan(header / UDP(sport=500, dport=500) / Raw(text))
        marked = [text for text in plain.values() if len(text) >= 4 and text[:4] == bytes(4)]
        with bench.dropped("policy-discard", len(marked)):
            for text in marked:
                bench.from_wan(header / UDP(sport=4501, dport=4500) / Raw(text))
        for text in (ike(b"two", bytes(4)), ike(b"one", bytes(4), 0x10), b"\xff"):
            bench.wan.drain()
            natt.sendto(text, (theirs, 4501))
            assert raw(bench.receive(bench.wan, 1)[0][UDP].payload)[:len(text)] == text
        # To port 500 charon sends without the non-ESP marker, even from port 4500.
        natt.sendto(ike(b"bare"), (theirs, 500))
        assert raw(bench.receive(bench.wan, 1)[0][UDP].payload) == ike(b"bare")
        bench.from_wan(header / UDP(sport=4501, dport=4500) / Raw(ike(b"padded", bytes(4)) + bytes(3)))
        assert natt.recv(2000) == ike(b"padded", bytes(4)) + bytes(3)


def replies(port, timeout):
    """ARP frames that arrive, until there was none for timeout seconds."""
    for frame in port.frames(timeout):
        if frame[12:14] == b"\x08\x06" and Ether(frame)[ARP].op == 2:
            yield Ether(frame)[ARP]


@cases("lan", "wan")
def test_arp(bench, case):
    port = getattr(bench, case)
    ours, theirs = (LAN, HOST) if case == "lan" else (WAN, PEER)
    port.drain()
    port.send(Ether(dst="ff:ff:ff:ff:ff:ff", src=port.mac.hex(":")) /
              ARP(op=1, hwsrc=port.mac.hex(":"), psrc=theirs, pdst=ours))
    reply = next(replies(port, PATIENCE), None)
    assert reply, "no ARP reply"
    assert (reply.psrc, reply.hwsrc) == (ours, bench.gateway.mac[case])
    assert not list(replies(port, QUIET)), "several ARP replies"


def test_ping_the_gateway(bench):
    bench.lan.drain()
    bench.from_lan(IP(src=HOST, dst=LAN) / ICMP(id=7, seq=9) / Raw(b"x" * 56))
    reply = bench.receive(bench.lan, 1)[0]
    assert (reply.src, reply.dst, reply[ICMP].type, reply[ICMP].seq) == (LAN, HOST, 0, 9)


def test_tap_down(bench):
    """While the TAP is down, packets for the kernel are dropped with their own reason."""
    def state():
        return next(row["state"] for row in bench.gateway.ask("/cygnet/ports").values() if row["name"] == "lan")
    ping = IP(src=HOST, dst=WAN) / ICMP(id=7, seq=9)
    ip("-n", bench.network.gw, "link", "set", "lan", "down")
    try:
        wait_until(lambda: state() == "down", "cygnetd sees that the TAP is down")
        with bench.dropped("tap-down", 3):
            bench.from_lan(*[ping] * 3)
    finally:
        bench.gateway.set_up_taps()


def test_neighbour_is_asked_for(bench):
    """A packet to a next hop whose MAC address is unknown triggers ARP, and leaves after the answer."""
    bench.tunnel()
    host, mac = "10.1.0.33", "02:00:00:00:00:33"
    bench.lan.drain()
    inb = bench.tunnel()[1]
    bench.from_wan(inb.seal(packet("10.2.0.10", host)))
    asked = next((frame for frame in map(Ether, bench.lan.frames(PATIENCE)) if ARP in frame
                  and frame[ARP].op == 1 and frame[ARP].pdst == host), None)
    assert asked, "no ARP request"
    bench.lan.send(Ether(dst=asked.src, src=mac) /
                   ARP(op=2, hwsrc=mac, psrc=host, hwdst=asked.src, pdst=LAN))
    wait_until(lambda: resolved(bench, host, mac), "the kernel knows the neighbour")

    def arrives():
        bench.from_wan(inb.seal(packet("10.2.0.10", host, dport=99)))
        return any(frame[:6] == bytes.fromhex(mac.replace(":", "")) for frame in bench.lan.frames(0.2))

    wait_until(arrives, "packets to the neighbour")


def resolved(bench, host, mac):
    shown = bench.gateway.in_gw("ip", "-j", "neigh", "show", host, capture_output=True)
    return any(entry.get("lladdr") == mac for entry in json.loads(shown.stdout))


IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_MTU = 10, 2, 14


def test_kernel_learns_the_mtu(bench):
    """A packet of the gateway itself with DF that is too big with ESP: its socket gets the
    MTU, and a packet of that size leaves."""
    out, _ = bench.tunnel()
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        sock.bind((LAN, 0))
        sock.connect(("10.2.0.77", 9))
        bench.wan.drain()
        sock.send(bytes(1472))
        wait_until(lambda: sock.getsockopt(socket.IPPROTO_IP, IP_MTU) < 1500, "the kernel knows the MTU")
        mtu = sock.getsockopt(socket.IPPROTO_IP, IP_MTU)
        assert mtu > 1400, mtu
        bench.expect_nothing(bench.wan)
        try:
            sock.send(bytes(mtu - 28))  # exactly the MTU
        except OSError:  # reports the error about the first packet
            sock.send(bytes(mtu - 28))
        outer = bench.receive(bench.wan, 1)[0]
        inner, _ = out.unseal(outer)
        assert (inner.src, inner.dst, inner.len) == (LAN, "10.2.0.77", mtu)
        assert 1496 <= outer.len <= 1500, outer.len


@contextlib.contextmanager
def route_of_charon(bench, *words):
    """A route as charon installs it if inner and outer family of a tunnel differ."""
    family = "-6" if ":" in words[0] else "-4"
    for what, more in (("rule", ("pref", "220", "table", "220")), ("route", (*words, "table", "220"))):
        ip("-n", bench.network.gw, family, what, "add", *more)
    bench.gateway.hear()
    try:
        yield
    finally:
        ip("-n", bench.network.gw, family, "route", "del", *words, "table", "220")
        ip("-n", bench.network.gw, family, "rule", "del", "pref", "220")


@cases("4-in-6", "6-in-4")
def test_own_packets_on_link(bench, case):
    """The gateway sends through a tunnel to an address that its kernel considers on-link: the packet is protected,
    and the kernel does not wait for neighbour resolution."""
    inner6 = case == "6-in-4"
    out, _ = tunnel(bench, not inner6)
    net, here, there = ("2001:db8:2::/64", LAN6, FAR_HOST6) if inner6 else ("10.2.0.0/24", LAN, FAR_HOST)
    bench.wan.drain()
    with route_of_charon(bench, net, "dev", "wan", "src", here), inside(bench.network.gw):
        with socket.socket(socket.AF_INET6 if inner6 else socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind((here, 0))
            for text in (b"first", b"second"):
                sock.sendto(text, (there, 4000))
                inner, _ = out.unseal(bench.receive(bench.wan, 1)[0])
                assert (inner.src, inner.dst, raw(inner[UDP].payload)) == (here, there, text)
        assert resolved(bench, there, bench.gateway.mac["wan"])
