# SPDX-License-Identifier: GPL-2.0-or-later
"""The gateways on veths, through the kernel on both sides: what is left of a
difference where ports are slow. dpdk-testpmd sends on another core; what arrives
at the far end is counted by the kernel, and nobody receives it."""
import os
import shutil
import signal
import subprocess
import time

from gateways import MORTAL, Cygnetd, Secgw, ip
from traffic import HOST

SETTLE = 0.1  # seconds until a flow runs again


class OnVeths:
    """Mixed into a gateway: its ports are lan-veth and wan-veth in a namespace of its own."""
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

    def arrived(self):
        counted = self.in_namespace("cat", "/sys/class/net/wan-far/statistics/rx_packets",
                                    capture_output=True, text=True)
        return int(counted.stdout)


class VethCygnetd(OnVeths, Cygnetd):
    pass


class VethSecgw(OnVeths, Secgw):
    def program(self):
        return self.options.secgw + "-veth"


class Sender:
    """dpdk-testpmd at the LAN's far end, as fast as it goes."""

    def __init__(self, gateway, size):
        self.gateway, self.prefix = gateway, gateway.prefix + "-sender"
        core = (gateway.options.core + 1) % (os.cpu_count() or 1)
        self.process = subprocess.Popen(
            [*MORTAL, "ip", "netns", "exec", gateway.namespace, "dpdk-testpmd", "--lcores", f"(0-1)@{core}",
             "--no-pci", "--in-memory", "--file-prefix", self.prefix, "-m", "128",
             "--vdev", "net_af_packet0,iface=lan-far", "--", "--forward-mode=txonly", "--auto-start",
             "--stats-period=1000", f"--txpkts={size}", f"--tx-ip={HOST},{gateway.tunnels[0].far_host}",
             "--eth-peer=0,02:00:00:00:00:00", "--total-num-mbufs=4096"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def send(self, word):
        self.process.send_signal(word)

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(f"/run/dpdk/{self.prefix}", ignore_errors=True)


def rate(gateway, sender, seconds):
    """@return packets per second that arrive, protected, at the far end"""
    sender.send(signal.SIGCONT)
    gateway.resume()
    time.sleep(SETTLE)
    start, before = time.monotonic(), gateway.arrived()
    time.sleep(seconds)
    packets, elapsed = gateway.arrived() - before, time.monotonic() - start
    gateway.pause()
    sender.send(signal.SIGSTOP)
    return packets / elapsed


def rates(gateways, size, seconds, rounds):
    """A B A B ... @return per gateway its rates, packets per second"""
    senders = []
    found = [[] for _ in gateways]
    try:
        for gateway in gateways:
            senders.append(Sender(gateway, size))
            wait_for_flow(gateway)
            senders[-1].send(signal.SIGSTOP)
        for _ in range(rounds):
            for gateway, sender, mine in zip(gateways, senders, found):
                mine.append(rate(gateway, sender, seconds))
    finally:
        for sender in senders:
            sender.stop()
    return found


def wait_for_flow(gateway):
    gateway.resume()
    end = time.monotonic() + 30
    before = gateway.arrived()
    while gateway.arrived() < before + 1000:
        if time.monotonic() > end:
            raise RuntimeError(f"{gateway.name}: nothing arrives through the veths")
        time.sleep(0.1)
    gateway.pause()
