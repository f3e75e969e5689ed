# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 and restart under traffic: the SAs go on, no sequence number comes twice."""
import threading
import time

from bench import to_far_host, to_host
from test_esp import cases


class Traffic:
    """About two thousand packets a second from the LAN, until stopped."""

    def __init__(self, bench):
        self.frame = bench.frame(bench.lan, "lan", to_far_host(64))
        self.lan, self.stop = bench.lan, threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self):
        while not self.stop.is_set():
            self.lan.send(self.frame)
            time.sleep(0.0005)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


@cases("gcm128", "cbc128-sha256")
def test_kill_9(bench, case):
    out, inb = bench.tunnel(case)
    bench.wan.drain()
    bench.expect_flow(out, inb)
    replayed = inb.seal(to_host())
    bench.from_wan(replayed)
    bench.receive(bench.lan, 1)
    numbers = [1]
    with Traffic(bench):
        for _ in range(3):
            time.sleep(0.5)
            bench.gateway.kill()
            bench.gateway.start()
            time.sleep(0.5)
    for packet in bench.packets(bench.wan, 0.3):
        numbers.append(out.unseal(packet)[1])
    assert len(numbers) > 1000, f"only {len(numbers)} packets"
    assert len(set(numbers)) == len(numbers), "a sequence number was used twice"
    for before, after in zip(numbers, numbers[1:]):
        assert before < after, f"sequence number {after} after {before}"
    with bench.dropped("replay"):
        bench.from_wan(replayed)
    bench.expect_flow(out, inb)
