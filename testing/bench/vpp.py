# SPDX-License-Identifier: GPL-2.0-or-later
"""VPP as a gateway of the bench: a VPP that the user has built or installed, with its own packet generator instead of
net_bench's ports, which a VPP with a DPDK of its own cannot load. Its cycles are those that "show runtime" has for each node."""
import dataclasses
import glob
import os
import re
import socket
import statistics
import time

from gateways import MAC, Gateway
from measure import ENOUGH
from traffic import FAR_HOSTS, HOST, LAN, LAN_PORT, PEERS, ROUTER, WAN, WAN_PORT

VPP_TUNNELS, VPP_SIZES = [1, 1000, 10000], ["64", "512", "1408", "imix"]
PACKETS = 16384  # of a slice: 64 of VPP's frames
PATIENCE = 60  # seconds, for an answer: 10,000 tunnels are set up by one command
ALGORITHMS = {"aes128gcm16": "crypto-alg aes-gcm-128", "aes256gcm16": "crypto-alg aes-gcm-256",
              "aes128-sha1": "crypto-alg aes-cbc-128 integ-alg sha1-96",
              "aes128-sha256": "crypto-alg aes-cbc-128 integ-alg sha-256-128"}

# One worker, as cygnetd has one. Plugins of older releases are named as well; VPP ignores names that it does not have.
STARTUP = """\
unix {{ nodaemon nosyslog nobanner cli-line-mode cli-no-pager runtime-dir {work} cli-listen {work}/cli }}
cpu {{ main-core {main_core} corelist-workers {core} }}
buffers {{ buffers-per-numa 16384 default data-size 2048 page-size default-hugepage }}
memory {{ main-heap-size {heap}M main-heap-page-size default-hugepage }}
api-segment {{ prefix {prefix} }}
statseg {{ socket-name {work}/stats size 256M }}
plugins {{
	plugin default {{ disable }}
	plugin ipip_plugin.so {{ enable }}
	plugin crypto_native_plugin.so {{ enable }}
	plugin crypto_ipsecmb_plugin.so {{ enable }}
	plugin crypto_openssl_plugin.so {{ enable }}
}}
"""

# A line of "show runtime": name, state, calls, vectors, suspends, clocks per vector, vectors per call.
NODE = re.compile(r"^(\S+) .*?(\d+) +(\d+) +(\d+) +(\S+) +(\S+) *$", re.M)
COUNTER = re.compile(r"(rx|tx) (packets|bytes) +(\d+)")
COLOUR = re.compile("\033\\[[0-9;]*m")


def heap_mb(tunnels):
    """@return MiB that VPP needs with so many tunnels, in huge pages"""
    return 1024 + tunnels // 5


class Cli:
    """VPP's command line. An answer is the command itself, then text, and ends with a zero byte."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)

    def __call__(self, line):
        self.socket.sendall(line.encode() + b"\n")
        text = b""
        while not text.endswith(b"\0"):
            try:
                more = self.socket.recv(1 << 16)
            except TimeoutError:
                more = b""
            if not more:
                raise RuntimeError(f"{self.path}: vpp does not answer '{line}': {text.decode(errors='replace')[-2000:]}")
            text += more
        return COLOUR.sub("", text[:-1].decode(errors="replace")).partition("\n")[2]


@dataclasses.dataclass
class Counted:
    """What was measured, with the names of control.Counted."""
    slices: list  # cycles and those of the packet generator, per packet
    offered: int
    received: int
    received_bytes: int

    @property
    def lost(self):
        return 1 - self.received / self.offered

    @property
    def cycles(self):
        return statistics.median(cycles for cycles, _ in self.slices)

    @property
    def generator(self):
        """Of these cycles those of the packet generator"""
        return statistics.median(generator for _, generator in self.slices)


def vectors_of(runtime):
    """@return {node: (vectors, clocks per vector)} of the last thread of "show runtime", the worker"""
    worker = runtime[runtime.rindex("Thread "):]
    return {name: (int(vectors), float(clocks)) for name, _, vectors, _, clocks, _ in NODE.findall(worker) if int(vectors)}


class Vpp(Gateway):
    """VPP with route-based tunnels: ipip interfaces that are protected, as VPP's own measurements (CSIT) have them."""
    name = "vpp"
    cli = None

    def make_ports(self, sets):
        """@param sets  of whole frames
        @return for each set its port and file"""
        with open(sets) as lines:
            return [(int(port), path) for port, path in map(str.split, lines)]

    def command(self):
        others = sorted(os.sched_getaffinity(0) - {self.options.core})
        if not others:
            raise RuntimeError("vpp needs a second CPU, for its main thread")
        with open(f"{self.work}/startup.conf", "w") as conf:
            conf.write(STARTUP.format(work=self.work, prefix=self.prefix, core=self.options.core, main_core=others[0],
                                      heap=heap_mb(len(self.tunnels))))
        return [self.options.vpp, "-c", f"{self.work}/startup.conf"]

    def is_ready(self):
        try:
            self.cli = Cli(f"{self.work}/cli")
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True

    def start(self):
        super().start()
        lines = [line for line in self.lines() if line]
        with open(f"{self.work}/exec", "w") as file:
            file.write("\n".join(lines) + "\n")
        wrong = self.cli(f"exec {self.work}/exec")
        if re.search("error|unknown|failed|invalid|already|not found|no such", wrong, re.I):
            raise RuntimeError(f"vpp refuses its configuration:\n{wrong[-2000:]}")

    def lines(self):
        """VPP's commands"""
        for port, own, other in ((LAN_PORT, LAN, HOST), (WAN_PORT, WAN, ROUTER)):
            yield f"create packet-generator interface pg{port} hw-addr 02:00:00:00:00:0{port}"
            yield f"set interface state pg{port} up"
            yield f"set interface ip address pg{port} {own}/24"
            yield f"set interface mtu packet {self.mtu} pg{port}"
            yield f"set ip neighbor static pg{port} {other} {MAC.format(port=port)}"
        yield f"ip route add {PEERS}/15 via {ROUTER} pg{WAN_PORT}"
        yield from (f"set crypto handler {words}" for words in self.options.vpp_handlers)
        for tunnel in self.tunnels:
            yield from self.tunnel_lines(tunnel)
        for number, (port, path) in enumerate(self.ports):
            yield (f"packet-generator new {{ name s{number} limit {PACKETS} node ethernet-input source pg{port} "
                   f"pcap {path} }}")

    @staticmethod
    def tunnel_lines(tunnel):
        number, suite = tunnel.index, tunnel.suite
        for spi, way, words in ((tunnel.out_spi, "out", ""), (tunnel.in_spi, "in", " inbound")):
            cipher, auth = tunnel.keys(way)
            key, salt = cipher[:suite.key], cipher[suite.key:]
            words += f" salt 0x{salt.hex()}" if salt else f" integ-key {auth.hex()}"
            yield f"ipsec sa add {spi} spi {spi} esp crypto-key {key.hex()} {ALGORITHMS[suite.name]}{words}"
        yield f"create ipip tunnel src {WAN} dst {tunnel.peer} instance {number}"
        yield f"ipsec tunnel protect ipip{number} sa-in {tunnel.in_spi} sa-out {tunnel.out_spi}"
        yield f"set interface unnumbered ipip{number} use pg{WAN_PORT}"
        yield f"set interface state ipip{number} up"
        yield f"ip route add {tunnel.far_host}/32 via ipip{number}"

    def stop(self):
        super().stop()
        for path in glob.glob(f"/dev/shm/{self.prefix}-*"):
            os.unlink(path)

    def run(self, frames, seconds, **_):
        """Send slices of a set of frames for so long, and at least as many as are enough.
        @return Counted"""
        self.resume()
        try:
            begin = time.monotonic()
            self.slice(frames, 0)  # a warm-up
            lasts = time.monotonic() - begin
            self.cli("clear interfaces")
            slices, end = [], time.monotonic() + seconds
            while time.monotonic() < end or len(slices) < ENOUGH:
                slices.append(self.slice(frames, lasts))
            out = f"pg{WAN_PORT if self.ports[frames][0] == LAN_PORT else LAN_PORT}"
            sent = {(way, what): int(number) for way, what, number in COUNTER.findall(self.cli(f"show interface {out}"))}
        finally:
            self.pause()
        return Counted(slices, PACKETS * len(slices), sent.get(("tx", "packets"), 0), sent.get(("tx", "bytes"), 0))

    def slice(self, frames, lasts):
        """@param lasts  about so many seconds: meanwhile VPP is left alone
        @return cycles of a packet, and those of the packet generator in them"""
        self.cli("clear runtime")
        self.cli(f"packet-generator enable-stream s{frames}")
        end = time.monotonic() + PATIENCE
        time.sleep(lasts)
        while True:
            nodes = vectors_of(self.cli("show runtime"))
            if nodes.get("pg-input", (0,))[0] >= PACKETS:
                break
            if time.monotonic() > end:
                raise RuntimeError("vpp: the packet generator does not end")
            time.sleep(0.001)
        total = sum(vectors * clocks for vectors, clocks in nodes.values())
        # pg-input makes packets, and the interfaces' own nodes free them.
        own = sum(vectors * clocks for name, (vectors, clocks) in nodes.items() if re.fullmatch("pg-input|pg[01]-tx", name))
        return total / PACKETS, own / PACKETS
