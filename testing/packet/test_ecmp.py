# SPDX-License-Identifier: GPL-2.0-or-later
"""Several next hops of one route: each flow takes one of them, by weight, and keeps it while others come and go."""
import collections

from scapy.layers.inet import UDP

from bench import packet, policy
from gateway import HOST, HOST6, LAN_NET
from network import ip, ip_batch, wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_fragments import pieces
from test_if_id import Tunnel, tunnels
from test_ipv6 import packet6

FLOWS = 200
NET = {4: "10.64.0.0/16", 6: "2001:db8:64::/48"}
TARGET = {4: "10.64.0.1", 6: "2001:db8:64::1"}
ROUTERS = {4: ["192.0.2.20", "192.0.2.21", "192.0.2.22"], 6: ["2001:db8:f::20", "2001:db8:f::21", "2001:db8:f::22"]}
MAC = ["02:00:00:00:00:20", "02:00:00:00:00:21", "02:00:00:00:00:22"]


class Routers:
    """Routers on the WAN, which are known by their MAC addresses."""

    def __init__(self, bench, family):
        self.bench, self.family, self.gw = bench, family, bench.network.gw

    def __enter__(self):
        ip_batch(self.gw, [f"neigh replace {address} dev wan lladdr {mac} nud permanent"
                           for address, mac in zip(ROUTERS[self.family], MAC)])
        return self

    def __exit__(self, *_):
        ip("-n", self.gw, f"-{self.family}", "route", "flush", "exact", NET[self.family])
        ip_batch(self.gw, [f"neigh del {address} dev wan" for address in ROUTERS[self.family]])
        self.bench.gateway.hear()

    def change(self, *lines):
        ip_batch(self.gw, lines)
        self.bench.gateway.hear()

    def route(self, *hops):
        """The route to NET. @param hops  number of a router, and its weight"""
        self.change(f"route replace {NET[self.family]} " + " ".join(
            f"nexthop via {ROUTERS[self.family][router]} weight {weight}" for router, weight in hops))

    def ways(self, make, flows=FLOWS):
        """@param make  of the number of a flow: a packet from the LAN @return flow: number of the router"""
        self.bench.wan.drain()
        self.bench.from_lan(*(make(flow) for flow in range(flows)))
        taken = {}

        def all_left():
            for frame in self.bench.wan.frames(0):
                if frame[:6].hex(":") in MAC:
                    taken[flow_of(frame)] = MAC.index(frame[:6].hex(":"))
            return len(taken) >= flows

        wait_until(all_left, "each flow has left")
        return taken

    def plain(self, flow):
        return (packet if self.family == 4 else packet6)(HOST if self.family == 4 else HOST6, TARGET[self.family],
                                                        sport=10000 + flow)


def flow_of(frame):
    """By its source port."""
    at = 14 + (40 if frame[14] >> 4 == 6 else 20)
    return int.from_bytes(frame[at:at + 2], "big") - 10000


def shares(ways):
    return collections.Counter(ways.values())


@cases(4, 6)
def test_ecmp_flows(bench, case):
    """Of plaintext. A second packet of a flow, which is known by then, goes where the first went; when a next hop goes only its
    flows move, and when it comes back they are where they were."""
    bench.gateway.fill("flush")
    with Routers(bench, case) as routers:
        routers.route((0, 1), (1, 1), (2, 2))
        first = routers.ways(routers.plain)
        part = shares(first)
        assert part[0] > FLOWS / 8 and part[1] > FLOWS / 8 and part[2] > FLOWS * 3 / 8, part
        for _ in range(2):
            assert routers.ways(routers.plain) == first
        routers.route((0, 1), (2, 2))
        without = routers.ways(routers.plain)
        assert all(without[flow] == way for flow, way in first.items() if way != 1)
        assert 1 not in without.values()
        assert {without[flow] for flow, way in first.items() if way == 1} == {0, 2}
        routers.route((2, 2), (1, 1), (0, 1))
        assert routers.ways(routers.plain) == first
        rows = [row for row in bench.gateway.ask("/cygnet/routes").values() if row["prefix"] == NET[case]]
        assert sorted((row["gateway"], row["weight"]) for row in rows) == \
            [(ROUTERS[case][0], 1), (ROUTERS[case][1], 1), (ROUTERS[case][2], 2)], rows


@cases(4, 6)
def test_ecmp_objects(bench, case):
    """The same by a group of next-hop objects, as FRR uses them. The kernel takes a next hop out of its groups when it is
    deleted."""
    bench.gateway.fill("flush")
    with Routers(bench, case) as routers:
        try:
            routers.change(*(f"nexthop add id {10 + number} via {address} dev wan"
                             for number, address in enumerate(ROUTERS[case])), "nexthop add id 20 group 10/11,2/12")
            routers.change(f"route replace {NET[case]} nhid 20")
            first = routers.ways(routers.plain)
            part = shares(first)
            assert part[1] > FLOWS * 3 / 8 and part[0] > FLOWS / 8 and part[2] > FLOWS / 8, part
            routers.change("nexthop del id 10")
            without = routers.ways(routers.plain)
            assert all(without[flow] == way for flow, way in first.items() if way)
            assert set(without.values()) == {1, 2}
        finally:
            ip_batch(routers.gw, ["nexthop flush"])
            bench.gateway.hear()


def test_ecmp_fragments(bench):
    """All parts of a packet go one way, which only their addresses decide."""
    bench.gateway.fill("flush")
    with Routers(bench, 4) as routers:
        routers.route((0, 1), (1, 1))
        ways = set()
        for host in range(1, 9):
            bench.wan.drain()
            bench.from_lan(*pieces(packet(HOST, f"10.64.1.{host}", size=3000), size=1000))
            macs = [frame[:6].hex(":") for frame, _ in zip(bench.wan.frames(5), range(4)) if frame[:6].hex(":") in MAC]
            assert len(macs) == 4 and len(set(macs)) == 1, macs
            ways.add(macs[0])
        assert len(ways) == 2, ways


@cases(4, 6)
def test_ecmp_peer(bench, case):
    """A peer that is reached by several next hops: all that one SA protects takes one way, in and out of the fast path; other
    peers take the other one."""
    with Routers(bench, case) as routers:
        routers.route((0, 1), (1, 1))
        lines, ways = ["flush"], {}
        for number in range(8):
            end = f"10.64.2.{number}" if case == 4 else f"2001:db8:64:2::{number:x}"
            out = Sa(SUITE["gcm128"], "out", bench.spi(), v6=case == 6)
            out.dst = end
            far = f"10.2.77.{number}"
            lines += [out.line(), policy("out", LAN_NET, f"{far}-{far}", spi=out.spi, v6=case == 6).replace("end=192.0.2.2 ", f"end={end} ")
                      .replace("end=2001:db8:f::2 ", f"end={end} ")]
            ways[number] = set()
        bench.gateway.fill(*lines)
        for size in (100, 100, 1440, 100):
            for number, seen in ways.items():
                bench.wan.drain()
                bench.from_lan(packet(HOST, f"10.2.77.{number}", size=size))
                seen.add(next(frame[:6].hex(":") for frame in bench.wan.frames(5) if frame[:6].hex(":") in MAC))
        assert all(len(seen) == 1 for seen in ways.values()), ways
        assert len({mac for seen in ways.values() for mac in seen}) == 2, ways


def test_ecmp_tunnels(bench):
    """Flows to what two tunnels reach: each is protected by one of them. When one goes down its flows take
    the other."""
    one, other = Tunnel(bench, "vpn0", 42, 42), Tunnel(bench, "vpn1", 43, 43, peer="192.0.2.3")
    gw = bench.network.gw
    with tunnels(bench, one, other):
        ip_batch(gw, [f"neigh replace 192.0.2.3 dev wan lladdr {bench.wan.mac.hex(':')} nud permanent",
                      "route replace 10.64.0.0/16 nexthop dev vpn0 nexthop dev vpn1"])
        bench.gateway.hear()
        bench.gateway.fill("flush", *one.lines(), *other.lines())
        first = by_tunnel(bench, one, other)
        assert min(shares(first).values()) > FLOWS / 4, shares(first)
        assert by_tunnel(bench, one, other) == first
        ip_batch(gw, ["link set vpn1 down"])
        bench.gateway.hear()
        assert set(by_tunnel(bench, one, other).values()) == {"vpn0"}
        ip_batch(gw, ["link set vpn1 up", "route replace 10.64.0.0/16 nexthop dev vpn0 nexthop dev vpn1"])
        bench.gateway.hear()
        assert by_tunnel(bench, one, other) == first
        ip_batch(gw, ["route del 10.64.0.0/16", "neigh del 192.0.2.3 dev wan"])


def by_tunnel(bench, *tunnels_to):
    """@return flow: name of the tunnel whose SA protects it"""
    bench.wan.drain()
    bench.from_lan(*(packet(HOST, TARGET[4], sport=10000 + flow) for flow in range(FLOWS)))
    taken = {}
    for outer in bench.receive(bench.wan, FLOWS):
        tunnel = next(each for each in tunnels_to if each.peer == outer.dst)
        inner, _ = tunnel.out.unseal(outer)
        taken[inner[UDP].sport - 10000] = tunnel.name
    assert len(taken) == FLOWS
    return taken
