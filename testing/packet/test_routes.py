# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's routes change at random: where packets go is what `ip route get` says, for plaintext and for ESP.

CYGNET_ROUTE_SEED=N makes the changes of another run again, and CYGNET_ROUTE_STEPS makes more (a hundred take about a minute)."""
import contextlib
import json
import os
import random
import re
import socket
import subprocess
import zlib

from bench import packet, policy, to_far_host
from gateway import FAR_HOST, HOST, HOST6, LAN_NET, PEER, PEER6
from network import Port, ip_batch, wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_ipv6 import packet6
from test_trace import verdict

STEPS = int(os.environ.get("CYGNET_ROUTE_STEPS", "12"))
CHANGES = 12  # number of changes in a step
TARGETS = {4: [f"10.64.{net}.{host}" for net in (0, 1, 2) for host in (1, 66, 130)],
           6: [f"2001:db8:64:{net}{host}" for net in (":", "1::") for host in (1, "8001:1", "c001:1")]}
PREFIXES = {4: ["10.64.0.0/16", "10.64.0.0/23", "10.64.0.0/24", "10.64.1.0/24", "10.64.2.0/24", "10.64.0.64/26",
                "10.64.1.128/25", "10.64.0.1/32", "10.64.2.66/32"],
            6: ["2001:db8:64::/48", "2001:db8:64::/63", "2001:db8:64::/64", "2001:db8:64:1::/64",
                "2001:db8:64::8000:0/97", "2001:db8:64:1::1/128"]}
DEVICES = ("wan", "lan", "mv0", "other")  # two ports, a macvlan on a port, and an interface that is no port
NETS = {"wan": ("192.0.2", "2001:db8:f"), "lan": ("10.1.0", "2001:db8:1"), "mv0": ("203.0.113", "2001:db8:a"),
        "other": ("198.51.100", "2001:db8:b")}
VMAC = "00:00:5e:00:01:0c"
RULES = ("220 lookup 220", "500 lookup 77", "600 lookup main suppress_prefixlength {short}", "700 not fwmark 0x1 lookup 77",
         "710 fwmark 0x1 lookup 77", "720 lookup default", "40000 lookup 77", "50 goto 700")
TABLES = ("", "", "", " table 220", " table default", " table 77")


def routers(family, device):
    net = NETS[device][family == 6]
    return [f"{net}.{host}" if family == 4 else f"{net}::{host:x}" for host in (20, 21)]


def mac_of(device, address):
    """A different MAC address for each neighbour."""
    return f"02:{DEVICES.index(device):02x}:" + zlib.crc32(packed(address)).to_bytes(4, "big").hex(":")


def packed(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


class Kernel:
    """The gateway's kernel, and the wires on which its packets and cygnetd's are seen."""

    def __init__(self, bench):
        self.bench, self.gw = bench, bench.network.gw
        self.ways = set()  # all results of route() so far

    def __enter__(self):
        far = self.bench.network.far
        subprocess.run(["ip", "link", "add", "other", "netns", self.gw, "type", "veth", "peer", "name", "other",
                        "netns", far], check=True)
        ip_batch(far, ["link set other up arp off"])
        ip_batch(self.gw, [f"link add mv0 link wan address {VMAC} type macvlan mode bridge",
                           *(line for device in ("mv0", "other") for line in (
                               f"link set {device} up", f"address add {NETS[device][0]}.1/24 dev {device}",
                               f"address add {NETS[device][1]}::1/64 dev {device} nodad"))])
        self.wires = {"wan": self.bench.wan, "lan": self.bench.lan, "other": Port(far, "other")}
        self.know_neighbours()
        return self

    def know_neighbours(self):
        ip_batch(self.gw, [f"neigh replace {address} dev {device} lladdr {mac_of(device, address)} nud permanent"
                           for device in DEVICES for family in (4, 6)
                           for address in TARGETS[family] + routers(family, device) + ["fe80::20"] * (family == 6)])

    def know_neighbours_again(self):
        """Restore what the kernel removes when an interface goes down: neighbours and IPv6 addresses."""
        subprocess.run(["ip", "-n", self.gw, "-force", "-batch", "-"], text=True, check=False, input="".join(
            f"address replace {NETS[device][1]}::1/64 dev {device} nodad\n" for device in ("mv0", "other")),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "-n", self.gw, "-force", "-batch", "-"], text=True, check=False, input="".join(
            f"neigh replace {address} dev {device} lladdr {mac_of(device, address)} nud permanent\n"
            for device in ("mv0", "other") for family in (4, 6)
            for address in TARGETS[family] + routers(family, device) + ["fe80::20"] * (family == 6)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.bench.gateway.hear()

    def __exit__(self, *_):
        ip_batch(self.gw, ["link del other", "link del mv0"])
        for command in (["route", "flush", "table", "77"], ["route", "flush", "table", "220"], ["nexthop", "flush"],
                        ["-6", "route", "flush", "table", "77"], ["-6", "route", "flush", "table", "220"]):
            subprocess.run(["ip", "-n", self.gw, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        for family in (4, 6):
            for prefix in PREFIXES[family]:
                for table in ("main", "default"):
                    subprocess.run(["ip", "-n", self.gw, f"-{family}", "route", "flush", "exact", prefix, "table", table],
                                   stderr=subprocess.DEVNULL, check=False)
        self.change([f"{family}rule del priority {rule.format(short=short)}" for rule in RULES
                     for family, short in (("", 23), ("-6 ", 63)) for _ in range(5)])
        self.bench.gateway.set_up_taps()

    def tables(self, target):
        """The tables of the kernel and of cygnetd, for error messages."""
        family = "-6" if ":" in target else "-4"
        rows = [row for row in self.bench.gateway.ask("/cygnet/routes").values() if (":" in row["prefix"]) == (":" in target)]
        return "\n".join([self.bench.gateway.in_gw("ip", family, *words, capture_output=True, text=True).stdout for words in (
            ("route", "show", "table", "all", "match", target), ("rule",), ("nexthop",))] + [str(row) for row in rows])

    def change(self, lines):
        """Some commands fail, because a route exists already or does not exist."""
        for family in ("-4", "-6"):
            chosen = [line.removeprefix("-6 ") for line in lines if line.startswith("-6") == (family == "-6")]
            subprocess.run(["ip", "-n", self.gw, *([family] if family == "-6" else []), "-force", "-batch", "-"],
                           input="\n".join(chosen) + "\n", text=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        self.bench.gateway.hear()

    def route(self, targets):
        """For each target the possible (device, MAC address) of the next hop, "none" or "local"."""
        got = subprocess.run(["ip", "-n", self.gw, "-j", "-force", "-batch", "-"],
                             input="".join(f"route get fibmatch {target}\n" for target in targets),
                             capture_output=True, text=True, check=False)
        failed = {int(number) - 1 for number in re.findall(r"^Command failed -:(\d+)", got.stderr, re.M)}
        answers, at, decoder = [], 0, json.JSONDecoder()
        while at < len(got.stdout.rstrip()):
            answer, at = decoder.raw_decode(got.stdout, at)
            at += len(got.stdout[at:]) - len(got.stdout[at:].lstrip())
            if answer and answer[0]:
                answers.append(answer[0])
        found = {}
        for number, target in enumerate(targets):
            found[target] = {"none"} if number in failed else hops(answers.pop(0), target)
        assert not answers, got
        return found


def hops(answer, target):
    """Next hops of a route in the format of `ip -json route get fibmatch`."""
    kind = answer.get("type", "unicast")
    if kind != "unicast":
        return {"local" if kind == "local" else "none"}
    every = [hop for hop in answer.get("nexthops", [answer]) if "dead" not in hop.get("flags", [])]
    # Of several next hops cygnetd takes one by a port, if there is one. Otherwise the kernel takes any.
    mine = [hop for hop in every if hop["dev"] != "other" and "encap" not in hop] or every
    return {"kernel" if "encap" in hop or "encap" in answer else
            (hop["dev"], mac_of(hop["dev"], hop.get("gateway") or hop.get("via", {}).get("host") or target)) for hop in mine}


class Changes:
    """Generate random commands of ip."""

    def __init__(self, choice):
        self.random = choice

    def __call__(self):
        return self.random.choices((self.some_route, self.some_rule, self.some_object, self.some_link), (10, 2, 2, 1))[0]()

    def some_rule(self):
        family = self.random.choice((4, 6))
        rule = self.random.choice(RULES).format(short=23 if family == 4 else 63)
        return f"{'-6 ' if family == 6 else ''}rule {self.random.choice(('add', 'del'))} priority {rule}"

    def some_link(self):
        return f"link set {self.random.choice(('other', 'mv0'))} {self.random.choice(('up', 'up', 'down'))}"

    def some_object(self):
        verb, number = self.random.choice(("add", "replace", "del")), self.random.randrange(1, 7)
        family = 4 if number <= 3 else 6
        if self.random.random() < 0.3:
            members = "/".join(str(one) for one in self.random.sample(range(1, 4) if family == 4 else range(4, 7), 2))
            return f"nexthop {verb} id {number + 10}" + (f" group {members}" if verb != "del" else "")
        if verb == "del":
            return f"nexthop del id {number}"
        if family == 4 and self.random.random() < 0.15:
            return f"nexthop {verb} id {number} blackhole"
        return f"nexthop {verb} id {number} via {self.hop(family)}"

    def hop(self, family):
        device = self.random.choice(DEVICES)
        return f"{self.random.choice(routers(family, device))} dev {device}"

    def some_route(self):
        family = self.random.choice((4, 4, 6))
        verb = self.random.choice(("add", "add", "append", "replace", "replace", "del") + ("prepend",) * (family == 4))
        table = self.random.choice(TABLES)
        # IPv6 routes with and without gateways and of one metric have no order.
        gateways = self.random.random() < 0.6
        metric = self.random.choice((100, 200)) + (family == 6 and not gateways)
        prefix = self.random.choice(PREFIXES[family])
        tail = f"{table} metric {metric}" + (f" mtu {self.random.randrange(1300, 1500)}" if self.random.random() < 0.2 else "")
        if not gateways:
            kind = self.random.choice(("dev", "dev", "blackhole", "unreachable", "prohibit", "throw"))
            what = f"{prefix} dev {self.random.choice(DEVICES)}" if kind == "dev" else f"{kind} {prefix}"
            return f"route {verb} {what}{tail if kind == 'dev' else tail.split(' mtu')[0]}"
        return f"route {verb} {prefix}{tail} {self.gateway(family)}"

    def gateway(self, family):
        kind = self.random.choice(("one", "one", "several", "object", "inet6", "onlink", "encap"))
        if kind == "several":
            return " ".join(f"nexthop via {self.hop(family)}" for _ in range(self.random.choice((2, 3))))
        if kind == "object":
            return f"nhid {self.random.randrange(1, 4) + (family == 6) * 3 + self.random.choice((0, 10))}"
        if kind == "inet6" and family == 4:
            return f"via inet6 fe80::20 dev {self.random.choice(DEVICES)}"
        if kind == "onlink":
            device = self.random.choice(DEVICES)
            return f"via {self.random.choice(TARGETS[family])} dev {device} onlink"
        if kind == "encap":
            return f"encap seg6 mode encap segs fc00::1 via {self.hop(6)}" if family == 6 else f"via {self.hop(4)}"
        return f"via {self.hop(family)}"


class Traffic:
    """Packets that become plaintext to each target, and ESP to each target as a peer."""

    def __init__(self, bench, kernel):
        self.bench, self.kernel = bench, kernel
        lines, self.plain, self.inner = ["flush"], {}, {}
        for number, target in enumerate(TARGETS[4] + TARGETS[6]):
            v6 = ":" in target
            far = f"10.2.77.{number}"
            out = Sa(SUITE["gcm128"], "out", bench.spi(), v6=v6)
            out.dst = target
            lines += [out.line(), policy("out", LAN_NET, f"{far}-{far}", spi=out.spi, v6=v6)
                      .replace(f"end={PEER6 if v6 else PEER}", f"end={target}")]
            self.plain[target] = bench.frame(bench.lan, "lan", packet6(HOST6, target) if v6 else packet(HOST, target))
            self.inner[target] = bench.frame(bench.lan, "lan", packet(HOST, far))
        bench.gateway.fill(*lines)

    def seen(self, frames):
        """Send the frames, and wait until each packet has been sent or dropped. @return device and MAC address of each
        that was sent, in the format of Kernel.route()"""
        for wire in self.kernel.wires.values():
            wire.drain()
        before = self.bench.gateway.drops()
        for frame in frames.values():
            self.bench.lan.send(frame)
        seen = {}

        def all_accounted_for():
            for device, wire in self.kernel.wires.items():
                for frame in wire.frames(0):
                    target = target_of(frame)
                    if target in frames:
                        seen[target] = ("mv0" if frame[6:12].hex(":") == VMAC else device, frame[:6].hex(":"))
            return len(seen) + sum(self.bench.drops_since(before).values()) >= len(frames)

        with contextlib.suppress(AssertionError):
            wait_until(all_accounted_for, "each packet has been sent or dropped")
        return seen


def target_of(frame):
    if frame[12:14] == b"\x08\x00":
        return socket.inet_ntop(socket.AF_INET, frame[30:34])
    if frame[12:14] == b"\x86\xdd":
        return socket.inet_ntop(socket.AF_INET6, frame[38:54])
    return None


def check(kernel, traffic, steps_before):
    """Compare all targets, plaintext and ESP."""
    wanted = kernel.route(TARGETS[4] + TARGETS[6])
    for frames, esp in ((traffic.plain, False), (traffic.inner, True)):
        # Plaintext that is passed to the kernel is routed by the kernel, and does not always appear on a wire.
        by_kernel = {target for target, ways in wanted.items() if "kernel" in ways}
        seen = traffic.seen({target: frame for target, frame in frames.items() if esp or target not in by_kernel})
        for target in frames:
            if not esp and target in by_kernel:
                continue
            ways = wanted[target]
            got = seen.get(target, "none")
            if esp and any(way == "kernel" or way[0] == "other" for way in ways):
                right = got == "none"
            else:
                right = got in ways
            kernel.ways.update(ways)
            assert right, (f"{'ESP' if esp else 'plaintext'} to {target} goes to {got}, by the kernel to {ways}, after "
                           f"{steps_before}\n{kernel.tables(target)}")


def test_routes_as_the_kernel(bench):
    """For plaintext and ESP, while routes, next-hop objects and links change."""
    seed = int(os.environ.get("CYGNET_ROUTE_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"CYGNET_ROUTE_SEED={seed}", flush=True)
    changes = Changes(random.Random(seed))
    with Kernel(bench) as kernel:
        traffic = Traffic(bench, kernel)
        for step in range(STEPS):
            lines = [changes() for _ in range(CHANGES)]
            kernel.change(lines)
            kernel.know_neighbours_again()
            check(kernel, traffic, f"step {step}: {lines}")
        # With any seed packets must have taken different routes.
        assert len(kernel.ways) > 5, kernel.ways
    bench.gateway.fill("flush")


UNUSABLE = {
    "device": "{peer} dev other",
    "gateway": "{peer} via 198.51.100.20 dev other",
    "several": "{peer} nexthop via 198.51.100.20 dev other nexthop via 198.51.100.21 dev other",
    "local": "local {peer} dev lo table local",
}


@cases(*UNUSABLE)
def test_route_unusable(bench, case):
    """A protected packet that only the kernel could send is dropped, counted and logged, and a trace says so."""
    route = UNUSABLE[case].format(peer=f"{PEER}/32")
    with Kernel(bench) as kernel:
        out, inb = bench.tunnel()
        kernel.change([f"route add {route}"])
        with bench.dropped("route-unusable", 2):
            bench.from_lan(to_far_host(), to_far_host())
        assert verdict(bench, f"src {HOST} dst {FAR_HOST}") == "dropped route-unusable"
        wait_until(lambda: bench.gateway.logged("dropped as route-unusable"), "it is logged")
        kernel.change([f"route del {route}"])
        bench.gateway.learn_neighbours()
        bench.gateway.hear()
        bench.expect_flow(out, inb)
    assert bench.gateway.log_since(0).count("dropped as route-unusable") <= 1 + bench.gateway.log_since(0).count("cygnetd: ready")
