# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGHUP under traffic: what changes at once, what needs a restart, and a broken file."""
import contextlib
import os
import re
import signal
import threading
import time

from bench import packet, same_but_hop, to_far_host
from gateway import HOST, PEER, inside_lan
from network import Port, ip, wait_until
from peer import check_used_once
from test_policy import BACK, hub, leaves_again

WINDOW = 200  # maximum number of packets in flight


class Traffic:
    """Sends a thousand packets a second from the LAN through the tunnel, and collects what leaves the WAN. Rings and
    sockets have room for all packets in flight."""

    def __init__(self, bench):
        self.bench, self.sent, self.got = bench, 0, []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self):
        while not self.stop.is_set():
            if self.sent - len(self.got) < WINDOW:
                self.bench.lan.send(self.bench.frame(self.bench.lan, "lan", to_far_host(64, id=self.sent % 65536)))
                self.sent += 1
            self.take()
            time.sleep(0.001)

    def take(self):
        """@return whether all packets have come"""
        self.got += [packet_in for packet_in in self.bench.packets(self.bench.wan, 0) if packet_in.version == 4]
        return len(self.got) >= self.sent

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


@contextlib.contextmanager
def lossless(bench):
    """The body runs under traffic: no packet of the tunnel is lost, and no sequence number is used twice."""
    out, _ = bench.tunnel()
    bench.wan.drain()
    with Traffic(bench) as traffic:
        wait_until(lambda: traffic.sent > 50, "traffic")
        yield
        already = traffic.sent
        wait_until(lambda: traffic.sent > already + 50, "traffic")
    wait_until(traffic.take, f"{traffic.sent} packets through the tunnel")
    numbers = [out.unseal(got)[1] for got in traffic.got]
    check_used_once(numbers)
    assert numbers == list(range(1, traffic.sent + 1)), "packets are lost, doubled or in another order"


def reload(bench, text, says="reloaded"):
    """Load a configuration by SIGHUP, and again if a worker had no core for too long. @return the new part of the
    log"""
    gateway = bench.gateway
    mark = os.path.getsize(gateway.log)
    gateway.write_conf(text)
    gateway.process.send_signal(signal.SIGHUP)
    wait_until(lambda: gateway.logged(says, mark), says)
    with open(gateway.log, errors="replace") as log:
        log.seek(mark)
        new = log.read()
    return new + reload(bench, text, says) if "a worker hangs" in new else new


@contextlib.contextmanager
def usual_again(bench):
    """@return the usual configuration, which is loaded again after the body"""
    usual = bench.gateway.read_conf()
    try:
        yield usual
    finally:
        reload(bench, usual)


def with_main(usual, *lines):
    return usual.replace("[cygnetd]\n", "\n".join(["[cygnetd]", *lines, ""]))


def plain():
    """A packet that matches no policy."""
    return packet(HOST, PEER)


def passes(bench, sent):
    bench.wan.drain()
    bench.from_lan(sent)
    bench.receive(bench.wan, 1)


def given(bench, key):
    """File and line that give a key of [cygnetd], as cygnetctl show info has it."""
    begin = 0
    while True:
        page = bench.gateway.ask(f"/cygnet/conf,{begin}")
        for row in page.values():
            if isinstance(row, dict) and (row["section"], row["key"]) == ("cygnetd", key):
                return row["given"]
        begin = page["next"]


def test_reload_policy(bench):
    """no_policy = drop and back, under traffic: at once, also for flows that workers have cached."""
    path = bench.gateway.conf
    with usual_again(bench) as usual:
        bench.gateway.fill("flush")
        for _ in range(3):
            passes(bench, plain())
        log = reload(bench, with_main(inside_lan(usual), "no_policy = drop"))
        assert f"cygnetd: {path}:2: [cygnetd] no_policy: drop from now on\n" in log, log
        assert given(bench, "no_policy") == f"{path}:2"
        with bench.dropped("no-policy", 5):
            bench.from_lan(*[plain()] * 5)
        reload(bench, usual)
        passes(bench, plain())
        with lossless(bench):
            for _ in range(5):
                reload(bench, with_main(re.sub(r"idle = \w+", "idle = poll", inside_lan(usual)), "no_policy = drop"))
                reload(bench, usual)


def test_reload_hairpin(bench):
    """hairpin = pass and back: a decrypted packet may leave by the port of its ESP."""
    with usual_again(bench) as usual:
        inb = hub(bench)
        with bench.dropped("hairpin"):
            bench.from_wan(inb.seal(BACK))
        assert "hairpin: pass from now on" in reload(bench, with_main(usual, "hairpin = pass"))
        leaves_again(bench, inb)
        reload(bench, usual)
        with bench.dropped("hairpin", 3):
            for _ in range(3):
                bench.from_wan(inb.seal(BACK))


def test_reload_log(bench):
    """log = warning suppresses messages of lower levels, and neither warnings nor errors."""
    with usual_again(bench) as usual:
        mark = os.path.getsize(bench.gateway.log)
        reload(bench, with_main(usual, "log = warning", "flows = 1024"), says="flows: needs a restart")
        reload(bench, with_main(usual, "sas = 0"), says="stays as it was")
        assert not bench.gateway.logged("reloaded", mark)
    assert bench.gateway.logged("log: info from now on", mark)


def test_reload_mtu(bench):
    """A port's MTU changes, on its TAP too, and packets in flight are not lost."""
    path = bench.gateway.conf
    with usual_again(bench) as usual:
        small = usual.replace("iface=wan-veth\n", "iface=wan-veth\nmtu = 1000\n")
        large = small.replace("mtu = 1000", "mtu = 1500")
        try:
            with lossless(bench):
                line = 1 + small.splitlines().index("mtu = 1000")
                assert f"{path}:{line}: [port wan] mtu: 1000 from now on\n" in reload(bench, small)
            bench.gateway.hear()
            assert mtu_of(bench, "wan") == 1000
            bench.gateway.fill("flush")
            bench.wan.drain()
            bench.from_lan(packet(HOST, PEER, 1200))
            assert len(bench.receive_pieces(bench.wan)) == 2, "a packet above the new MTU is not fragmented"
            log = reload(bench, small.replace("mtu = 1000", "mtu = 9000"))
            assert f"{path}:{line}: [port wan] mtu: device or buffers do not allow 9000" in log, log
            assert mtu_of(bench, "wan") == 1000
        finally:
            reload(bench, large)
        bench.gateway.hear()
        bench.wan.drain()
        bench.from_lan(packet(HOST, PEER, 1200))
        assert len(bench.receive_pieces(bench.wan)) == 1


def mtu_of(bench, port):
    return next(row["mtu"] for row in bench.gateway.ask("/cygnet/ports").values() if row["name"] == port)


def test_reload_restart(bench):
    """Keys that need a restart are named, each with its line, and keep their values."""
    path = bench.gateway.conf
    with usual_again(bench) as usual:
        log = reload(bench, with_main(usual, "flows = 1024", "hairpin = pass"))
        assert f"cygnetd: warning: {path}:2: [cygnetd] flows: needs a restart; it stays 65536\n" in log, log
        assert f"{path}:3: [cygnetd] hairpin: pass from now on" in log, log
        changed = usual.replace(",iface=wan-veth", ",iface=other-veth")
        log = reload(bench, changed)
        assert "[port wan] device: needs a restart; it stays net_" in log, log
        assert "hairpin: drop from now on" in log, log


def test_reload_broken(bench):
    """All errors of a broken file or drop-in are logged, and nothing changes."""
    path = bench.gateway.conf
    folder = f"{path}.d"
    with usual_again(bench) as usual, lossless(bench):
        log = reload(bench, with_main(usual, "no_policy = drop", "sas = 0", "colour = red"), "stays as it was")
        for wrong in (":3: [cygnetd] sas: 0 is not between 1 and 2097152\n", ":4: [cygnetd] colour: unknown key\n"):
            assert f"cygnetd: error: {path}{wrong}" in log, log
        assert "from now on" not in log and "reloaded" not in log
        os.mkdir(folder)
        try:
            with open(f"{folder}/50-local.conf", "w") as conf:
                conf.write("[cygnetd]\nhairpin = maybe\n")
            log = reload(bench, usual, "stays as it was")
            assert f"{folder}/50-local.conf:2: [cygnetd] hairpin: 'maybe' is not one of drop, pass\n" in log, log
            with open(f"{folder}/50-local.conf", "w") as conf:
                conf.write("[cygnetd]\nhairpin = pass\n")
            assert f"{folder}/50-local.conf:2: [cygnetd] hairpin: pass from now on\n" in reload(bench, usual)
        finally:
            os.unlink(f"{folder}/50-local.conf")
            os.rmdir(folder)
    bench.gateway.fill("flush")
    passes(bench, plain())


DMZ, DMZ_HOST = "10.3.0.1", "10.3.0.10"


class Dmz:
    """A third wire, which the configuration makes a port."""

    def __init__(self, bench):
        self.bench, self.network = bench, bench.network
        self.section = "[port dmz]\ndevice = net_af_packet7,iface=dmz-veth\n"

    def __enter__(self):
        self.network.add_veth("dmz")
        self.port = Port(self.network.far, "dmz")
        return self

    def __exit__(self, *_):
        self.port.socket.close()
        ip("-n", self.network.gw, "link", "del", "dmz-veth")

    def set_up(self):
        """Set up its TAP, as Gateway.set_up_taps() does for the other ports."""
        gw = self.network.gw
        ip("-n", gw, "address", "replace", f"{DMZ}/24", "dev", "dmz")
        ip("-n", gw, "link", "set", "dmz", "up")
        ip("-n", gw, "neigh", "replace", DMZ_HOST, "dev", "dmz", "lladdr", self.port.mac.hex(":"), "nud", "permanent")
        self.bench.gateway.mac["dmz"] = self.bench.gateway.mac_of("dmz")
        wait_until(lambda: f"{DMZ}/32" in self.prefixes(), "cygnetd knows the address")
        self.bench.gateway.hear()

    def prefixes(self):
        return {row["prefix"] for row in self.bench.gateway.ask("/cygnet/routes").values()}

    def expect_both_ways(self):
        for source, target, packets in (
                (self.bench.lan, self.port, packet(HOST, DMZ_HOST)), (self.port, self.bench.lan, packet(DMZ_HOST, HOST))):
            target.drain()
            name = "dmz" if source is self.port else "lan"
            source.send(self.bench.frame(source, name, packets))
            same_but_hop(self.bench.receive(target, 1)[0], packets)


def ports(bench):
    return [row["name"] for row in bench.gateway.ask("/cygnet/ports").values()]


def test_reload_port(bench):
    """A port is added, removed and added again, under traffic of the others."""
    with usual_again(bench) as usual, Dmz(bench) as dmz:
        for _ in range(2):
            with lossless(bench):
                log = reload(bench, usual + dmz.section)
                assert "cygnetd: port dmz: net_af_packet7,iface=dmz-veth, 1 queue, MTU 1500, TAP dmz\n" in log, log
            assert ports(bench) == ["lan", "wan", "dmz"]
            dmz.set_up()
            bench.gateway.fill("flush")
            dmz.expect_both_ways()
            # Packets for the port are in flight while it is removed.
            flood = bench.frame(bench.lan, "lan", packet(HOST, DMZ_HOST))
            for _ in range(200):
                bench.lan.send(flood)
            with lossless(bench):
                assert "port dmz: removed\n" in reload(bench, usual)
            assert ports(bench) == ["lan", "wan"]
            bench.gateway.hear()
            wait_until(lambda: f"{DMZ}/32" not in dmz.prefixes(), "cygnetd has forgotten the address")
            assert bench.gateway.in_gw("ip", "-o", "link", capture_output=True, text=True).stdout.count(" dmz:") == 0
            dmz.port.drain()
            for _ in range(20):
                bench.lan.send(flood)
                dmz.port.send(bench.frame(dmz.port, "dmz", packet(DMZ_HOST, HOST)))
            bench.expect_nothing(dmz.port)
        with usual_again(bench):
            log = reload(bench, usual + "[port bad]\ndevice = net_af_packet8,iface=nowhere\n")
            assert "cygnetd: error: port bad: " in log, log
            assert ports(bench) == ["lan", "wan"]
            log = reload(bench, usual + "[port card]\ndevice = 0000:3b:00.0\n")
            assert "[port card]: needs a restart: 0000:3b:00.0 is no virtual device" in log, log


def test_reload_port_xdp(bench):
    """A port of AF_XDP is added and removed; to add it again needs a restart."""
    with bench.gateway.rewritten(lambda usual: usual.replace("net_af_packet", "net_af_xdp")) \
            if bench.gateway.driver == "net_af_packet" else contextlib.nullcontext(), \
            usual_again(bench) as usual, Dmz(bench) as dmz:
        section = dmz.section.replace("net_af_packet7", "net_af_xdp7")
        with lossless(bench):
            log = reload(bench, usual + section)
            assert "cygnetd: port dmz: net_af_xdp7,iface=dmz-veth, 1 queue, MTU 1500, TAP dmz\n" in log, log
        dmz.set_up()
        bench.gateway.fill("flush")
        dmz.expect_both_ways()
        with lossless(bench):
            reload(bench, usual)
        log = reload(bench, usual + section)
        assert "[port dmz]: needs a restart: net_af_xdp keeps an interface until cygnetd ends\n" in log, log
        assert ports(bench) == ["lan", "wan"]


def test_reload_port_bpf(bench):
    """Without AF_XDP at the start the filter of system calls forbids bpf(): a port of AF_XDP needs a restart."""
    if bench.gateway.engine != "cpu":
        return  # the filter is not enforced by default
    with bench.gateway.rewritten(lambda usual: usual.replace("net_af_xdp", "net_af_packet")), \
            usual_again(bench) as usual, Dmz(bench) as dmz:
        log = reload(bench, usual + dmz.section.replace("net_af_packet7", "net_af_xdp7"))
        assert "[port dmz]: needs a restart: without a port of net_af_xdp at the start, seccomp forbids" in log, log
        assert ports(bench) == ["lan", "wan"]
        log = reload(bench, usual + dmz.section)
        assert ports(bench) == ["lan", "wan", "dmz"], log


def test_reload_port_of_the_start(bench):
    """A port that existed at the start is removed and added again, with AF_XDP after a restart; its tunnel
    continues."""
    with usual_again(bench) as usual:
        out, inb = bench.tunnel()
        bench.expect_flow(out, inb)
        without = usual[:usual.index("[port wan]")]
        with Traffic(bench):
            assert "port wan: removed\n" in reload(bench, without)
        assert ports(bench) == ["lan"]
        log = reload(bench, usual)
        if bench.gateway.driver == "net_af_xdp":
            assert "[port wan]: needs a restart: net_af_xdp keeps an interface" in log, log
            bench.gateway.kill()
            bench.gateway.start()
        else:
            assert "cygnetd: port wan: net_" in log, log
            bench.gateway.set_up_taps()
        bench.wan.drain()
        bench.expect_flow(out, inb)
