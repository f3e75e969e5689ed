# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames with other headers than IP: none bypasses the policies."""
import socket

from scapy.layers.inet import IP, UDP
from scapy.packet import raw

from bench import QUIET, to_far_host, to_host
from gateway import PEER, WAN
from network import ETH_P_ALL, PATIENCE, inside
from test_esp import cases

# Headers between the MAC addresses and an IPv4 packet. VLAN 0 is a priority tag: the kernel processes the
# packet behind it.
TAGGED = {
    "8100": bytes.fromhex("8100 0000 0800"),
    "8100-vlan": bytes.fromhex("8100 0007 0800"),
    "stacked": bytes.fromhex("88a8 0000 8100 0000 0800"),
}
OTHERS = {
    "snap": bytes.fromhex("0040 aaaa 0300 0000 0800"),
    "unknown": bytes.fromhex("9999"),
}


class Tap:
    """The gateway's kernel below its IP stack: frames of a TAP in both directions."""

    def __init__(self, bench, device):
        with inside(bench.network.gw):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.socket.bind((device, ETH_P_ALL))

    def send(self, frame):
        self.socket.send(frame)

    def got(self, frame, timeout=PATIENCE):
        """Whether the kernel receives it."""
        self.socket.settimeout(timeout)
        try:
            while True:
                data, address = self.socket.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING and data[:len(frame)] == frame:
                    return True
        except TimeoutError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def to_gateway(bench, device, rest):
    return bytes.fromhex(bench.gateway.mac[device].replace(":", "")) + getattr(bench, device).mac + rest


def from_gateway(bench, device, rest):
    return getattr(bench, device).mac + bytes.fromhex(bench.gateway.mac[device].replace(":", "")) + rest


@cases(*TAGGED, *OTHERS)
def test_wrapped_inbound(bench, case):
    """Plaintext that a policy protects, in a frame that the kernel may decapsulate, is dropped."""
    out, inb = bench.tunnel()
    reason = "vlan-tag" if case in TAGGED else "ethertype"
    frame = to_gateway(bench, "wan", (TAGGED | OTHERS)[case] + raw(to_host()))
    with Tap(bench, "wan") as tap:
        with bench.dropped(reason):
            bench.wan.send(frame)
        assert not tap.got(frame[:12], QUIET), "the kernel got it"
    bench.expect_flow(out, inb)


@cases(*TAGGED, *OTHERS)
def test_wrapped_outbound(bench, case):
    """Such frames from the TAP, as a VLAN interface on it would send them, are dropped, too."""
    out, inb = bench.tunnel()
    frame = from_gateway(bench, "wan", (TAGGED | OTHERS)[case] + raw(to_far_host()))
    with Tap(bench, "wan") as tap, bench.dropped("vlan-tag" if case in TAGGED else "ethertype"):
        tap.send(frame)
    bench.expect_flow(out, inb)


FOR_THE_KERNEL = {
    "lldp": bytes.fromhex("88cc") + bytes(40),
    "eapol": bytes.fromhex("888e") + bytes(40),
    "lacp": bytes.fromhex("8809") + bytes(40),
    "stp": bytes.fromhex("0026 4242 03") + bytes(40),
    "isis": bytes.fromhex("0026 fefe 03") + bytes(40),
}


@cases(*FOR_THE_KERNEL)
def test_for_the_kernel(bench, case):
    """Frames of link-layer protocols pass between wire and kernel in both directions, unchanged."""
    frame = to_gateway(bench, "wan", FOR_THE_KERNEL[case])
    with Tap(bench, "wan") as tap:
        bench.wan.send(frame)
        assert tap.got(frame), "the kernel did not get it"
        frame = from_gateway(bench, "wan", FOR_THE_KERNEL[case])
        bench.wan.drain()
        tap.send(frame)
        assert any(got[:len(frame)] == frame for got in bench.wan.frames(PATIENCE)), "it did not leave"


def test_tag_in_front_of_ike(bench):
    """Tagged frames are dropped even if a policy lets the untagged packet pass."""
    bench.tunnel()
    inner = IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500)
    with bench.dropped("vlan-tag"):
        bench.wan.send(to_gateway(bench, "wan", TAGGED["8100"] + raw(inner)))
