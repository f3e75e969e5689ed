# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's interface below a port: the kernel neither delivers nor forwards what it receives there."""
import contextlib
import os

from scapy.layers.inet import IP, UDP
from scapy.packet import Raw

from bench import QUIET
from gateway import FAR_HOST, LAN
from network import Port, ip, wait_until
from test_reload import DMZ_HOST, Dmz, reload, usual_again
from test_tunnel6 import to_host, tunnel

SETTINGS = {"ipv4.conf.{}.rp_filter": 1, "ipv4.conf.{}.forwarding": 0, "ipv4.conf.{}.arp_ignore": 8, "ipv6.conf.{}.disable_ipv6": 1}
OPEN = {"ipv4.conf.{}.rp_filter": 0, "ipv4.conf.{}.forwarding": 1, "ipv4.conf.{}.arp_ignore": 0, "ipv6.conf.{}.disable_ipv6": 0}
TO_GATEWAY = IP(src=FAR_HOST, dst=LAN) / UDP(sport=7777, dport=7777) / Raw(b"past the policies")


def write(bench, values, device):
    bench.gateway.in_gw("sysctl", "-q", "-w", *(f"net.{name.format(device)}={value}" for name, value in values.items()))


def read(bench, name):
    return int(bench.gateway.in_gw("sysctl", "-n", f"net.{name.format('dmz-veth')}", capture_output=True, text=True).stdout)


def isolated(bench):
    return all(read(bench, name) == value for name, value in SETTINGS.items())


@contextlib.contextmanager
def dmz_port(bench):
    """A third port, of net_af_packet. @return it, with a tunnel that protects what is sent to the LAN"""
    with usual_again(bench) as usual, Dmz(bench) as dmz:
        reload(bench, usual + dmz.section)
        dmz.set_up()
        tunnel(bench, False)
        yield dmz


def refused(bench, dmz, send):
    """Neither the LAN nor a socket of the gateway gets plaintext that policies protect."""
    with bench.listen(address=LAN) as sock:
        bench.lan.drain()
        for packet in (to_host(False), to_host(True), TO_GATEWAY):
            send(bench.frame(dmz.port, "dmz", packet))
        bench.expect_nothing(bench.lan)
        sock.settimeout(QUIET)
        with contextlib.suppress(TimeoutError):
            raise AssertionError(f"a socket got {sock.recv(2000)}")


def test_wire_opened(bench):
    """The kernel's IP stack is enabled on the wire, as sysctl.d may do at any time: its copies are dropped all the
    same, and the settings are set back, which the log says."""
    with dmz_port(bench) as dmz:
        for device in ("all", "dmz-veth"):
            write(bench, OPEN, device)

        def send(frame):
            write(bench, OPEN, "dmz-veth")  # also if cygnetd has set it back
            dmz.port.send(frame)
        refused(bench, dmz, send)
        for name, value in OPEN.items():
            mark = os.path.getsize(bench.gateway.log)
            write(bench, {name: value}, "dmz-veth")
            wait_until(lambda: isolated(bench), "the settings are set back")
            path = f"/proc/sys/net/{name.format('dmz-veth').replace('.', '/')}"
            wait_until(lambda: bench.gateway.logged(f"{path} was changed to {value}: set back", mark), "the log says so")


def test_wire_chain(bench):
    """Nobody else can remove the chain that drops the kernel's copies: a firewall that flushes the ruleset does not.
    It goes with its port."""
    def chains():
        return bench.gateway.in_gw("nft", "list", "ruleset", capture_output=True, text=True).stdout
    with dmz_port(bench):
        assert 'type filter hook ingress device "dmz-veth"' in chains() and "policy drop" in chains(), chains()
        bench.gateway.in_gw("nft", "flush", "ruleset")
        assert 'type filter hook ingress device "dmz-veth"' in chains(), chains()
    assert 'device "dmz-veth"' not in chains(), chains()


def test_wire_made_anew(bench):
    """A wire is removed, and another one of that name is made: it begins with the kernel's settings."""
    with dmz_port(bench) as dmz:
        dmz.port.socket.close()
        ip("-n", bench.network.gw, "link", "del", "dmz-veth")
        mark = os.path.getsize(bench.gateway.log)
        bench.gateway.in_gw("sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=0")
        bench.network.add_veth("dmz")
        dmz.port = Port(bench.network.far, "dmz")
        wait_until(lambda: bench.gateway.logged("interface dmz-veth was made anew", mark), "the log says so")
        wait_until(lambda: isolated(bench), "it is isolated again")

        def send(frame):
            write(bench, OPEN, "dmz-veth")
            dmz.port.send(frame)
        wait_until(lambda: bench.gateway.logged("port dmz: carries packets again", mark), "the port has a new device")
        assert bench.gateway.mac_of("dmz-veth") == bench.gateway.mac["dmz"]
        refused(bench, dmz, send)
        # Addresses and routes of its TAP are as they were.
        bench.gateway.in_gw("ip", "neigh", "replace", DMZ_HOST, "dev", "dmz", "lladdr", dmz.port.mac.hex(":"), "nud", "permanent")
        bench.gateway.fill("flush")
        bench.gateway.hear()
        dmz.expect_both_ways()


def test_wire_address(bench):
    """An address that the interface of a port carries is named: nobody reaches the host by it."""
    gateway = bench.gateway
    assert gateway.stop() == 0
    gateway.in_gw("ip", "address", "add", "198.51.100.7/24", "dev", "wan-veth")
    try:
        gateway.start()
        assert "interface wan-veth: it has the address 198.51.100.7, by which nobody reaches this host" in gateway.log_since(0)
    finally:
        gateway.in_gw("ip", "address", "flush", "dev", "wan-veth")
