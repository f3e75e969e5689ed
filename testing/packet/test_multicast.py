# SPDX-License-Identifier: GPL-2.0-or-later
"""Multicast into tunnels and out of them: the gateway's kernel forwards it, as a multicast routing daemon tells it."""
import contextlib
import socket
import struct

from scapy.layers.inet import IP

from bench import packet, same_but_hop
from gateway import HOST
from network import inside
from test_esp import cases
from test_if_id import one_tunnel

GROUP = "239.1.2.3"
GROUP_MAC = "01:00:5e:01:02:03"
# linux/mroute.h
MRT_INIT, MRT_DONE, MRT_ADD_VIF, MRT_ADD_MFC, VIFF_USE_IFINDEX, MAXVIFS = 200, 201, 202, 204, 8, 32


@contextlib.contextmanager
def routing(bench, *routes):
    """The role of a multicast routing daemon. @param routes  source, device that it comes in by, device that it leaves by"""
    devices = ("lan", "vpn0")
    with inside(bench.network.gw):
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP) as daemon:
            daemon.setsockopt(socket.IPPROTO_IP, MRT_INIT, 1)
            for number, device in enumerate(devices):
                daemon.setsockopt(socket.IPPROTO_IP, MRT_ADD_VIF, struct.pack(
                    "HBBIi4s", number, VIFF_USE_IFINDEX, 1, 0, socket.if_nametoindex(device), bytes(4)))
            for source, came_by, leaves_by in routes:
                ttls = bytes(1 if device == leaves_by else 0 for device in devices)
                daemon.setsockopt(socket.IPPROTO_IP, MRT_ADD_MFC, struct.pack(
                    "4s4sH32sIIIi", socket.inet_aton(source), socket.inet_aton(GROUP), devices.index(came_by),
                    ttls.ljust(MAXVIFS, b"\0"), 0, 0, 0, 0))
            try:
                yield
            finally:
                daemon.setsockopt(socket.IPPROTO_IP, MRT_DONE, 1)


def from_host(bench, sent):
    """A frame of the host's to the group."""
    frame = bytearray(bench.frame(bench.lan, "lan", sent))
    frame[:6] = bytes.fromhex(GROUP_MAC.replace(":", ""))
    bench.lan.send(bytes(frame))


def groups(bench, port, timeout=0.3):
    """Frames to the group's MAC address. @return their packets"""
    return [bench.packet_in(frame) for frame in port.frames(timeout)
            if frame[:6].hex(":") == GROUP_MAC and frame[12:14] == b"\x08\x00" and IP(frame[14:]).dst == GROUP]


@cases("routed", "not")
def test_multicast_out_of_a_tunnel(bench, case):
    with one_tunnel(bench) as tunnel:
        sent = packet(tunnel.far_host, GROUP, ttl=8)
        with routing(bench, *[(tunnel.far_host, "vpn0", "lan")] * (case == "routed")):
            bench.lan.drain()
            for _ in range(3):
                bench.from_wan(tunnel.inb.seal(sent))
            got = groups(bench, bench.lan, timeout=2 if case == "routed" else 0.3)
        assert len(got) == (3 if case == "routed" else 0)
        for each in got:
            same_but_hop(each, sent)


def test_multicast_into_a_tunnel(bench):
    with one_tunnel(bench) as tunnel:
        sent = packet(HOST, GROUP, ttl=8)
        with routing(bench, (HOST, "lan", "vpn0")):
            bench.wan.drain()
            from_host(bench, sent)
            inner, _ = tunnel.out.unseal(bench.receive(bench.wan, 1)[0])
        same_but_hop(inner, sent)
        # Without the daemon nothing leaves.
        bench.wan.drain()
        from_host(bench, sent)
        bench.expect_nothing(bench.wan)
