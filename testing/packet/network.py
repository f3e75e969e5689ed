# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces and raw ports around one cygnetd."""
import contextlib
import ctypes
import os
import select
import socket
import subprocess
import threading
import time

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
PACKET_OUTGOING = 4
SLOWDOWN = int(os.environ.get("CYGNET_SLOWDOWN", 1))  # of this machine: testing/lib/wait.sh
# The run has been told to end, and perhaps cygnetd, too: what a test puts back waits for in vain.
ENDING = threading.Event()
PATIENCE = 30 * SLOWDOWN  # limit in seconds for an event that is certain to happen, also on a busy machine
POLL = 0.05  # seconds for which a wait sleeps at most
libc = ctypes.CDLL(None, use_errno=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def ip_batch(namespace, lines):
    """Commands of ip, in one process."""
    subprocess.run(["ip", "-n", namespace, "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


@contextlib.contextmanager
def inside(name):
    """Sockets created in the body belong to the network namespace."""
    with open("/proc/self/ns/net") as home, open(f"/run/netns/{name}") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        try:
            yield
        finally:
            libc.setns(home.fileno(), CLONE_NEWNET)


class Limit:
    """A limit in seconds for a wait that polls. A poll counts as 0.1 at most, so that a pause of the machine does
    not."""

    def __init__(self, seconds):
        self.left, self.before = seconds, time.monotonic()

    def over(self):
        now = time.monotonic()
        self.left -= min(now - self.before, 2 * POLL)
        self.before = now
        return self.left <= 0


def readable(sockets, timeout):
    """Wait until sockets are readable. @return these; none after timeout seconds"""
    limit = Limit(timeout)
    while not (ready := select.select(sockets, [], [], min(timeout, POLL))[0]) and not limit.over():
        pass
    return ready


def frames(ports, timeout):
    """Frames from the gateway at these ports, until none has arrived for timeout seconds."""
    while ready := readable([port.socket for port in ports], timeout):
        for sock in ready:
            frame, address = sock.recvfrom(65536)
            if address[2] != PACKET_OUTGOING:
                yield frame


class Port:
    """The far end of one of the gateway's veths: sends and receives whole frames."""

    def __init__(self, namespace, device):
        with inside(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.socket.bind((device, ETH_P_ALL))
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        self.mac = self.socket.getsockname()[4]

    def send(self, frame):
        self.socket.send(bytes(frame))

    def frames(self, timeout):
        return frames([self], timeout)

    def drain(self):
        for _ in self.frames(0):
            pass


class Network:
    """Two namespaces: gw, where cygnetd lives, and far, the hosts' end of its veths."""

    ports = ("lan", "wan")

    def __init__(self):
        self.gw = f"cyg-{os.getpid()}-gw"
        self.far = f"cyg-{os.getpid()}-far"

    def add_veth(self, port):
        ip("link", "add", f"{port}-veth", "netns", self.gw,
           "type", "veth", "peer", "name", port, "netns", self.far)
        for namespace, device in ((self.gw, f"{port}-veth"), (self.far, port)):
            ip("netns", "exec", namespace, "sysctl", "-q", "-w",
               f"net.ipv6.conf.{device}.disable_ipv6=1")
            # No offloads: frames have checksums and none exceeds the MTU, as on a wire.
            subprocess.run(["ip", "netns", "exec", namespace, "ethtool", "-K", device, "rx", "off",
                            "tx", "off", "tso", "off", "gso", "off", "gro", "off"],
                           check=True, stdout=subprocess.DEVNULL)
            ip("-n", namespace, "link", "set", device, "up")
        ip("-n", self.far, "link", "set", port, "arp", "off")

    def __enter__(self):
        try:
            for namespace in (self.gw, self.far):
                ip("netns", "add", namespace)
                ip("netns", "exec", namespace, "sysctl", "-q", "-w",
                   "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0")
                ip("-n", namespace, "link", "set", "lo", "up")
            for port in self.ports:
                self.add_veth(port)
            # The kernel forwards any packet that it receives.
            ip("netns", "exec", self.gw, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1",
               "net.ipv6.conf.all.forwarding=1")
            self.lan, self.wan = (Port(self.far, port) for port in self.ports)
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for namespace in (self.gw, self.far):
            subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)


def wait_until(condition, what, seconds=PATIENCE):
    """Poll; the error names the condition, also when the time of the whole test is over."""
    if ENDING.is_set():
        seconds = min(seconds, SLOWDOWN)
    limit = Limit(seconds)
    try:
        while not condition():
            assert not limit.over(), f"{seconds} s passed without: {what}"
            time.sleep(0.01)
    except TimeoutError as error:
        raise TimeoutError(f"{error}, waiting for: {what}") from None
