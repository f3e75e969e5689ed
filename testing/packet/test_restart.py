# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 and restart under traffic: the SAs go on, no sequence number comes twice."""
import threading
import time

from bench import IPV4, to_far_host, to_host
from network import PATIENCE
from test_esp import cases


class Traffic:
    """About a thousand packets a second from the LAN, until stopped."""

    def __init__(self, bench):
        self.frame = bench.frame(bench.lan, "lan", to_far_host(64))
        self.lan, self.stop = bench.lan, threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self):
        while not self.stop.is_set():
            self.lan.send(self.frame)
            time.sleep(0.001)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def take(port, count):
    """So many IPv4 frames, as soon as they are there."""
    taken = []
    for frame in port.frames(PATIENCE):
        if frame[12:14] == IPV4:
            taken.append(frame)
        if len(taken) == count:
            return taken
    raise AssertionError(f"{len(taken)} of {count} packets came")


def what_is_there(port, timeout=0):
    return [frame for frame in port.frames(timeout) if frame[12:14] == IPV4]


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
    frames += what_is_there(bench.wan, 0.3)
    numbers = [1] + [out.unseal(bench.packet_in(frame))[1] for frame in frames]
    assert len(set(numbers)) == len(numbers), "a sequence number was used twice"
    for before, after in zip(numbers, numbers[1:]):
        assert before < after, f"sequence number {after} after {before}"
    with bench.dropped("replay"):
        bench.from_wan(replayed)
    bench.expect_flow(out, inb)
