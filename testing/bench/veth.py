# SPDX-License-Identifier: GPL-2.0-or-later
"""The gateways with AF_PACKET ports on veths, to compare them with slow ports. dpdk-testpmd sends
the frames of a file repeatedly, from another core. The kernel counts the packets that arrive at
the other side."""
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import time

from control import Lost
from gateways import MORTAL, Cygnetd, Secgw, ip

SETTLE = 0.1  # seconds until packets flow after a gateway was resumed
TRIES = 5  # measurements of a round, until packets arrive in one
CUT = ("csit",)  # mixes whose longest frame needs fragmentation with ESP and the MTU of veths
# The far ends that frames are sent from and arrive at, by direction.
FROM, TO = {"encap": "lan-far", "decap": "wan-far"}, {"encap": "wan-far", "decap": "lan-far"}


class OnVeths:
    """Mix-in for a gateway whose ports are lan-veth and wan-veth in a network namespace of its own."""
    mtu = 1500

    def make_ports(self, sets):
        return [f"net_af_packet{port},iface={name}-veth" for port, name in enumerate(("lan", "wan"))]

    def make_namespace(self):
        super().make_namespace()
        for port, name in enumerate(("lan", "wan")):
            ip("link", "add", f"{name}-veth", "netns", self.namespace, "address",
               f"02:00:00:00:00:0{port}", "type", "veth", "peer", "name", f"{name}-far",
               "netns", self.namespace)
            for device in (f"{name}-veth", f"{name}-far"):
                self.in_namespace("ethtool", "-K", device, "rx", "off", "tx", "off", "tso", "off",
                                  "gso", "off", "gro", "off", stdout=subprocess.DEVNULL)
                ip("-n", self.namespace, "link", "set", device, "up")

    def arrived(self, direction):
        """@return packets and bytes received by the far end"""
        shown = subprocess.run(["ip", "-n", self.namespace, "-j", "-s", "link", "show", "dev", TO[direction]],
                               check=True, capture_output=True, text=True).stdout
        counted = json.loads(shown)[0]["stats64"]["rx"]
        return counted["packets"], counted["bytes"]


class VethCygnetd(OnVeths, Cygnetd):
    pass


class VethSecgw(OnVeths, Secgw):
    def program(self):
        return self.options.secgw + "-veth"


class Sender:
    """dpdk-testpmd at a far end, at full rate. @param frames  path of a pcap file"""

    def __init__(self, gateway, frames, direction):
        self.gateway, self.prefix = gateway, gateway.prefix + "-sender"
        self.log = f"{gateway.work}/sender"
        core = (gateway.options.core + 1) % (os.cpu_count() or 1)
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*MORTAL, "ip", "netns", "exec", gateway.namespace, "dpdk-testpmd", "--lcores", f"(0-1)@{core}",
                 "--no-pci", "--in-memory", "--file-prefix", self.prefix, "-m", "64",
                 "--vdev", f"net_pcap0,rx_pcap={frames},infinite_rx=1",
                 "--vdev", f"net_af_packet0,iface={FROM[direction]}", "--", "--forward-mode=io", "--auto-start",
                 "--stats-period=1000", "--total-num-mbufs=8192"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def output(self):
        with open(self.log, errors="replace") as log:
            return "".join(log.readlines()[-10:])

    def send(self, word):
        self.process.send_signal(word)

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(f"/run/dpdk/{self.prefix}", ignore_errors=True)


@dataclasses.dataclass(frozen=True)
class Arrived:
    """Packets received by the far end: packets per second, packets, bytes."""
    rate: float
    received: int
    received_bytes: int


def measure(gateway, sender, direction, seconds):
    sender.send(signal.SIGCONT)
    gateway.resume()
    time.sleep(SETTLE)
    start, before = time.monotonic(), gateway.arrived(direction)
    time.sleep(seconds)
    packets, size = (now - then for now, then in zip(gateway.arrived(direction), before))
    elapsed = time.monotonic() - start
    gateway.pause()
    sender.send(signal.SIGSTOP)
    return Arrived(packets / elapsed, packets, size)


def measure_some(gateway, sender, direction, seconds):
    """Measure until packets arrive, each time for longer: on a loaded machine the gateway or the sender may not run
    at all for a fifth of a second."""
    for tries in range(1, TRIES + 1):
        arrived = measure(gateway, sender, direction, seconds * tries)
        if arrived.received:
            break
    return arrived


def rates(gateways, frames, direction, seconds, rounds):
    """Measure the gateways in turn (A B A B ...). @return for each gateway a list of Arrived"""
    senders = []
    found = [[] for _ in gateways]
    try:
        for gateway in gateways:
            senders.append(Sender(gateway, frames, direction))
            wait_for_flow(gateway, senders[-1], direction)
            senders[-1].send(signal.SIGSTOP)
        for _ in range(rounds):
            for gateway, sender, mine in zip(gateways, senders, found):
                mine.append(measure_some(gateway, sender, direction, seconds))
    finally:
        for sender in senders:
            sender.stop()
    return found


def wait_for_flow(gateway, sender, direction):
    gateway.resume()
    end = time.monotonic() + 30
    before, _ = gateway.arrived(direction)
    while gateway.arrived(direction)[0] < before + 1000:
        if sender.process.poll() is not None or time.monotonic() > end:
            raise Lost(f"{gateway.name}: no packets arrive at {TO[direction]}; output of the sender: {sender.output()}")
        time.sleep(0.1)
    gateway.pause()
