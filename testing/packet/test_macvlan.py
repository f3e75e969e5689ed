# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual router's MAC address: a macvlan on a TAP, as keepalived makes it with use_vmac."""
import contextlib
import subprocess

from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import raw

from bench import packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_NET, HOST, LAN_NET, PEER
from network import ip_batch, wait_until
from peer import SUITE, Sa

VMAC, VIP = "00:00:5e:00:01:0a", "192.0.2.100"
NEIGHBOUR = "02:00:00:00:0a:02"  # the peer in the macvlan's neighbour table, not as in the TAP's
IFF_PROMISC = 0x100


class VirtualRouter:
    """A virtual router as run by keepalived: its macvlan, and the changes when it becomes master or backup."""

    def __init__(self, bench):
        self.bench, self.gateway = bench, bench.gateway

    def ip(self, *lines):
        ip_batch(self.bench.network.gw, lines)
        self.gateway.hear()

    def add(self):
        self.ip(f"link add vrrp0 link wan address {VMAC} type macvlan mode bridge")
        self.gateway.in_gw("sysctl", "-q", "-w", "net.ipv4.conf.vrrp0.arp_ignore=1", "net.ipv4.conf.wan.arp_ignore=1",
                           "net.ipv6.conf.vrrp0.disable_ipv6=1")

    def master(self):
        self.ip("link set vrrp0 up", f"address add {VIP}/32 dev vrrp0")
        wait_until(lambda: self.takes() and self.is_local(), "the port takes frames to the virtual MAC address")

    def backup(self):
        self.ip(f"address del {VIP}/32 dev vrrp0", "link set vrrp0 down")

    def takes(self):
        """The last message about the macvlan in the log."""
        text = self.gateway.log_since(0)
        return text.rfind(f": takes frames to {VMAC.upper()}") > text.rfind(f"no longer takes frames to {VMAC.upper()}")

    def is_local(self):
        return any(row["prefix"] == f"{VIP}/32" and row["kind"] == "local" for row in self.gateway.ask("/cygnet/routes").values())

    def remove(self):
        subprocess.run(["ip", "-n", self.bench.network.gw, "link", "del", "vrrp0"], check=True)
        self.gateway.hear()

    def send(self, *packets):
        """Send a packet from the peer to the virtual MAC address."""
        for one in packets:
            self.bench.wan.send(raw(Ether(dst=VMAC, src=self.bench.wan.mac.hex(":"), type=0x800)) + raw(one))


@contextlib.contextmanager
def virtual_router(bench):
    router = VirtualRouter(bench)
    try:
        router.add()
        router.master()
        yield router
    finally:
        subprocess.run(["ip", "-n", bench.network.gw, "link", "del", "vrrp0"], stderr=subprocess.DEVNULL, check=False)
        bench.gateway.in_gw("sysctl", "-q", "-w", "net.ipv4.conf.wan.arp_ignore=0")
        bench.gateway.set_up_taps()


def tunnel(bench):
    """Like Bench.tunnel(), but the gateway's end is the virtual address."""
    suite = SUITE["gcm128"]
    out, inb = Sa(suite, "out", bench.spi()), Sa(suite, "in", bench.spi())
    out.src, inb.dst = VIP, VIP
    end = f"end={VIP}"
    bench.gateway.fill("flush", out.line(), inb.line(), policy("out", LAN_NET, FAR_NET, spi=out.spi),
                       *(policy(direction, FAR_NET, LAN_NET, spi=inb.spi).replace("end=192.0.2.1", end)
                         for direction in ("in", "fwd")))
    return out, inb


def expect_esp(bench, router, out, inb):
    """ESP with the virtual address passes in both directions."""
    bench.lan.drain()
    bench.wan.drain()
    sent = to_far_host()
    bench.from_lan(sent)
    outer = bench.receive(bench.wan, 1)[0]
    assert outer.src == VIP, outer.summary()
    same_but_hop(out.unseal(outer)[0], sent)
    sent = to_host()
    router.send(inb.seal(sent))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def expect_answers(bench, router):
    """The kernel answers a ping to the virtual address."""
    bench.wan.drain()
    router.send(IP(src=PEER, dst=VIP) / ICMP(id=7) / b"to the virtual router")
    answer = bench.receive(bench.wan, 1)[0]
    assert (answer.src, answer[ICMP].type, answer[ICMP].id) == (VIP, 0, 7), answer.summary()


def arp_answers(bench):
    """MAC addresses in the gateway's ARP answers for the virtual address, until there is one."""
    bench.wan.drain()
    bench.wan.send(raw(Ether(dst="ff:ff:ff:ff:ff:ff", src=bench.wan.mac.hex(":"), type=0x806) /
                       ARP(op=1, hwsrc=bench.wan.mac.hex(":"), psrc=PEER, pdst=VIP)))
    frames = [Ether(frame) for frame in bench.wan.frames(1)]
    return [frame[ARP].hwsrc for frame in frames if ARP in frame and frame[ARP].op == 2 and frame[ARP].psrc == VIP]


def test_macvlan(bench):
    """Frames to the virtual MAC address are taken like those to the port's own: to this host, ESP, and forwarded."""
    with virtual_router(bench) as router:
        assert arp_answers(bench) == [VMAC]
        expect_answers(bench, router)
        out, inb = tunnel(bench)
        expect_esp(bench, router, out, inb)
        bench.gateway.fill("flush")
        sent = packet("10.2.200.1", HOST)
        bench.lan.drain()
        router.send(sent)
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def test_macvlan_filter(bench):
    """The device receives such frames: net_af_packet and net_af_xdp have no filter but that of the kernel's
    interface."""
    def is_promiscuous():
        flags = bench.gateway.in_gw("cat", "/sys/class/net/wan-veth/flags", capture_output=True, text=True).stdout
        return bool(int(flags, 16) & IFF_PROMISC)

    assert not is_promiscuous()
    with virtual_router(bench) as router:
        assert is_promiscuous()
        router.remove()
        wait_until(lambda: not is_promiscuous(), "the port is no longer promiscuous")


def test_macvlan_moves(bench):
    """The virtual address moves to another router and back: meanwhile frames to it are not for this gateway."""
    with virtual_router(bench) as router:
        out, inb = tunnel(bench)
        for _ in range(2):
            expect_esp(bench, router, out, inb)
            router.backup()
            wait_until(lambda: not router.takes(), "the port does not take the frames any more")
            with bench.dropped("not-ours", 2):
                router.send(inb.seal(to_host()), IP(src=PEER, dst=VIP) / ICMP())
            router.master()
            expect_answers(bench, router)
        expect_esp(bench, router, out, inb)


def test_macvlan_flows(bench):
    """Packets of known flows are accepted with either MAC address on the fast path, and no longer once the macvlan is
    removed."""
    with virtual_router(bench) as router:
        _, inb = tunnel(bench)
        wait_until(lambda: known(bench, router, inb), "packets of a known flow go without the stages")
        router.remove()
        with bench.dropped("not-ours", 8):
            router.send(*(inb.seal(to_host()) for _ in range(8)))


def known(bench, router, inb):
    """Send eight packets. @return whether all took the fast path"""
    bench.lan.drain()
    before = bench.gateway.counted("shortcut")
    router.send(*(inb.seal(to_host()) for _ in range(8)))
    bench.receive(bench.lan, 8)
    # A packet counts twice, before and after decryption, if one worker does both.
    return bench.gateway.took_fast_path(before, 8)


def test_macvlan_routes(bench):
    """A route through the macvlan leads out of its port, from the virtual MAC address, to the neighbours that the
    kernel has there."""
    with virtual_router(bench) as router:
        router.ip(f"neigh replace {PEER} dev vrrp0 lladdr {NEIGHBOUR} nud permanent",
                  f"route replace {PEER}/32 dev vrrp0", f"route replace 10.2.0.0/16 via {PEER} dev vrrp0 onlink")
        out, _ = tunnel(bench)
        for send in (to_far_host(), to_far_host(), packet(HOST, "10.2.200.1"), packet(HOST, "10.2.200.1")):
            bench.wan.drain()
            bench.from_lan(send)
            frame = next(frame for frame in bench.wan.frames(30) if frame[12:14] == b"\x08\x00")
            assert (frame[6:12].hex(":"), frame[:6].hex(":")) == (VMAC, NEIGHBOUR), Ether(frame).summary()
        same_but_hop(out.unseal(IP(frame[14:]))[0] if frame[23] == 50 else IP(frame[14:]), send)
        router.remove()
        # The kernel has removed the macvlan's routes.
        before = bench.gateway.drops()
        bench.from_lan(packet(HOST, "10.2.200.1"))
        bench.wait_until_dropped("no-route", before.get("no-route", 0))
