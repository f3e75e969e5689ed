# SPDX-License-Identifier: GPL-2.0-or-later
"""The TAP of a port has carrier while its device has a link, also those of VLANs on it."""
import contextlib
import json
import socket

from bench import packet
from gateway import PEER
from network import ip, ip_batch, wait_until
from test_ecmp import MAC, TARGET
from test_reload import ports, reload, usual_again
from vlan import row_of


def has_carrier(bench, device):
    links = bench.gateway.in_gw("ip", "-j", "link", "show", "dev", device, capture_output=True)
    return "NO-CARRIER" not in json.loads(links.stdout)[0]["flags"]


def follows(bench, device, carrier):
    wait_until(lambda: has_carrier(bench, device) == carrier and
               row_of(bench, device)["link"] == ("up" if carrier else "down"), f"{device} has {carrier and 'a' or 'no'} link")


@contextlib.contextmanager
def cable_out(bench, port):
    """The far end of a port's veth is down in the body."""
    ip("-n", bench.network.far, "link", "set", port, "down")
    try:
        follows(bench, port, False)
        getattr(bench, port).socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # it is down
        yield
    finally:
        ip("-n", bench.network.far, "link", "set", port, "up")
        follows(bench, port, True)
        for each in (bench.lan, bench.wan):
            each.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # that it was down
        bench.gateway.set_up_taps()


def test_carrier(bench):
    """It is logged, what the kernel sends meanwhile does not wait, and all is as before when the link is back."""
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    with cable_out(bench, "wan"):
        wait_until(lambda: bench.gateway.logged("port wan: its device has no link"), "it is logged")
        assert has_carrier(bench, "lan")
        routes = bench.gateway.in_gw("ip", "route", "show", "dev", "wan", capture_output=True, text=True).stdout
        assert "linkdown" in routes, routes
    bench.expect_flow(out, inb)


def test_carrier_vlan(bench):
    with usual_again(bench) as usual:
        log = reload(bench, usual + "[port wan.100]\nvlan = 100\n")
        assert "wan.100" in ports(bench), log
        ip("-n", bench.network.gw, "link", "set", "wan.100", "up")
        follows(bench, "wan.100", True)
        with cable_out(bench, "wan"):
            follows(bench, "wan.100", False)
        follows(bench, "wan.100", True)


def test_carrier_ecmp(bench):
    """With ignore_routes_with_linkdown, flows leave a port without link, and those of the other one stay."""
    gw = bench.network.gw
    bench.gateway.fill("flush")
    ip_batch(gw, [f"neigh replace 192.0.2.20 dev wan lladdr {MAC[0]} nud permanent",
                  f"neigh replace 10.1.0.20 dev lan lladdr {MAC[1]} nud permanent",
                  "route replace 10.64.0.0/16 nexthop via 192.0.2.20 nexthop via 10.1.0.20"])
    bench.gateway.in_gw("sysctl", "-qw", "net.ipv4.conf.all.ignore_routes_with_linkdown=1")
    bench.gateway.hear()
    try:
        both = by_port(bench, 64)
        assert set(both.values()) == {"wan", "lan"}, both
        with cable_out(bench, "lan"):
            wait_until(lambda: len([row for row in bench.gateway.ask("/cygnet/routes").values()
                                    if row["prefix"] == "10.64.0.0/16"]) == 1, "one next hop is left")
            assert set(by_port(bench, 64).values()) == {"wan"}
        ip_batch(gw, [f"neigh replace 10.1.0.20 dev lan lladdr {MAC[1]} nud permanent"])
        wait_until(lambda: len([row for row in bench.gateway.ask("/cygnet/routes").values()
                                if row["prefix"] == "10.64.0.0/16"]) == 2, "both are there again")
        bench.gateway.hear()
        assert by_port(bench, 64) == both
    finally:
        bench.gateway.in_gw("sysctl", "-qw", "net.ipv4.conf.all.ignore_routes_with_linkdown=0")
        ip_batch(gw, ["route del 10.64.0.0/16", "neigh del 192.0.2.20 dev wan", "neigh del 10.1.0.20 dev lan"])
        bench.gateway.hear()


def by_port(bench, flows):
    """@return flow: the port that a packet from the WAN leaves by"""
    for port in (bench.wan, bench.lan):
        port.drain()
    bench.from_wan(*(packet(PEER, TARGET[4], sport=10000 + flow) for flow in range(flows)))
    taken = {}

    def all_left():
        for name, port in (("wan", bench.wan), ("lan", bench.lan)):
            for frame in port.frames(0):
                if frame[:6].hex(":") in MAC:
                    taken[int.from_bytes(frame[34:36], "big") - 10000] = name
        return len(taken) >= flows

    wait_until(all_left, "each flow has left")
    return taken
