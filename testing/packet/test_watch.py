# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl watch prints each event once, as a line of JSON, and never a key."""
import contextlib
import json
import re
import subprocess
import threading

from bench import policy, to_far_host, to_host
from gateway import FAR_HOST, FAR_NET, HOST, LAN_NET, PEER, WAN
from network import PATIENCE, ip, wait_until
from peer import SUITE, Sa


class Watch:
    """A running cygnetctl watch and what it has printed."""

    def __init__(self, process):
        self.process, self.text, self.events = process, "", []
        threading.Thread(target=self.read, daemon=True).start()
        self.expect("watch")

    def read(self):
        for line in self.process.stdout:
            self.text += line
            self.events.append(json.loads(line))

    def of(self, event, **fields):
        return [row for row in self.events if row["event"] == event and
                all(row[field] == value for field, value in fields.items())]

    def expect(self, event, again=False, **fields):
        """Expect one event with these fields. @param again  equal ones may follow"""
        wait_until(lambda: self.of(event, **fields) or self.process.poll() is not None, f"{event} {fields}")
        rows = self.of(event, **fields)
        assert again or len(rows) == 1, self.text
        assert len({json.dumps({**row, "time": ""}) for row in rows}) == 1, self.text
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", rows[0]["time"])
        return rows[0]


def command(gateway, *words):
    return [f"{gateway.build}/root/bin/cygnetctl", "-p", gateway.prefix, "-s", f"{gateway.work}/sadb", *words]


@contextlib.contextmanager
def watching(gateway):
    process = subprocess.Popen(command(gateway, "watch"), stdout=subprocess.PIPE, text=True)
    try:
        yield Watch(process)
        process.terminate()
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def test_watch_sas(bench):
    """Added, moved, deleted; without keys."""
    bench.gateway.fill("flush")
    with watching(bench.gateway) as watch:
        out, inb = bench.tunnel()
        for sa, src, dst, direction in ((out, WAN, PEER, "out"), (inb, PEER, WAN, "in")):
            row = watch.expect("sa-add", spi=f"{sa.spi:#010x}")
            assert (row["src"], row["dst"], row["dir"], row["proto"], row["reqid"]) == (src, dst, direction, "esp", 1)
        bench.gateway.fill(f"sa-update spi={out.spi:#x} end={PEER} src={WAN} dst=192.0.2.77")
        row = watch.expect("sa-update", spi=f"{out.spi:#010x}")
        assert row["dst"] == "192.0.2.77"
        bench.gateway.fill(f"sa-delete spi={inb.spi:#x} dst={WAN}")
        watch.expect("sa-delete", spi=f"{inb.spi:#010x}")
        bench.gateway.fill("flush")
        watch.expect("sa-delete", spi=f"{out.spi:#010x}")
        assert len(watch.events) == 6, watch.text
        assert out.key.hex() not in watch.text and inb.key.hex() not in watch.text


def test_watch_acquire(bench):
    """An acquire for a packet without SA, with the packet's selectors."""
    with bench.gateway.charon():
        bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, reqid=9))
        with watching(bench.gateway) as watch:
            with bench.waiting():
                bench.from_lan(to_far_host(sport=1111, dport=2222))
            # The event is repeated once a second while the packet is queued.
            row = watch.expect("acquire", again=True, reqid=9)
            assert (row["src"], row["dst"], row["proto"], row["sport"], row["dport"]) == (HOST, FAR_HOST, 17, 1111, 2222)


def test_watch_expire(bench):
    """First the soft, then the hard limit: the event comes with the packet after the one that reached the limit."""
    limited = Sa(SUITE["gcm128"], "in", bench.spi(), more="soft-packets=2 hard-packets=4")
    with bench.gateway.charon():
        bench.gateway.fill("flush", limited.line(), policy("in", FAR_NET, LAN_NET, spi=limited.spi),
                           policy("fwd", FAR_NET, LAN_NET, spi=limited.spi))
        bench.lan.drain()
        with watching(bench.gateway) as watch:
            for number in range(3):
                bench.from_wan(limited.seal(to_host(id=number)))
            bench.receive(bench.lan, 3)
            watch.expect("expire", spi=f"{limited.spi:#010x}", limit="soft")
            assert not watch.of("expire", limit="hard")
            bench.from_wan(limited.seal(to_host(id=3)))
            bench.receive(bench.lan, 1)
            with bench.dropped("sa-expired"):
                bench.from_wan(limited.seal(to_host(id=4)))
            watch.expect("expire", spi=f"{limited.spi:#010x}", limit="hard")


def test_watch_port(bench):
    network = bench.network
    with watching(bench.gateway) as watch:
        ip("-n", network.gw, "link", "set", "lan", "down")
        try:
            row = watch.expect("port-state", name="lan", state="down")
            assert row["tap"] == "lan", row
        finally:
            bench.gateway.set_up_taps()
        watch.expect("port-state", name="lan", state="up")


def test_watch_processes(bench):
    """charon and cygnetd come and go; watch stays."""
    gateway = bench.gateway
    gateway.fill("flush")
    with watching(gateway) as watch:
        with gateway.charon():
            watch.expect("charon-up")
        watch.expect("charon-down")
        gateway.kill()
        row = watch.expect("cygnetd-down")
        assert "does not answer" in row["reason"], row
        gateway.start()
        assert watch.expect("cygnetd-up")["pid"] == gateway.process.pid
        bench.tunnel()
        wait_until(lambda: len(watch.of("sa-add")) == 2, "SAs are seen")


def test_watch_ends(bench):
    """It ends after so many events, or at once without cygnetd."""
    done = subprocess.run(command(bench.gateway, "--count", "1", "watch"), capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0 and json.loads(done.stdout)["event"] == "watch", done
    done = subprocess.run(command(bench.gateway, "-p", "no-such", "watch"), capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 1 and "does not answer" in done.stderr and not done.stdout, done
