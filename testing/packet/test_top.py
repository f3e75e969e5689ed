# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl top: rates of events, on a terminal or as lines of JSON."""
import contextlib
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time

from bench import to_far_host, to_host
from network import PATIENCE, wait_until

ROWS, COLUMNS = 12, 60


def command(gateway, *words):
    return [f"{gateway.build}/root/bin/cygnetctl", "-p", gateway.prefix, "-s", f"{gateway.work}/sadb", *words]


@contextlib.contextmanager
def top(gateway, *words):
    process = subprocess.Popen(command(gateway, *words), stdout=subprocess.PIPE, text=True)
    try:
        yield process
        process.terminate()
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


def sum_of(intervals, table, field):
    """Rates times seconds are the counts, except for rounding."""
    return sum(row[field] * interval["seconds"] for interval in intervals for row in interval[table])


def test_top_rates(bench):
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    intervals = []
    with top(bench.gateway, "--json", "top", "0.2") as process:
        def more():
            intervals.append(json.loads(process.stdout.readline()))
            return intervals
        more()
        for number in range(100):
            bench.from_lan(to_far_host(id=number))
        bench.receive(bench.wan, 100)
        with bench.dropped("policy-plaintext", 60):
            for number in range(60):
                bench.from_wan(to_host(id=number))
        # The rounding error of each row is at most half a packet a second.
        wait_until(lambda: sum_of(more(), "workers", "encapsulated") > 98, "100 packets were protected")
        wait_until(lambda: sum_of(more(), "drops", "packets") > 58, "60 packets were dropped")
    error = 0.5 * sum(interval["seconds"] for interval in intervals) * bench.gateway.workers
    assert abs(sum_of(intervals, "workers", "encapsulated") - 100) <= error
    assert abs(sum_of(intervals, "drops", "packets") - 60) <= error
    assert {row["reason"] for interval in intervals for row in interval["drops"]} == {"policy-plaintext"}
    assert {row["spi"] for interval in intervals for row in interval["sas"]} == {f"{out.spi:#010x}"}
    assert abs(sum_of(intervals, "sas", "packets") - 100) <= error
    busy = [row["busy"] for interval in intervals for row in interval["workers"]]
    assert 0 < max(busy) <= 100 and min(busy) >= 0, busy


def test_top_polling_is_not_busy(bench):
    """There is an interval in which each worker turns and none is busy."""
    def quiet():
        before = bench.gateway.ask("/cygnet/stats")
        time.sleep(0.02)
        after = bench.gateway.ask("/cygnet/stats")
        return all(after[worker]["turns"] > before[worker]["turns"] and
                   after[worker]["busy_cycles"] == before[worker]["busy_cycles"] and
                   after[worker]["cycles"] > before[worker]["cycles"] for worker in before)
    wait_until(quiet, "workers that poll are not busy")


def test_top_count(bench):
    done = subprocess.run(command(bench.gateway, "--count", "2", "top", "0.1"), capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout.count("rates a second") == 2, done
    assert "\033" not in done.stdout
    for words in (["top", "0"], ["top", "x"], ["top", "1", "2"], ["--count", "0", "top"], ["top", "nan"]):
        assert subprocess.run(command(bench.gateway, *words), capture_output=True, timeout=PATIENCE).returncode == 2


def test_top_without_cygnetd(bench):
    bench.gateway.kill()
    try:
        done = subprocess.run(command(bench.gateway, "--json", "top"), capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 1 and "does not answer" in done.stderr, done
    finally:
        bench.gateway.start()


def test_top_terminal(bench):
    """On a terminal: the output fits its size, and q ends the program and restores the terminal."""
    bench.tunnel()
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(command(bench.gateway, "top", "0.1"), stdin=slave, stdout=slave)
    shown = b""

    def more():
        nonlocal shown
        if select.select([master], [], [], 0.01)[0]:
            shown += os.read(master, 65536)
        return shown
    try:
        wait_until(lambda: more().count(b"\033[H") >= 3, "the screen is drawn")
        os.write(master, b"q")
        assert process.wait(PATIENCE) == 0
        more()
        assert shown.startswith(b"\033[?1049h") and shown.endswith(b"\033[?1049l"), shown
        assert termios.tcgetattr(slave) == before
        screen = shown.split(b"\033[H")[-2].split(b"\033[J")[0]
        lines = [line.replace(b"\033[K", b"") for line in screen.split(b"\r\n")]
        assert len(lines) == ROWS and max(map(len, lines)) == COLUMNS, lines
        assert any(line.startswith(b"WORKER  BUSY%") for line in lines), lines
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)
