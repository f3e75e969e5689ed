# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's firewall recognises decrypted packets by their source MAC address, which nobody on the wire can use."""
import contextlib
import os
import socket
import subprocess

from scapy.layers.inet import IP, UDP, fragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import QUIET, policy
from gateway import FAR_HOST, FAR_HOST6, LAN, LAN6, PEER, PEER6, WAN, WAN6
from network import PATIENCE, inside, wait_until
from test_ah import ah_tunnel
from test_esp import cases
from test_transport import host_to_host
from test_tunnel6 import tunnel

DECRYPTED = "02:43:59:47:4e:54"  # TAP_DECRYPTED_MAC
PORT = 7777
NOBODY = 65534
# Rules of an administrator that use the mark set by cygnetd's own rules.
RULES = f"""
add element inet cygnet_ipsec ports {{ wan, lan }}
table inet filter {{
	chain input {{
		type filter hook input priority filter
		meta mark and 0x10000 != 0 udp dport {PORT} accept
		udp dport {PORT} counter drop
	}}
}}
"""


def nft(bench, *words, text=None):
    command = ["ip", "netns", "exec", bench.network.gw, "nft", *words]
    return subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.PIPE).stdout


@contextlib.contextmanager
def socket_of(bench, user, port):
    """A UDP socket in the gateway's kernel that a user's program has created."""
    with inside(bench.network.gw):
        os.seteuid(user)
        try:
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        finally:
            os.seteuid(0)
    with sock:
        sock.bind((WAN, port))
        yield sock


def test_ike_output(bench):
    """Programs of other users than root do not send IKE from charon's ports: the rules that cygnetd.service loads. ESP in
    UDP of the kernel's own SAs has the user whose packet is in it. It is no IKE, so that policies apply to it."""
    esp, marked = b"\x12\x34\x56\x78 is an SPI", b"\0\0\0\0 and IKE"
    bench.gateway.fill("flush")
    nft(bench, "-f", f"{bench.gateway.build}/root/share/cygnet/ike-output.nft")
    try:
        for user, port, data, to, passes in (
                (0, 4500, marked, 9, True), (NOBODY, 4501, marked, 9, True), (NOBODY, 4500, esp, 9, True),
                (NOBODY, 4500, marked, 9, False), (NOBODY, 4500, b"\xff", 9, False), (NOBODY, 4500, esp, 500, False),
                (NOBODY, 500, esp, 9, False), (NOBODY, 500, marked, 4500, False)):
            bench.wan.drain()
            with socket_of(bench, user, port) as sock, \
                    contextlib.nullcontext() if passes else contextlib.suppress(PermissionError):
                sock.sendto(data, (PEER, to))
            if passes:
                assert bench.receive(bench.wan, 1)[0][UDP].sport == port
            else:
                bench.expect_nothing(bench.wan)
        bench.tunnel(more_lines=[policy("out", f"{WAN}-{WAN}", f"{PEER}-{PEER}", action="discard")])
        bench.wan.drain()
        with socket_of(bench, NOBODY, 4500) as sock, bench.dropped("policy-discard"):
            sock.sendto(esp, (PEER, 9))
        bench.expect_nothing(bench.wan)
    finally:
        nft(bench, "delete", "table", "inet", "cygnet_ike")


class Firewall:
    """Firewall rules in the gateway's kernel, and a socket behind them."""

    def __init__(self, bench, address):
        self.bench = bench
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        nft(bench, "-f", f"{bench.gateway.build}/root/share/cygnet/ipsec-mark.nft")
        nft(bench, "-f", "-", text=RULES)
        with inside(bench.network.gw):
            self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.bind((address, PORT))

    def refused(self):
        """Packets that the firewall has dropped."""
        words = nft(self.bench, "list", "chain", "inet", "filter", "input").split("counter packets ")
        return int(words[-1].split()[0])

    def has(self, data):
        self.socket.settimeout(PATIENCE)
        return self.socket.recv(65536) == data

    def has_nothing(self):
        self.socket.settimeout(QUIET)
        with contextlib.suppress(TimeoutError):
            return not self.socket.recv(65536)
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        for table in ("filter", "cygnet_ipsec"):
            nft(self.bench, "delete", "table", "inet", table)


def datagram(src, dst, data):
    header = IPv6 if ":" in dst else IP
    return header(raw(header(src=src, dst=dst) / UDP(sport=8888, dport=PORT) / Raw(data)))


def transport(bench):
    _, inb = host_to_host(bench)
    return inb, PEER, WAN


def in_tunnel(bench):
    _, inb = bench.tunnel()
    return inb, FAR_HOST, LAN


def in_tunnel6(bench):
    _, inb = tunnel(bench, True)
    return inb, FAR_HOST6, LAN6


def in_ah(bench):
    _, inb = ah_tunnel(bench)
    return inb, FAR_HOST, LAN


KINDS = {"tunnel": in_tunnel, "tunnel6": in_tunnel6, "transport": transport, "ah": in_ah}


@cases(*KINDS)
def test_firewall_decrypted(bench, case):
    """Packets out of an SA pass. The same packets in plaintext are dropped: by cygnetd if a policy protects them,
    otherwise by the firewall."""
    inb, src, dst = KINDS[case](bench)
    seal = inb.seal_payload if case == "transport" else inb.seal
    with Firewall(bench, dst) as firewall:
        for data in (b"first", b"second"):
            bench.from_wan(seal(datagram(src, dst, data)))
            assert firewall.has(data)
        with bench.dropped("policy-plaintext"):
            bench.from_wan(datagram(src, dst, b"plain"))
        bench.gateway.fill("flush")
        bench.from_wan(datagram(src, dst, b"plain"))
        wait_until(lambda: firewall.refused() == 1, "the firewall has dropped the plaintext")
        assert firewall.has_nothing()


def test_firewall_pieces(bench):
    """A datagram that comes out of the SA in fragments is reassembled by the kernel, and passes."""
    inb, src, dst = in_tunnel(bench)
    data = bytes(range(256)) * 12
    with Firewall(bench, dst) as firewall:
        for piece in fragment(datagram(src, dst, data), 1000):
            bench.from_wan(inb.seal(piece))
        assert firewall.has(data)
        assert firewall.refused() == 0


@cases("4", "6", "broadcast", "arp", "lldp", "lan")
def test_firewall_forged(bench, case):
    """A frame from the wire with that source address is dropped, whatever its content."""
    bench.gateway.fill("flush")
    port, device = (bench.lan, "lan") if case == "lan" else (bench.wan, "wan")
    to = "ff:ff:ff:ff:ff:ff" if case in ("broadcast", "arp") else bench.gateway.mac[device]
    rest = {
        "6": datagram(PEER6, WAN6, b"forged"),
        "arp": ARP(op=1, hwsrc=DECRYPTED, psrc=PEER, pdst=WAN),
        "lldp": Raw(bytes(40)),
    }.get(case, datagram(PEER, WAN, b"forged"))
    frame = Ether(src=DECRYPTED, dst=to, **({"type": 0x88cc} if case == "lldp" else {})) / rest
    with Firewall(bench, WAN6 if case == "6" else WAN) as firewall:
        with bench.dropped("forged-source"):
            port.send(raw(frame))
        assert firewall.has_nothing()
        assert firewall.refused() == 0


ACCEPTED = {"iptables": (), "ip6tables": ("neighbour-solicitation", "neighbour-advertisement")}


@contextlib.contextmanager
def closed(bench, tables):
    """The gateway's kernel accepts and sends nothing but what it needs to know its neighbours."""
    def change(*words):
        subprocess.run(["ip", "netns", "exec", bench.network.gw, tables, "-w", *words], check=True)

    for chain in ("INPUT", "OUTPUT"):
        for kind in ACCEPTED[tables]:
            change("-A", chain, "-p", "icmpv6", "--icmpv6-type", kind, "-j", "ACCEPT")
        change("-P", chain, "DROP")
    try:
        yield
    finally:
        for chain in ("INPUT", "OUTPUT"):
            change("-P", chain, "ACCEPT")
            change("-F", chain)


def updown(bench, verb, me, peer, protocol):
    """Run the updown script for a CHILD_SA as charon does."""
    words = {"VERB": verb, "INTERFACE": "wan", "ME": me, "MY_PROTOCOL": protocol, "MY_PORT": 0, "PEER_CLIENT": peer,
             "PEER_PROTOCOL": protocol, "PEER_PORT": 0}
    command = ["ip", "netns", "exec", bench.network.gw, "env", *(f"PLUTO_{k}={v}" for k, v in words.items())]
    subprocess.run([*command, f"{bench.gateway.build}/root/libexec/cygnet/updown", "iptables"], check=True)


def rules(bench, tables):
    command = ["ip", "netns", "exec", bench.network.gw, tables, "-S"]
    return subprocess.run(command, text=True, check=True, stdout=subprocess.PIPE).stdout


IP_MTU_DISCOVER, IP_MTU, IPV6_MTU_DISCOVER, IPV6_MTU, PMTUDISC_DO = 10, 14, 23, 24, 2


@cases("4", "4-udp", "6", "6-udp")
def test_firewall_too_big(bench, case):
    """Through a firewall that drops all but what the updown script lets pass, a socket of the gateway's hears how large
    its packets may be. Once the script has removed its rules nothing passes."""
    v6, protocol = case[0] == "6", 17 if case.endswith("udp") else 0
    # The kernel remembers the MTU to a destination.
    host = "82" if protocol else "81"
    here, net, prefix = (LAN6, "2001:db8:2::", "/112") if v6 else (LAN, "10.2.0.", "0/24")
    level, discover, mtu = ((socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_MTU) if v6 else
                            (socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_MTU))
    tables, verb = ("ip6tables", "host-v6") if v6 else ("iptables", "host")
    tunnel(bench, v6)
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
    with sock, closed(bench, tables):
        before = rules(bench, tables)
        updown(bench, f"up-{verb}", here, net + prefix, protocol)
        sock.setsockopt(level, discover, PMTUDISC_DO)
        sock.bind((here, 0))
        sock.connect((net + host, 9))
        assert sock.getsockopt(level, mtu) == 1500
        sock.send(bytes(1400 + 52))
        wait_until(lambda: sock.getsockopt(level, mtu) < 1500, "the socket knows the MTU")
        updown(bench, f"down-{verb}", here, net + prefix, protocol)
        assert rules(bench, tables) == before
