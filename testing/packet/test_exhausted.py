# SPDX-License-Identifier: GPL-2.0-or-later
"""There are no packet buffers, or rings are full because a thread stands still. Packets are lost and counted by name;
nothing is stuck, and service comes back as soon as there is room again."""
import contextlib
import os
import time

from bench import QUIET, to_far_host
from network import wait_until
from stalled import stalled

MORE = 6000  # packets than a worker's inbox (4096), or a port's ring, has room for
FLOWS = 16   # so that each worker gets some of them


@contextlib.contextmanager
def taken_away(gateway):
    """Run a gateway whose buffers can be taken away. Yields a function that does it: of mempools with this beginning of
    their names, but for so many; None: gives them back"""
    path = f"{gateway.work}/buffers"

    def take(name, left=0):
        if name is None:
            os.unlink(path)
            return
        with open(f"{path}.new", "w") as file:
            file.write(f"{name} {left}")
        os.rename(f"{path}.new", path)
    with gateway.preloaded("no-buffers", BUFFERS=path, BUFFERS_WITHOUT_CACHES="yes"):
        try:
            yield take
        finally:
            with contextlib.suppress(FileNotFoundError):
                take(None)


def send_many(bench, count=MORE):
    for number in range(FLOWS):
        frame = bench.frame(bench.lan, "lan", to_far_host(sport=2000 + number))
        for _ in range(count // FLOWS):
            bench.lan.send(frame)


def buffers_are(gateway, count):
    wait_until(lambda: gateway.counted("buffers") <= count, f"at most {count} buffers are in use")


def test_exhausted_buffers(bench):
    """The ports receive nothing while there are no buffers, and cygnetd answers, ends nothing and forgets nothing."""
    gateway = bench.gateway
    with taken_away(gateway) as take:
        out, inb = bench.tunnel()
        bench.expect_flow(out, inb)
        idle = gateway.counted("buffers")
        take("packets")
        wait_until(lambda: gateway.counted("buffers") > idle + 1000, "buffers are taken away")
        wait_until(lambda: gateway.logged("packet buffers are used up", gateway.mark), "that is in the log")
        bench.wan.drain()
        send_many(bench)
        bench.expect_nothing(bench.wan)
        take(None)
        wait_until(lambda: gateway.logged("there are packet buffers again", gateway.mark), "that, too")
        wait_until(lambda: quiet(gateway), "what was in the ports' queues has left")
        bench.expect_flow(out, inb)
        buffers_are(gateway, idle + 64)


def test_exhausted_few(bench):
    """With a few buffers some packets pass, also those that take further ones: fragments and ICMP errors."""
    gateway = bench.gateway
    with taken_away(gateway) as take:
        out, inb = bench.tunnel()
        bench.expect_flow(out, inb)
        idle, before = gateway.counted("buffers"), gateway.drops()
        for left in (1, 2, 3, 5, 8):
            take("packets", left)
            wait_until(lambda: gateway.counted("buffers") > idle + 1000, "the others are taken away")
            for _ in range(50):
                bench.from_lan(to_far_host(1440), to_far_host(ttl=1), to_far_host(1440, flags="DF"))
        take(None)
        wait_until(lambda: quiet(gateway), "all packets have left")
        bench.lan.drain()
        bench.wan.drain()
        bench.expect_flow(out, inb)
        buffers_are(gateway, idle + 64)
        dropped = bench.drops_since(before)
        assert set(dropped) <= {"no-buffer", "ttl", "too-big"} and "ttl" in dropped, dropped


def test_exhausted_inbox(bench):
    """A worker stands still. What others hand off to it fills its inbox, the rest is lost and counted; what was in the
    inbox leaves once the worker goes on."""
    gateway = bench.gateway
    full = 0
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    idle = gateway.counted("buffers")
    for worker in range(gateway.workers if gateway.workers > 1 else 0):
        before = gateway.drops()
        with stalled(gateway.process.pid, f"worker-{worker}"):
            send_many(bench, 4 * MORE)
            wait_until(lambda: quiet(gateway), "the other workers have nothing more to do")
            full += bench.drops_since(before).get("handoff-full", 0)
        wait_until(lambda: quiet(gateway), "all packets have left")
        assert set(bench.drops_since(before)) <= {"handoff-full", "tx-full"}, bench.drops_since(before)
        bench.lan.drain()
        bench.wan.drain()
        bench.expect_flow(out, inb)
        buffers_are(gateway, idle + 64 * gateway.workers)
    assert full or gateway.workers == 1


def test_exhausted_crypto_cores(bench):
    """Crypto cores stand still with packets of workers. The workers do later ones themselves, which wait for the earlier
    ones of their SA."""
    gateway = bench.gateway
    cores = [f"crypto-core-{core}" for core in range(gateway.crypto_cores)]
    out, inb = bench.tunnel("cbc128-sha256")
    bench.expect_flow(out, inb)
    idle, before = gateway.counted("buffers"), gateway.drops()
    for names in [[core] for core in cores] + [cores]:
        with stalled(gateway.process.pid, *names):
            send_many(bench)
            wait_until(lambda: quiet(gateway), "the workers have nothing more to do")
        wait_until(lambda: quiet(gateway), "all packets have left")
        bench.lan.drain()
        bench.wan.drain()
        bench.expect_flow(out, inb)
        buffers_are(gateway, idle + 64 * gateway.workers)
    assert set(bench.drops_since(before)) <= {"engine-full", "handoff-full", "tx-full"}, bench.drops_since(before)


def quiet(gateway):
    """Whether no counter of packets changes for a while."""
    def counted():
        rows = gateway.ask("/cygnet/stats").values()
        return [row[what] for row in rows for what in ("encapsulated", "handed_off", "dropped", "forwarded")]
    before = counted()
    time.sleep(QUIET)
    return counted() == before
