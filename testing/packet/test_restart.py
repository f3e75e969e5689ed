# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 and restart under traffic: the SAs continue, no sequence number is used twice. A start waits for queues of a
port that the kernel has not released yet."""
import contextlib
import ctypes
import mmap
import os
import re
import signal
import socket
import struct
import threading
import time

from bench import IPV4, QUIET, to_far_host, to_host
from network import PATIENCE, inside, libc, wait_until
from peer import check_used_once
from test_esp import cases


class Traffic:
    """About a thousand frames a second, until stopped: of a host in the LAN, or what is given from the far end of a port."""

    def __init__(self, bench, port=None, frame=None):
        self.frame = frame or bench.frame(bench.lan, "lan", to_far_host(64))
        self.port, self.stop = port or bench.lan, threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self):
        while not self.stop.is_set():
            self.port.send(self.frame)
            time.sleep(0.001)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def take(port, count):
    """Receive IPv4 frames, until there are so many."""
    taken = []
    for frame in port.frames(PATIENCE):
        if frame[12:14] == IPV4:
            taken.append(frame)
        if len(taken) == count:
            return taken
    raise AssertionError(f"{len(taken)} of {count} packets came")


def what_is_there(port, timeout=0):
    return [frame for frame in port.frames(timeout) if frame[12:14] == IPV4]


def check_numbers(bench, out, frames):
    """Each frame is ESP of this SA, and sequence numbers only increase, from 2 on: expect_flow() has used 1."""
    numbers = [1] + [out.unseal(bench.packet_in(frame))[1] for frame in frames]
    check_used_once(numbers)
    for before, after in zip(numbers, numbers[1:]):
        assert before < after, f"sequence number {after} after {before}"


@cases("gcm128", "cbc128-sha256")
def test_kill_9(bench, case):
    out, inb = bench.tunnel(case)
    bench.wan.drain()
    bench.expect_flow(out, inb)
    replayed = inb.seal(to_host())
    bench.from_wan(replayed)
    bench.receive(bench.lan, 1)
    frames = []
    with Traffic(bench):
        for _ in range(3):
            frames += take(bench.wan, 200)
            bench.gateway.kill()
            frames += what_is_there(bench.wan)
            bench.gateway.start()
            frames += take(bench.wan, 200)
    frames += what_is_there(bench.wan, QUIET)
    # The last packet of the flow is recognised by its length.
    bench.from_lan(to_far_host(700))
    while len(frames[-1]) < 700:
        frames += take(bench.wan, 1)
    check_numbers(bench, out, frames)
    with bench.dropped("replay"):
        bench.from_wan(replayed)
    bench.expect_flow(out, inb)


AF_XDP, SOL_XDP = 44, 283
XDP_RX_RING, XDP_UMEM_REG, XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING = 2, 4, 5, 6
XDP_COPY = 1 << 1
FRAME, FRAMES = 4096, 64
BUSY = "cygnetd: port wan: queue 0 of wan-veth is busy: trying again for up to 10 s\n"


class Queue:
    """Queue 0 of the port wan, bound by this process until release()."""

    def __init__(self, network):
        self.memory = mmap.mmap(-1, FRAME * FRAMES)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        with inside(network.gw):
            self.socket = socket.socket(AF_XDP, socket.SOCK_RAW)
            index = socket.if_nametoindex("wan-veth")
        self.socket.setsockopt(SOL_XDP, XDP_UMEM_REG, struct.pack("QQIII4x", start, FRAME * FRAMES, FRAME, 0, 0))
        for ring in (XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING):
            self.socket.setsockopt(SOL_XDP, ring, struct.pack("I", FRAMES))
        address = struct.pack("HHIII", AF_XDP, XDP_COPY, index, 0, 0)
        # The kernel may not have released it from cygnetd yet.
        wait_until(lambda: libc.bind(self.socket.fileno(), address, len(address)) == 0, "the queue can be bound")

    def release(self):
        self.socket.close()


@contextlib.contextmanager
def busy_queue(bench):
    """A gateway with ports of AF_XDP that is killed, with the queue of a port bound by another process."""
    gateway = bench.gateway
    with gateway.rewritten(lambda usual: usual.replace(gateway.driver, "net_af_xdp")):
        gateway.kill()
        queue = Queue(bench.network)
        try:
            yield queue
        finally:
            queue.release()


def test_busy_queue(bench):
    """The start continues once the queue is released, and the log has one line about the wait."""
    gateway, (out, inb) = bench.gateway, bench.tunnel()
    with busy_queue(bench) as queue:
        mark = gateway.launch()
        wait_until(lambda: gateway.logged(BUSY, mark), BUSY)
        queue.release()
        wait_until(lambda: gateway.logged("cygnetd: ready\n", mark), "cygnetd: ready")
        log = gateway.log_since(mark)
        assert log.count("busy") == 1 and "error" not in log, log
        gateway.set_up_taps()
        bench.expect_flow(out, inb)


def test_busy_queue_too_long(bench):
    """The start fails when its time limit is reached. The exception of start() contains the log and the time."""
    with busy_queue(bench):
        begun, text = time.monotonic(), ""
        try:
            bench.gateway.start()
        except AssertionError as error:
            text = str(error)
        assert time.monotonic() - begun >= 10, text
        assert re.match(r"cygnetd does not start: exit status 1, after \d+\.\d s, and has logged:\n", text), text
        assert text.count(BUSY) == 1, text
        assert "cygnetd: error: port wan: device net_af_xdp1,iface=wan-veth: Device or resource busy\n" in text, text


def test_busy_queue_ended(bench):
    """SIGTERM ends a start that waits."""
    gateway = bench.gateway
    with busy_queue(bench):
        mark = gateway.launch()
        wait_until(lambda: gateway.logged(BUSY, mark), BUSY)
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(PATIENCE) == 1
        assert not gateway.logged("ready", mark)


@cases("net_af_xdp", "net_af_packet")
def test_kills(bench, case):
    """kill -9 and a start at once, CYGNET_KILLS times with each driver."""
    gateway, (out, inb) = bench.gateway, bench.tunnel()
    with gateway.rewritten(lambda usual: usual.replace(gateway.driver, case)):
        seconds = signal.alarm(0)
        for _ in range(int(os.environ.get("CYGNET_KILLS", 5))):
            signal.alarm(seconds)  # the time limit of a test applies to each start
            gateway.kill()
            gateway.start()
        bench.expect_flow(out, inb)
