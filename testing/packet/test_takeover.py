# SPDX-License-Identifier: GPL-2.0-or-later
"""A cygnetd takes over from the running one (SIGUSR2) under traffic. Sequence numbers go on, nothing leaves in
plaintext, and the kernel keeps addresses, routes and neighbours of the TAPs. One that fails, at any time, leaves
the running one as it is."""
import contextlib
import fcntl
import functools
import glob
import os
import re
import signal
import socket
import struct
import subprocess
import time

from bench import IPV4, packet, to_host
from gateway import HOST, PEER
from network import PATIENCE, wait_until
from successor import Successor, adopt
from test_esp import cases
from test_restart import Traffic, check_numbers, take, what_is_there

ROUNDS = 5
SO_TIMESTAMPNS = 35
F_OFD_GETLK = 36


def on_af_packet(test):
    """Ports of a driver that two processes can open at once, whatever driver the other tests use."""
    @functools.wraps(test)
    def run(bench, **case):
        if bench.gateway.driver == "net_af_packet":
            test(bench, **case)
            return
        with bench.gateway.rewritten(lambda usual: usual.replace(bench.gateway.driver, "net_af_packet")):
            test(bench, **case)
    return run


class Log:
    """The part of the log that is written after the object is made."""

    def __init__(self, gateway):
        self.path, self.mark = gateway.log, os.path.getsize(gateway.log)

    def match(self, pattern):
        with open(self.path, errors="replace") as log:
            log.seek(self.mark)
            return re.search(pattern, log.read())

    def wait(self, pattern):
        wait_until(lambda: self.match(pattern), pattern, 2 * PATIENCE)
        return self.match(pattern)


def times(port):
    """The kernel's time stamps of the IPv4 frames received so far, seconds."""
    port.socket.setblocking(False)
    try:
        while True:
            frame, extra, _, address = port.socket.recvmsg(65536, 64)
            if frame[12:14] == IPV4 and address[2] != socket.PACKET_OUTGOING:
                seconds, nanoseconds = struct.unpack("qq", extra[0][2])
                yield seconds + nanoseconds / 1e9
    except BlockingIOError:
        pass
    finally:
        port.socket.setblocking(True)


def begin(gateway):
    """@return the log since, and the process that is to take over"""
    adopt()
    log = Log(gateway)
    gateway.process.send_signal(signal.SIGUSR2)
    return log, Successor(int(log.wait(r"process (\d+), .* is to take over")[1]))


def finish(gateway, log, successor):
    """The successor serves, and the previous process has ended."""
    log.wait("cygnetd: ready")
    assert gateway.process.wait(PATIENCE) == 0
    gateway.process = successor


@on_af_packet
def test_takeover_folders(bench):
    """The folder of sockets of a process that has taken over, which another user than root cannot remove, goes with the
    next start. That of a process that runs stays."""
    gateway = bench.gateway
    log, successor = begin(gateway)
    finish(gateway, log, successor)
    others = glob.glob(f"/run/dpdk/{gateway.prefix}-[0-9]*")
    assert f"/run/dpdk/{gateway.prefix}-{gateway.process.pid}" in others, others
    alive = f"/run/dpdk/{gateway.prefix}-{os.getpid()}"
    os.mkdir(alive)
    try:
        gateway.kill()
        gateway.start()
        assert glob.glob(f"/run/dpdk/{gateway.prefix}-[0-9]*") == [alive]
    finally:
        os.rmdir(alive)


def begin_and_stop(gateway):
    """The successor has initialised, and the running process, which is stopped, has not noticed yet."""
    log, successor = begin(gateway)
    gateway.process.send_signal(signal.SIGSTOP)
    log.wait("cygnetd: initialised")
    return log, successor


def kernel_state(gateway):
    """The kernel's state of the TAPs, once IPv6 addresses are no longer tentative."""
    wait_until(lambda: "tentative" not in gateway.in_gw("ip", "address", capture_output=True, text=True).stdout,
               "addresses are usable")
    return [gateway.in_gw("ip", *words, capture_output=True, text=True).stdout
            for words in (("address", "show", "up"), ("route",), ("-6", "route"), ("neigh", "show", "nud", "permanent"))]


@contextlib.contextmanager
def under_traffic(bench, *suite):
    """The body runs under traffic of a new tunnel, and adds the frames that it receives at the WAN to a list. At the end
    their sequence numbers only increase, and both directions work. Yields that list and the inbound SA."""
    out, inb = bench.tunnel(*suite)
    bench.expect_flow(out, inb)
    bench.wan.drain()
    frames = []
    with Traffic(bench):
        yield frames, inb
    check_numbers(bench, out, frames)
    bench.expect_flow(out, inb)


def role_is_free(gateway):
    """Whether no process has the dataplane's role: a lock on the second byte of the file."""
    with open(f"{gateway.work}/sadb", "r+b") as sadb:
        lock = fcntl.fcntl(sadb, F_OFD_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 1, 1, 0))
    return struct.unpack("hhqqi4x", lock)[0] == fcntl.F_UNLCK


@on_af_packet
@cases("gcm128", "cbc128-sha256")
def test_takeover(bench, case):
    with under_traffic(bench, case) as (frames, inb):
        replayed = inb.seal(to_host())
        bench.from_wan(replayed)
        bench.receive(bench.lan, 1)
        before = kernel_state(bench.gateway)
        frames += take(bench.wan, 200)
        finish(bench.gateway, *begin(bench.gateway))
        wait_until(lambda: bench.gateway.counted("encapsulated") > 200, "packets of the new process")
        frames += what_is_there(bench.wan)
    assert kernel_state(bench.gateway) == before
    assert bench.gateway.ask("/info")["pid"] == bench.gateway.process.pid
    assert bench.gateway.ask("/cygnet/info")["0"]["taken_over"] == 1  # no alert says that it was restarted
    with bench.dropped("replay"):
        bench.from_wan(replayed)


def silence(bench, change):
    """Send a thousand packets a second while change() replaces the running cygnetd. @return the longest time between
    two consecutive packets at the WAN, in seconds"""
    bench.wan.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    bench.wan.drain()
    with Traffic(bench):
        take(bench.wan, 50)
        began = time.time()
        change()
        wait_until(lambda: bench.gateway.counted("encapsulated") > 50, "packets of the new process")
    came = [began, *times(bench.wan)]
    bench.wan.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 0)
    return max(after - before for before, after in zip(came, came[1:]))


@on_af_packet
def test_takeover_silence(bench):
    """A takeover is silent for a fraction of the time of a restart, on a busy machine, too: the shortest of some rounds
    are compared."""
    def restart():
        gateway.kill()
        gateway.start()

    gateway = bench.gateway
    bench.tunnel()
    takeovers, restarts = [], []
    for _ in range(ROUNDS):
        takeovers.append(silence(bench, lambda: finish(gateway, *begin(gateway))))
        gateway.set_up_taps()
        restarts.append(silence(bench, restart))
        if min(takeovers) < min(restarts) / 5:
            return
    raise AssertionError(f"seconds without a packet, of takeovers {takeovers} and of restarts {restarts}")


FAULTS = {
    "configuration": lambda usual: usual.replace("[port wan]", "no_such_key = 1\n[port wan]"),
    "device": lambda usual: usual.replace("iface=wan-veth", "iface=none-veth"),
    "driver": lambda usual: usual.replace("net_af_packet", "net_af_xdp"),
    "memory": lambda usual: usual.replace("-m 192", "-m 1048576"),
}


@on_af_packet
@cases(*FAULTS)
def test_takeover_fails(bench, case):
    """The new process fails to start and logs why, and the running one does not even pause."""
    usual = bench.gateway.read_conf()
    bench.gateway.write_conf(FAULTS[case](usual))
    try:
        with under_traffic(bench) as (frames, _):
            log, _ = begin(bench.gateway)
            log.wait(r"does not take over: .* this one serves on")
            assert not log.match("draining|takes over")
            frames += take(bench.wan, 500)
    finally:
        bench.gateway.write_conf(usual)


def change_conf(gateway, text):
    """Write a configuration, and tell the process that serves, or serves no more."""
    gateway.write_conf(text)
    gateway.process.send_signal(signal.SIGHUP)


@contextlib.contextmanager
def no_policy_dropped(bench):
    """The body gets a configuration with no_policy = drop, which is in force after it."""
    gateway = bench.gateway
    usual = gateway.read_conf()
    gateway.fill("flush")
    try:
        yield usual.replace("[cygnetd]\n", "[cygnetd]\nno_policy = drop\n").replace(
            "[port lan]\n", "[port lan]\nside = inside\n")
        with bench.dropped("no-policy", 3):
            bench.from_lan(*[packet(HOST, PEER)] * 3)
    finally:
        gateway.reconfigure(usual)


def is_asleep(process):
    """Whether the main thread waits in the kernel."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] == "S"


def granted(gateway, log, successor):
    """The successor, which is stopped, may serve: the running process has let go, and waits for it."""
    os.kill(successor.pid, signal.SIGSTOP)
    gateway.process.send_signal(signal.SIGCONT)
    log.wait("takes over")
    wait_until(lambda: role_is_free(gateway), "the role is free")
    wait_until(lambda: is_asleep(gateway.process), "the running process waits")


@on_af_packet
def test_takeover_reload(bench):
    """A configuration that the running process loads while the new one initialises stays in force."""
    gateway = bench.gateway
    with no_policy_dropped(bench) as changed:
        log, successor = begin(gateway)
        log.wait(r"is to take over\n(.*\n)*(cygnetd|dpdk): ")  # it has read the configuration
        os.kill(successor.pid, signal.SIGSTOP)
        change_conf(gateway, changed)
        log.wait("no_policy: drop from now on")
        os.kill(successor.pid, signal.SIGCONT)
        finish(gateway, log, successor)


@on_af_packet
def test_takeover_reload_late(bench):
    """SIGHUP to the running process when it has let go."""
    gateway = bench.gateway
    with no_policy_dropped(bench) as changed:
        log, successor = begin_and_stop(gateway)
        granted(gateway, log, successor)
        change_conf(gateway, changed)
        os.kill(successor.pid, signal.SIGCONT)
        finish(gateway, log, successor)


@on_af_packet
def test_takeover_reload_last(bench):
    """SIGHUP to the running process when the new one has read the configuration for the last time before it serves."""
    gateway = bench.gateway
    with no_policy_dropped(bench) as changed:
        log, successor = begin_and_stop(gateway)
        granted(gateway, log, successor)
        gateway.process.send_signal(signal.SIGSTOP)
        os.kill(successor.pid, signal.SIGCONT)
        log.wait("reloaded")
        change_conf(gateway, changed)
        gateway.process.send_signal(signal.SIGCONT)
        finish(gateway, log, successor)
        log.wait("no_policy: drop from now on")


@on_af_packet
def test_takeover_reload_wrong(bench):
    """A file that has become wrong meanwhile: the new process serves with what it read at its start, and says so."""
    gateway = bench.gateway
    usual = gateway.read_conf()
    with under_traffic(bench) as (frames, _):
        log, successor = begin_and_stop(gateway)
        gateway.write_conf(FAULTS["configuration"](usual))
        try:
            gateway.process.send_signal(signal.SIGCONT)
            finish(gateway, log, successor)
            log.wait("no_such_key(.|\n)*the configuration stays as it was")
            frames += take(bench.wan, 100)
        finally:
            gateway.write_conf(usual)


def take_over_as_dpkg(gateway):
    """Run the wait of Debian's postinst, whose end is waited for. @return its exit status"""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    pid = gateway.process.pid
    script = f'. {top}/debian/cygnetd.postinst; main_pid() {{ [ ! -e /proc/{pid}/exe ] || echo {pid}; }}; take_over {pid}'
    return subprocess.run(["sh", "-c", script, "postinst"], check=False, timeout=3 * PATIENCE).returncode


@on_af_packet
@cases(*FAULTS)
def test_takeover_postinst_fails(bench, case):
    """The wait of Debian's postinst ends when the takeover has failed: the starter is no process that takes over."""
    gateway = bench.gateway
    usual, log = gateway.read_conf(), Log(gateway)
    gateway.write_conf(FAULTS[case](usual))
    try:
        assert take_over_as_dpkg(gateway) == 1
    finally:
        gateway.write_conf(usual)
    log.wait(r"does not take over: .* this one serves on")


@on_af_packet
def test_takeover_postinst_stopped(bench):
    """So does that for a process that does not even answer."""
    adopt()
    log = Log(bench.gateway)
    with bench.gateway.paused():
        assert take_over_as_dpkg(bench.gateway) == 1
    # It takes notice now.
    finish(bench.gateway, log, Successor(int(log.wait(r"process (\d+), .* is to take over")[1])))


def huge_pages(gateway):
    """KiB of huge pages that cygnetd has."""
    with open(f"/proc/{gateway.process.pid}/smaps_rollup", encoding="ascii") as rollup:
        return sum(int(row.split()[1]) for row in rollup if row.split()[0] in ("Shared_Hugetlb:", "Private_Hugetlb:"))


@on_af_packet
def test_takeover_default_memory(bench):
    """Debian's package reserves the huge pages of two processes with the default configuration, one of which takes over
    from the other. Those of the tests have less by the option -m."""
    gateway = bench.gateway
    if gateway.workers > 1 or gateway.crypto_cores or not gateway.flows or gateway.engine != "cpu":
        return
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    with open(f"{top}/debian/sysctl.d/30-cygnet.conf", encoding="ascii") as conf:
        reserved = int(re.search(r"^vm.nr_hugepages = (\d+)$", conf.read(), re.M)[1]) * 2048
    with gateway.rewritten(lambda usual: usual.replace("-m 192", "")):
        used = huge_pages(gateway)
        assert 0 < 2 * used <= reserved, f"{used} KiB of {reserved}"
        adopt()
        log = Log(gateway)
        assert take_over_as_dpkg(gateway) == 0
        finish(gateway, log, Successor(int(log.wait(r"process (\d+), .* is to take over")[1])))
        assert huge_pages(gateway) <= reserved / 2


@on_af_packet
def test_takeover_killed(bench):
    """kill -9 of the new process while it initialises."""
    with under_traffic(bench) as (frames, _):
        log, successor = begin(bench.gateway)
        os.kill(successor.pid, signal.SIGKILL)
        log.wait(r"does not take over: .* \(signal 9\): this one serves on")
        frames += take(bench.wan, 500)


@on_af_packet
def test_takeover_killed_late(bench):
    """kill -9 of the new process when the running one has given up the SAs: the running one takes them again."""
    gateway = bench.gateway
    with under_traffic(bench) as (frames, _):
        frames += take(bench.wan, 100)
        log, successor = begin_and_stop(gateway)
        os.kill(successor.pid, signal.SIGSTOP)
        gateway.process.send_signal(signal.SIGCONT)
        log.wait("takes over")
        # It has given up the SAs once no process has the role.
        wait_until(lambda: role_is_free(gateway), "the role is free")
        os.kill(successor.pid, signal.SIGKILL)
        log.wait(r"does not take over: .* this one serves on")
        log.wait("cygnetd: ready")
        frames += take(bench.wan, 500)


@on_af_packet
def test_takeover_from_killed(bench):
    """kill -9 of the running process when the new one has initialised: the new one serves."""
    gateway = bench.gateway
    with under_traffic(bench) as (frames, _):
        frames += take(bench.wan, 100)
        log, successor = begin_and_stop(gateway)
        gateway.kill()
        log.wait("starting in its place")
        log.wait("cygnetd: ready")
        gateway.process = successor
        gateway.set_up_taps()
        frames += take(bench.wan, 500)


@on_af_packet
def test_takeover_ended(bench):
    """SIGTERM while the new process initialises ends both."""
    out, inb = bench.tunnel()
    log, successor = begin(bench.gateway)
    assert bench.gateway.stop() == 0
    successor.wait(PATIENCE)
    assert not log.match("cygnetd: ready")
    bench.gateway.start()
    bench.expect_flow(out, inb)


def test_takeover_by_hand(bench):
    """The option is only for cygnetd itself."""
    result = subprocess.run([f"{bench.gateway.build}/root/sbin/cygnetd", "--take-over", "-c",
                             bench.gateway.conf], check=False, capture_output=True, text=True)
    assert result.returncode == 2 and "SIGUSR2" in result.stderr, result
