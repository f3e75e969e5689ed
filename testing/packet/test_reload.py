# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGHUP under traffic: what changes at once, what needs a restart, and a broken file."""
import contextlib
import os
import re
import signal
import threading
import time

from bench import packet, to_far_host
from gateway import HOST, PEER
from network import wait_until
from test_policy import BACK, hub, leaves_again

SIZE = 900


class Traffic:
    """A thousand packets a second from the LAN through the tunnel, each with its number."""

    def __init__(self, bench):
        self.bench, self.sent = bench, 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self):
        while not self.stop.is_set():
            self.bench.lan.send(self.bench.frame(self.bench.lan, "lan", to_far_host(64, id=self.sent % 65536)))
            self.sent += 1
            time.sleep(0.001)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


@contextlib.contextmanager
def lossless(bench):
    """What happens inside loses no packet of a tunnel, and no sequence number is there twice."""
    out, _ = bench.tunnel()
    bench.wan.drain()
    with Traffic(bench) as traffic:
        wait_until(lambda: traffic.sent > 50, "traffic")
        yield
        already = traffic.sent
        wait_until(lambda: traffic.sent > already + 50, "traffic")
    numbers = [out.unseal(got)[1] for got in bench.receive(bench.wan, traffic.sent)]
    assert numbers == list(range(1, traffic.sent + 1)), "packets are lost, doubled or in another order"


def reload(bench, text, says="reloaded"):
    """Another configuration by SIGHUP. @return what the log says"""
    gateway = bench.gateway
    mark = os.path.getsize(gateway.log)
    with open(f"{gateway.work}/cygnetd.conf", "w") as conf:
        conf.write(text)
    gateway.process.send_signal(signal.SIGHUP)
    wait_until(lambda: gateway.logged(says, mark), says)
    with open(gateway.log, errors="replace") as log:
        log.seek(mark)
        return log.read()


@contextlib.contextmanager
def usual_again(bench):
    """The usual text; it is in force again afterwards."""
    with open(f"{bench.gateway.work}/cygnetd.conf") as conf:
        usual = conf.read()
    try:
        yield usual
    finally:
        reload(bench, usual)


def with_main(usual, *lines):
    return usual.replace("[cygnetd]\n", "\n".join(["[cygnetd]", *lines, ""]))


def plain():
    """A packet that no policy is about."""
    return packet(HOST, PEER)


def passes(bench, sent):
    bench.wan.drain()
    bench.from_lan(sent)
    bench.receive(bench.wan, 1)


def test_reload_policy(bench):
    """no_policy = drop and back, under traffic: at once, also for flows that workers have cached."""
    path = f"{bench.gateway.work}/cygnetd.conf"
    with usual_again(bench) as usual:
        bench.gateway.fill("flush")
        for _ in range(3):
            passes(bench, plain())
        said = reload(bench, with_main(usual, "no_policy = drop"))
        assert f"cygnetd: {path}:2: [cygnetd] no_policy: drop from now on\n" in said, said
        with bench.dropped("no-policy", 5):
            bench.from_lan(*[plain()] * 5)
        reload(bench, usual)
        passes(bench, plain())
        with lossless(bench):
            for _ in range(5):
                reload(bench, with_main(re.sub(r"idle = \w+", "idle = poll", usual), "no_policy = drop"))
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
    """log = warning leaves out what is less, and neither warnings nor errors."""
    with usual_again(bench) as usual:
        mark = os.path.getsize(bench.gateway.log)
        reload(bench, with_main(usual, "log = warning", "flows = 1024"), says="flows: needs a restart")
        reload(bench, with_main(usual, "sas = 0"), says="stays as it was")
        assert not bench.gateway.logged("reloaded", mark)
    assert bench.gateway.logged("log: info from now on", mark)


def test_reload_mtu(bench):
    """A port's MTU changes, on its TAP too, and packets in flight are not lost."""
    path = f"{bench.gateway.work}/cygnetd.conf"
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
            said = reload(bench, small.replace("mtu = 1000", "mtu = 9000"))
            assert f"{path}:{line}: [port wan] mtu: device or buffers do not allow 9000" in said, said
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
    path = f"{bench.gateway.work}/cygnetd.conf"
    with usual_again(bench) as usual:
        said = reload(bench, with_main(usual, "flows = 1024", "hairpin = pass"))
        assert f"cygnetd: warning: {path}:2: [cygnetd] flows: needs a restart; it stays 65536\n" in said, said
        assert f"{path}:3: [cygnetd] hairpin: pass from now on" in said, said
        changed = usual.replace(",iface=wan-veth", ",iface=other-veth")
        said = reload(bench, changed)
        assert "[port wan] device: needs a restart; it stays net_" in said, said
        assert "hairpin: drop from now on" in said, said


def test_reload_broken(bench):
    """All errors of a broken file or drop-in are logged, and nothing changes."""
    path = f"{bench.gateway.work}/cygnetd.conf"
    folder = f"{path}.d"
    with usual_again(bench) as usual, lossless(bench):
        said = reload(bench, with_main(usual, "no_policy = drop", "sas = 0", "colour = red"), "stays as it was")
        for wrong in (":3: [cygnetd] sas: 0 is not between 1 and 2097152\n", ":4: [cygnetd] colour: unknown key\n"):
            assert f"cygnetd: error: {path}{wrong}" in said, said
        assert "from now on" not in said and "reloaded" not in said
        os.mkdir(folder)
        try:
            with open(f"{folder}/50-local.conf", "w") as conf:
                conf.write("[cygnetd]\nhairpin = maybe\n")
            said = reload(bench, usual, "stays as it was")
            assert f"{folder}/50-local.conf:2: [cygnetd] hairpin: 'maybe' is not one of drop, pass\n" in said, said
            with open(f"{folder}/50-local.conf", "w") as conf:
                conf.write("[cygnetd]\nhairpin = pass\n")
            assert f"{folder}/50-local.conf:2: [cygnetd] hairpin: pass from now on\n" in reload(bench, usual)
        finally:
            os.unlink(f"{folder}/50-local.conf")
            os.rmdir(folder)
    bench.gateway.fill("flush")
    passes(bench, plain())
