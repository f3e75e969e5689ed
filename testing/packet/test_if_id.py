# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels with interface IDs: the kernel's routes say what is protected."""
import contextlib
import errno
import socket

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6ND_NS, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw, raw

from bench import ike, packet, policy, same_but_hop
from gateway import FAR_NET, HOST, HOST6, LAN, LAN_NET, PEER, WAN, inside_lan
from network import PATIENCE, inside, ip, ip_batch, wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_fragments import pieces
from test_frames import Tap
from test_ipv6 import packet6
from test_reload import ports, reload, usual_again, with_main
from vlan import row_of

IP_RECVERR = 11
ALL, ALL6 = "0.0.0.0-255.255.255.255", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"


class Tunnel:
    """A tunnel of the gateway's. All addresses are in its policies; routes lead to its networks."""

    def __init__(self, bench, name="vpn0", if_id=42, number=42, peer=PEER, more=""):
        self.bench, self.name, self.if_id, self.peer, self.more = bench, name, if_id, peer, more
        self.address, self.far_end = f"169.254.{number}.1", f"169.254.{number}.2"
        self.route, self.route6 = f"10.{number}.0.0/24", f"2001:db8:{number}::/64"
        self.far_host, self.far_host6 = f"10.{number}.0.10", f"2001:db8:{number}::10"
        self.out = self.inb = None
        self.before = (0, 0, 0, 0)

    def section(self):
        return f"[tunnel {self.name}]\nif_id = {self.if_id}\n{self.more}"

    def set_up(self):
        gw = self.bench.network.gw
        ip_batch(gw, [f"address replace {self.address}/30 dev {self.name}", f"link set {self.name} up",
                      f"route replace {self.route} dev {self.name}", f"route replace {self.route6} dev {self.name}"])
        wait_until(lambda: {self.route, self.route6, f"{self.address}/32"} <= prefixes(self.bench),
                   f"cygnetd knows the routes of {self.name}")
        self.bench.gateway.hear()
        self.before = self.counts(since=(0, 0, 0, 0))  # one of that name may have been there

    def lines(self, suite="gcm128", sa_id=None, policy_id=None, reqid=None):
        """Fresh SAs and policies of both families. @param sa_id,policy_id  words instead of its interface ID"""
        reqid = reqid or self.if_id
        words = f"if-id={self.if_id}"
        sa_words, policy_words = (words if given is None else given for given in (sa_id, policy_id))
        self.out = Sa(SUITE[suite], "out", self.bench.spi(), reqid=reqid, more=sa_words)
        self.inb = Sa(SUITE[suite], "in", self.bench.spi(), reqid=reqid, more=sa_words)
        self.out.dst = self.inb.src = self.peer
        lines = [self.out.line(), self.inb.line()]
        for everything in (ALL, ALL6):
            lines.append(policy("out", everything, everything, spi=self.out.spi, reqid=reqid, more=policy_words)
                         .replace(f"end={PEER} ", f"end={self.peer} "))
            lines += [policy(direction, everything, everything, spi=self.inb.spi, reqid=reqid, more=policy_words)
                      for direction in ("in", "fwd")]
        return lines

    def to_peer(self, sent):
        """@return a packet from the LAN as the peer decrypts it"""
        self.bench.wan.drain()
        self.bench.from_lan(sent)
        return self.out.unseal(self.bench.receive(self.bench.wan, 1)[0])[0]

    def from_peer(self, sent):
        """@return a packet of the peer's as it leaves by the LAN"""
        self.bench.lan.drain()
        self.bench.from_wan(self.inb.seal(sent))
        return self.bench.receive(self.bench.lan, 1)[0]

    def both_ways(self, times=3):
        """The first packet passes the stages; the others may be of a known flow."""
        for _ in range(times):
            for sent in (packet(HOST, self.far_host), packet6(HOST6, self.far_host6)):
                same_but_hop(self.to_peer(sent), sent)
            for sent in (packet(self.far_host, HOST), packet6(self.far_host6, HOST6)):
                same_but_hop(self.from_peer(sent), sent)

    def counts(self, since=None):
        """@return packets and bytes that have come in, and those that have left, since it was set up"""
        row = row_of(self.bench, self.name)
        now = (row[f"{way}_{what}"] for way in ("rx", "tx") for what in ("packets", "bytes"))
        return tuple(count - then for count, then in zip(now, since or self.before))


def prefixes(bench):
    return {row["prefix"] for row in bench.gateway.ask("/cygnet/routes").values()}


@contextlib.contextmanager
def tunnels(bench, *every, main=("no_policy = pass",)):
    """The usual gateway with tunnels, which are added by reload, without SAs. Only the LAN is inside. @return the
    configuration"""
    try:
        with usual_again(bench) as usual:
            text = with_main(inside_lan(usual), *main) + "".join(tunnel.section() for tunnel in every)
            log = reload(bench, text)
            assert set(ports(bench)) == {"lan", "wan", *(tunnel.name for tunnel in every)}, log
            for tunnel in every:
                tunnel.set_up()
            bench.gateway.fill("flush")
            yield text
    finally:
        bench.gateway.hear()


@contextlib.contextmanager
def one_tunnel(bench, **options):
    """One, with SAs."""
    tunnel = Tunnel(bench, **options)
    with tunnels(bench, tunnel):
        bench.gateway.fill(*tunnel.lines())
        yield tunnel


@cases("gcm128", "cbc128-sha256")
def test_if_id_both_ways(bench, case):
    """Policies for all addresses protect what is routed to the tunnel, of both families, and nothing else."""
    tunnel = Tunnel(bench)
    with tunnels(bench, tunnel):
        bench.gateway.fill(*tunnel.lines(case))
        before = bench.gateway.counted("shortcut")
        for _ in range(2):
            sent = packet(HOST, PEER)
            bench.wan.drain()
            bench.from_lan(sent)
            same_but_hop(bench.receive(bench.wan, 1)[0], sent)
            tunnel.both_ways()
            sent = packet(PEER, HOST)
            bench.lan.drain()
            bench.from_wan(sent)
            same_but_hop(bench.receive(bench.lan, 1)[0], sent)
        assert bench.gateway.took_fast_path(before)


def test_if_id_counters(bench):
    """A tunnel counts the packets inside, whether their flow is known or not."""
    with one_tunnel(bench) as tunnel:
        shortcut = bench.gateway.counted("shortcut")
        for count in range(1, 6):
            before = tunnel.counts()
            tunnel.to_peer(packet(HOST, tunnel.far_host, 100))
            for _ in range(2):
                tunnel.from_peer(packet(tunnel.far_host, HOST, 200))
            sizes = (2, 2 * 228, 1, 128)
            want = tuple(map(sum, zip(before, sizes)))
            wait_until(lambda want=want: tunnel.counts() == want, f"{want} are counted, round {count}")
        assert bench.gateway.took_fast_path(shortcut, 5)


def test_if_id_several(bench):
    """Tunnels with the same selectors and the same peer: the route decides where a packet goes, and the SA where it
    comes from."""
    every = [Tunnel(bench, f"vpn{number}", 40 + number, 40 + number) for number in range(4)]
    with tunnels(bench, *every):
        bench.gateway.fill(*(line for tunnel in every for line in tunnel.lines()))
        for tunnel in every:
            tunnel.both_ways(2)
        for tunnel in every:
            packets = tunnel.counts()[::2]
            assert packets == (4, 4), packets


def test_if_id_one_for_two_peers(bench):
    """One tunnel with the SAs of two peers, told apart by their selectors."""
    with one_tunnel(bench) as tunnel:
        other = Sa(SUITE["gcm128"], "out", bench.spi(), reqid=7, more="if-id=42")
        back = Sa(SUITE["gcm128"], "in", bench.spi(), reqid=7, more="if-id=42")
        net = "10.42.0.128-10.42.0.255"
        bench.gateway.fill(other.line(), back.line(),
                           policy("out", ALL, net, spi=other.spi, reqid=7, prio=900, more="if-id=42"),
                           *(policy(way, net, ALL, spi=back.spi, reqid=7, prio=900, more="if-id=42") for way in ("in", "fwd")))
        tunnel.both_ways()
        sent = packet(HOST, "10.42.0.200")
        bench.wan.drain()
        bench.from_lan(sent)
        same_but_hop(other.unseal(bench.receive(bench.wan, 1)[0])[0], sent)
        with bench.dropped("policy-inbound"):
            bench.from_wan(back.seal(packet(tunnel.far_host, HOST)))
        with bench.dropped("policy-inbound"):
            bench.from_wan(tunnel.inb.seal(packet("10.42.0.200", HOST)))


def unreachable(bench, sent, reason="tunnel-policy"):
    """A packet from the LAN is dropped, and its host hears of it."""
    before = bench.gateway.drops()
    bench.lan.drain()
    bench.wan.drain()
    bench.from_lan(sent)
    error = bench.receive(bench.lan, 1)[0]
    if sent.version == 6:
        assert ICMPv6DestUnreach in error and raw(sent)[24:40] == raw(error[ICMPv6DestUnreach].payload)[24:40]
    else:
        assert (error[ICMP].type, error.dst) == (3, sent.src) and raw(error[ICMP].payload)[16:20] == raw(sent)[16:20]
    bench.expect_nothing(bench.wan)
    assert bench.drops_since(before) == {reason: 1}


# What a tunnel's SAs and policies have instead of its interface ID.
OTHERS = {"none": ("", ""), "other": ("if-id=43", "if-id=43"), "policy-none": (None, ""), "policy-other": (None, "if-id=43")}


@cases(*OTHERS)
def test_if_id_out_of_others(bench, case):
    """No policy without the tunnel's interface ID protects what is routed to it, and it never leaves in plaintext."""
    tunnel, other = Tunnel(bench), Tunnel(bench, "vpn1", 43, 43)
    with tunnels(bench, tunnel, other):
        sa_id, policy_id = OTHERS[case]
        # Without policies about plaintext that comes in, and about errors to the LAN.
        lines = [line.replace(f"dst={ALL} ", "dst=10.42.0.0-10.42.0.255 ")
                 .replace(f"dst={ALL6} ", "dst=2001:db8:42::-2001:db8:42::ffff ")
                 for line in tunnel.lines(sa_id=sa_id, policy_id=policy_id) if "dir=in" not in line and "dir=fwd" not in line]
        bench.gateway.fill(*lines)
        unreachable(bench, packet(HOST, tunnel.far_host))
        unreachable(bench, packet6(HOST6, tunnel.far_host6))


@cases("bypass", "discard", "nothing")
def test_if_id_out_without(bench, case):
    """Nor does it leave by a policy that lets it pass."""
    tunnel = Tunnel(bench)
    with tunnels(bench, tunnel):
        if case == "nothing":
            unreachable(bench, packet(HOST, tunnel.far_host))
            return
        bench.gateway.fill(policy("out", ALL, ALL, case, more="if-id=42"))
        if case == "bypass":
            unreachable(bench, packet(HOST, tunnel.far_host))
        else:
            with bench.dropped("policy-discard"):
                bench.from_lan(packet(HOST, tunnel.far_host))


@cases("none", "other", "policy-none", "policy-other")
def test_if_id_in_of_others(bench, case):
    """What comes out of an SA passes only by policies with the SA's interface ID."""
    tunnel, other = Tunnel(bench), Tunnel(bench, "vpn1", 43, 43)
    with tunnels(bench, tunnel, other):
        # For "none" and "other" the SA is not that of the policies.
        sa_id, policy_id = {"none": ("", None), "other": ("if-id=43", None)}.get(case, OTHERS[case])
        bench.gateway.fill(*tunnel.lines(sa_id=sa_id, policy_id=policy_id))
        for sent in (packet(tunnel.far_host, HOST), packet(tunnel.far_host, LAN), packet(tunnel.far_host, tunnel.address)):
            with bench.dropped("policy-inbound"):
                bench.from_wan(tunnel.inb.seal(sent))


def test_if_id_in_plaintext(bench):
    """Policies with an interface ID are not about plaintext from the wire, as in Linux."""
    with one_tunnel(bench) as tunnel:
        sent = packet(tunnel.far_host, HOST)
        bench.lan.drain()
        bench.from_wan(sent)
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def test_if_id_missing(bench):
    """SAs with an interface ID that no tunnel has: nothing passes, until there is one."""
    tunnel, other = Tunnel(bench), Tunnel(bench, "vpn1", 43, 43)
    with tunnels(bench, tunnel) as text:
        bench.gateway.fill(*other.lines())
        with bench.dropped("tunnel-missing", 2):
            bench.from_wan(other.inb.seal(packet(other.far_host, HOST)))
            bench.from_wan(other.inb.seal(packet(other.far_host, LAN)))
        reload(bench, text + other.section())
        other.set_up()
        other.both_ways()
        reload(bench, text)
        bench.gateway.hear()
        with bench.dropped("tunnel-missing"):
            bench.from_wan(other.inb.seal(packet(other.far_host, HOST)))
        # The kernel has taken the routes back.
        assert not {other.route, other.route6} & prefixes(bench)


def test_if_id_kernel(bench):
    """The gateway's own packets, both ways: they come in by the tunnel's TAP."""
    with one_tunnel(bench) as tunnel, inside(bench.network.gw):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(PATIENCE)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, tunnel.name.encode())
            sock.bind((tunnel.address, 7777))
            for text in (b"first", b"second"):
                bench.wan.drain()
                sock.sendto(text, (tunnel.far_host, 4000))
                inner, _ = tunnel.out.unseal(bench.receive(bench.wan, 1)[0])
                assert (inner.src, inner.dst, raw(inner[UDP].payload)) == (tunnel.address, tunnel.far_host, text)
                bench.from_wan(tunnel.inb.seal(IP(src=tunnel.far_host, dst=tunnel.address) / UDP(sport=4000, dport=7777) /
                                               Raw(text)))
                assert sock.recv(100) == text
        assert tunnel.counts()[::2] == (2, 2), tunnel.counts()


def test_if_id_kernel_hears(bench):
    """Without a policy the gateway's own programs hear at once that the tunnel leads nowhere."""
    tunnel = Tunnel(bench)
    with tunnels(bench, tunnel), inside(bench.network.gw):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(PATIENCE)
            sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
            sock.connect((tunnel.far_host, 4000))
            sock.send(b"lost")
            try:
                heard = sock.recv(100)
            except OSError as error:
                heard = error.errno
            assert heard == errno.ENETUNREACH, heard


def test_if_id_mtu(bench):
    """A tunnel's own MTU: longer packets are cut or refused."""
    with one_tunnel(bench, more="mtu = 1300\n") as tunnel:
        sent = packet(HOST, tunnel.far_host, 1300 - 28, flags="DF")
        same_but_hop(tunnel.to_peer(sent), sent)
        before = bench.gateway.drops()
        bench.lan.drain()
        bench.from_lan(packet(HOST, tunnel.far_host, 1300 - 27, flags="DF"))
        error = bench.receive(bench.lan, 1)[0]
        assert (error[ICMP].type, error[ICMP].code, error[ICMP].nexthopmtu) == (3, 4, 1300)
        assert bench.drops_since(before) == {"too-big": 1}
        bench.wan.drain()
        bench.from_lan(packet(HOST, tunnel.far_host, 1400))
        inners = [tunnel.out.unseal(outer)[0] for outer in bench.receive(bench.wan, 2)]
        assert all(inner.len <= 1300 for inner in inners) and inners[0].flags.MF, inners


def test_if_id_forwarding(bench):
    """The kernel's forwarding setting of the tunnel's TAP counts, not that of the port of the ESP."""
    with one_tunnel(bench) as tunnel:
        setting = f"net.ipv4.conf.{tunnel.name}.forwarding"
        bench.gateway.in_gw("sysctl", "-qw", f"{setting}=0")
        bench.gateway.hear()
        with bench.dropped("forwarding"):
            bench.from_wan(tunnel.inb.seal(packet(tunnel.far_host, HOST)))
        bench.gateway.in_gw("sysctl", "-qw", f"{setting}=1")
        bench.gateway.hear()
        tunnel.both_ways()


def test_if_id_loop(bench):
    """The route to the peer leads into the tunnel itself: neither ESP nor IKE goes round."""
    with one_tunnel(bench) as tunnel:
        ip("-n", bench.network.gw, "route", "add", f"{PEER}/32", "dev", tunnel.name)
        bench.gateway.hear()
        try:
            with bench.dropped("tunnel-loop", 3):
                bench.from_lan(*(packet(HOST, tunnel.far_host, dport=port) for port in (1, 1, 2)))
            with bench.dropped("tunnel-loop"), inside(bench.network.gw):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                    sock.bind((WAN, 500))
                    sock.sendto(ike(b"hello"), (PEER, 500))
        finally:
            ip("-n", bench.network.gw, "route", "del", f"{PEER}/32", "dev", tunnel.name)
            bench.gateway.hear()
        tunnel.both_ways()


def test_if_id_route_changes(bench):
    """A flow that has left by a port goes to the tunnel once a route leads there, and back."""
    with one_tunnel(bench) as tunnel:
        sent = packet(HOST, "10.2.9.9")
        for _ in range(2):
            for _ in range(2):
                bench.wan.drain()
                bench.from_lan(sent)
                same_but_hop(bench.receive(bench.wan, 1)[0], sent)
            ip("-n", bench.network.gw, "route", "add", "10.2.9.0/24", "dev", tunnel.name)
            wait_until(lambda: "10.2.9.0/24" in prefixes(bench), "cygnetd knows the route")
            bench.gateway.hear()
            for _ in range(2):
                same_but_hop(tunnel.to_peer(sent), sent)
            ip("-n", bench.network.gw, "route", "del", "10.2.9.0/24", "dev", tunnel.name)
            wait_until(lambda: "10.2.9.0/24" not in prefixes(bench), "cygnetd has forgotten the route")
            bench.gateway.hear()


def test_if_id_hub(bench):
    """From one tunnel to another, and back into the same one."""
    every = [Tunnel(bench, f"vpn{number}", 40 + number, 40 + number) for number in range(2)]
    with tunnels(bench, *every):
        bench.gateway.fill(*(line for tunnel in every for line in tunnel.lines()))
        one, other = every
        for end in (other, one):
            for _ in range(3):
                sent = packet(one.far_host, end.far_host)
                bench.wan.drain()
                bench.from_wan(one.inb.seal(sent))
                same_but_hop(end.out.unseal(bench.receive(bench.wan, 1)[0])[0], sent)
        assert (one.counts()[::2], other.counts()[::2]) == ((6, 3), (0, 3))
        # Both ends route to each other: it goes round until its hops are used up, and then has a name.
        before = bench.gateway.drops().get("tunnel-again", 0)
        bench.from_wan(one.inb.seal(packet(one.far_host, one.far_host, ttl=1)))
        bench.wait_until_dropped("tunnel-again", before)


def test_if_id_not_by_wan(bench):
    """What comes out of a tunnel does not leave in plaintext by the port that it came in by."""
    with one_tunnel(bench) as tunnel, bench.dropped("hairpin"):
        bench.from_wan(tunnel.inb.seal(packet(tunnel.far_host, "10.2.9.9")))


def test_if_id_beside_policies(bench):
    """A tunnel by policy works beside those with interface IDs."""
    with one_tunnel(bench) as tunnel:
        out, inb = Sa(SUITE["gcm128"], "out", bench.spi(), reqid=9), Sa(SUITE["gcm128"], "in", bench.spi(), reqid=9)
        bench.gateway.fill(out.line(), inb.line(), policy("out", LAN_NET, FAR_NET, spi=out.spi, reqid=9),
                           *(policy(way, FAR_NET, LAN_NET, spi=inb.spi, reqid=9) for way in ("in", "fwd")))
        for _ in range(2):
            tunnel.both_ways(1)
            bench.expect_flow(out, inb)


def test_if_id_waits(bench):
    """A policy without an SA: packets wait for it, and charon is asked for one."""
    tunnel = Tunnel(bench)
    with tunnels(bench, tunnel):
        bench.gateway.fill(policy("out", ALL, ALL, reqid=42, more="if-id=42"))
        sent = packet(HOST, tunnel.far_host)
        bench.wan.drain()
        before = bench.gateway.counted("waited_for_sa")
        bench.from_lan(sent)
        bench.wait_until_waiting(1, before)
        bench.gateway.fill(*tunnel.lines())
        same_but_hop(tunnel.out.unseal(bench.receive(bench.wan, 1)[0])[0], sent)


def test_if_id_restart(bench):
    """After a restart the tunnel is the same, and its SAs go on."""
    tunnel = Tunnel(bench)
    with bench.gateway.rewritten(lambda usual: with_main(inside_lan(usual), "no_policy = pass") + tunnel.section()):
        tunnel.set_up()
        bench.gateway.fill("flush", *tunnel.lines())
        tunnel.both_ways()
        mac = bench.gateway.mac_of(tunnel.name)
        assert mac.startswith("06:") and mac.endswith(":00:2a"), mac
        bench.gateway.kill()
        bench.gateway.start()
        tunnel.set_up()
        tunnel.both_ways()
        assert bench.gateway.mac_of(tunnel.name) == mac
        # The kernel does not look for neighbours behind it.
        shown = bench.gateway.in_gw("ip", "link", "show", "dev", tunnel.name, capture_output=True, text=True).stdout
        assert "NOARP" in shown, shown


def test_if_id_shows(bench):
    """What administrators see."""
    with one_tunnel(bench) as tunnel:
        row = row_of(bench, tunnel.name)
        assert (row["if_id"], row["device"], row["queues"], row["on"]) == (42, "", 0, ""), row
        route = next(row for row in bench.gateway.ask("/cygnet/routes").values() if row["prefix"] == tunnel.route)
        assert (route["kind"], route["port"]) == ("tunnel", tunnel.name), route
        shown = bench.gateway.in_gw(f"{bench.gateway.build}/root/bin/cygnetctl", "-s", f"{bench.gateway.work}/sadb", "show",
                                    "spd", capture_output=True, text=True).stdout
        assert "if_id 42" in shown, shown


def test_if_id_down(bench):
    """A tunnel that is down lets nothing in, and known flows stop."""
    with one_tunnel(bench) as tunnel:
        tunnel.both_ways()
        ip("-n", bench.network.gw, "link", "set", tunnel.name, "down")
        wait_until(lambda: row_of(bench, tunnel.name)["state"] == "down", "cygnetd sees that it is down")
        bench.gateway.hear()
        with bench.dropped("tap-down", 2):
            for _ in range(2):
                bench.from_wan(tunnel.inb.seal(packet(tunnel.far_host, HOST)))
        tunnel.set_up()
        tunnel.both_ways()


def test_if_id_removed(bench):
    """A tunnel that is removed while its flows are known, and comes back."""
    tunnel, other = Tunnel(bench), Tunnel(bench, "vpn1", 43, 43)
    with tunnels(bench, tunnel, other) as text:
        bench.gateway.fill(*tunnel.lines())
        tunnel.both_ways()
        # In plaintext by the default route, as no_policy = pass says, and not by an SA.
        reload(bench, text.replace(tunnel.section(), ""))
        bench.gateway.hear()
        sent = packet(HOST, "10.2.9.9")
        bench.wan.drain()
        bench.from_lan(sent)
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)
        with bench.dropped("tunnel-missing", 2):
            for _ in range(2):
                bench.from_wan(tunnel.inb.seal(packet(tunnel.far_host, HOST)))
        reload(bench, text)
        tunnel.set_up()
        tunnel.both_ways()


def test_if_id_changed(bench):
    """An interface ID that changes needs a restart; no two tunnels have the same one meanwhile. A tunnel may become a
    port's VLAN."""
    tunnel, other = Tunnel(bench), Tunnel(bench, "vpn1", 43, 43)
    with tunnels(bench, tunnel) as text:
        bench.gateway.fill(*tunnel.lines())
        log = reload(bench, text.replace("if_id = 42", "if_id = 77") + "[tunnel vpn1]\nif_id = 42\n")
        assert "[tunnel vpn0] if_id: needs a restart; it stays 42" in log, log
        assert "[tunnel vpn1] if_id: tunnel vpn0 still has it" in log and "vpn1" not in ports(bench), log
        tunnel.both_ways()
        reload(bench, text + "[tunnel wan.x]\nif_id = 5\n")
        log = reload(bench, text + "[port wan.x]\nvlan = 5\n")
        assert row_of(bench, "wan.x")["vlan"] == "5", log
        tunnel.both_ways()
        reload(bench, text + other.section())
        other.set_up()
        bench.gateway.fill(*other.lines())
        other.both_ways()


def test_if_id_mtu_change(bench):
    """The MTU follows the TAP's, up to what its buffers are for."""
    with one_tunnel(bench) as tunnel:
        for mtu, has in ((1300, 1300), (9000, 1300), (1500, 1500)):
            ip("-n", bench.network.gw, "link", "set", tunnel.name, "mtu", str(mtu))
            wait_until(lambda has=has: row_of(bench, tunnel.name)["mtu"] == has and tap_mtu(bench, tunnel.name) == has,
                       f"the MTU is {has}")
        tunnel.both_ways()


def tap_mtu(bench, name):
    return int(bench.gateway.in_gw("cat", f"/sys/class/net/{name}/mtu", capture_output=True).stdout)


def test_if_id_fragments(bench):
    """A datagram in fragments, from the LAN and of the gateway's own: protected by the tunnel, whether policies ask for ports
    or not."""
    tunnel = Tunnel(bench)
    with tunnels(bench, tunnel):
        for more in ((), (policy("out", LAN_NET, FAR_NET, "discard", more="proto=17 dport=5-5"),)):
            bench.gateway.fill("flush", *tunnel.lines(), *more)
            sent = packet(HOST, tunnel.far_host, 3000, id=77)
            bench.wan.drain()
            bench.from_lan(*pieces(sent, 1000))
            whole(bench, tunnel, len(sent.payload))
            with inside(bench.network.gw), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.sendto(bytes(3000), (tunnel.far_host, 4000))
                whole(bench, tunnel, 3008)


def test_if_id_link_control(bench):
    """ARP and ND of the kernel's go nowhere: a tunnel has no link, and the policies are not asked."""
    with one_tunnel(bench) as tunnel, Tap(bench, tunnel.name) as tap:
        def dropped():
            rows = bench.gateway.ask("/cygnet/drops").values()
            return next(row["packets"] for row in rows if row["reason"] == "tunnel-link")
        before = dropped()
        bench.wan.drain()
        tap.send(raw(Ether(dst="ff:ff:ff:ff:ff:ff") / ARP(pdst=tunnel.far_end)))
        tap.send(raw(Ether(dst="33:33:00:00:00:01") / IPv6(src="fe80::1", dst="ff02::1", hlim=255) / ICMPv6ND_NS(tgt="fe80::2")))
        wait_until(lambda: dropped() >= before + 2, "both are dropped")
        bench.expect_nothing(bench.wan)
        tunnel.both_ways()


def whole(bench, tunnel, length):
    """All parts of a datagram arrive in the tunnel, and nothing else leaves."""
    while length > 0:
        part = tunnel.out.unseal(bench.receive(bench.wan, 1)[0])[0]
        length -= len(part.payload)
    assert length == 0
    bench.expect_nothing(bench.wan)


def test_if_id_udp(bench):
    """ESP in UDP, whose flows are not known before it is decrypted."""
    tunnel = Tunnel(bench)
    with tunnels(bench, tunnel):
        lines = tunnel.lines()
        tunnel.out = Sa(SUITE["gcm128"], "out", tunnel.out.spi, encap=True, reqid=42, more="if-id=42")
        tunnel.inb = Sa(SUITE["gcm128"], "in", tunnel.inb.spi, encap=True, reqid=42, more="if-id=42")
        bench.gateway.fill(tunnel.out.line(), tunnel.inb.line(), *lines[2:])
        before = row_of(bench, "lan"), row_of(bench, "wan")
        tunnel.both_ways()
        assert tunnel.counts()[::2] == (6, 6), tunnel.counts()
        # No other interface has counted them.
        after = row_of(bench, "lan"), row_of(bench, "wan")
        for then, now in zip(before, after):
            # Beside those there is ARP.
            assert all(6 <= now[what] - then[what] < 12 for what in ("rx_packets", "tx_packets")), (then, now)
