# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages for operators: a good start logs no warning, and messages in the journal have fields."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess

from scapy.layers.inet import IP
from scapy.layers.ipsec import ESP

from bench import policy, to_far_host
from gateway import FAR_NET, LAN_NET, PEER, WAN
from network import PATIENCE, wait_until
from peer import SUITE, Sa
from test_esp import cases

ENGINE = "cpu"
LINE = re.compile(r"(cygnetd|dpdk|libbpf|libxdp): (?!warning|error)\S")
JOURNALD = "/lib/systemd/systemd-journald"
# journald, and then cygnetd, in a mount namespace of their own: no other process sees that journal.
WITH_JOURNAL = """set -e
mount --make-rprivate /
mkdir -p /run/systemd/journal /run/log
mount --bind {work}/journal-run /run/systemd/journal
mount --bind {work}/journal-log /run/log
{journald} &
journald=$!
trap 'kill $journald; wait $journald' EXIT
until [ -S /run/systemd/journal/socket ]; do sleep 0.1; done
ip netns exec {gw} {cygnetd} -c {work}/cygnetd.conf &
echo $! > {work}/cygnetd-pid
wait $! || true
"""


@contextlib.contextmanager
def without_opencl(gateway):
    """cygnetd with engine = auto where only the CPU's drivers are installed."""
    before, drivers = gateway.read_conf(), f"{gateway.build}/cpu-drivers-{os.getpid()}"
    shutil.copytree(f"{gateway.build}/root/lib/dpdk", drivers, ignore=shutil.ignore_patterns("*opencl*"))
    gateway.write_conf(before.replace("engine = cpu", "engine = auto")
                       .replace(f"{gateway.build}/root/lib/dpdk", drivers))
    try:
        yield
    finally:
        gateway.write_conf(before)
        shutil.rmtree(drivers)


@cases("cpu", "auto")
def test_quiet_start(bench, case):
    """Every line of a start has a level of notice or below, and names its source. On a gateway that has only a CPU
    nothing is measured."""
    bench.gateway.kill()
    mark = os.path.getsize(bench.gateway.log)
    with without_opencl(bench.gateway) if case == "auto" else contextlib.nullcontext():
        bench.gateway.start()
    with open(bench.gateway.log, errors="replace") as log:
        log.seek(mark)
        lines = log.read().split("cygnetd: ready")[0].splitlines()
    assert lines, "the log is empty"
    loud = [line for line in lines if not LINE.match(line) or "measur" in line]
    assert not loud, "\n".join(["a good start says:"] + loud)


def test_own_drivers(bench):
    """Without driver_path cygnetd finds its drivers where make install has put them, which is not DPDK's folder."""
    gateway = bench.gateway
    before = gateway.read_conf()
    gateway.kill()
    mark = os.path.getsize(gateway.log)
    gateway.write_conf(re.sub("(?m)^driver_path = .*\n", "", before))
    try:
        gateway.start()
    finally:
        gateway.write_conf(before)
    for driver in ("gcm", "chain"):
        assert gateway.logged(f"cygnetd: engine cpu: crypto_ipsec_mb_{driver}0", mark), gateway.log_since(mark)


class Journal:
    """A cygnetd whose standard error is a stream of the journal, by $JOURNAL_STREAM."""

    def __init__(self, gateway):
        self.gateway, self.process = gateway, None
        self.folders = [f"{gateway.work}/journal-run", f"{gateway.work}/journal-log"]

    def __enter__(self):
        for folder in self.folders:
            os.makedirs(folder)
        self.gateway.stop()
        stream, self.other_end = socket.socketpair()
        stat = os.fstat(stream.fileno())
        script = WITH_JOURNAL.format(work=self.gateway.work, journald=JOURNALD, gw=self.gateway.network.gw,
                                     cygnetd=f"{self.gateway.build}/root/sbin/cygnetd")
        self.process = subprocess.Popen(
            ["unshare", "-m", "bash", "-c", script],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream.fileno(),
            env={**os.environ, "JOURNAL_STREAM": f"{stat.st_dev}:{stat.st_ino}"})
        stream.close()
        try:
            wait_until(lambda: self.find("MESSAGE=ready"), "ready in the journal", 2 * PATIENCE)
            self.gateway.set_up_taps()
            return self
        except BaseException:
            self.__exit__()
            raise

    def find(self, *matches):
        found = subprocess.run(["journalctl", "-q", "-o", "json", "-D", f"{self.folders[1]}/journal", *matches],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        return [json.loads(line) for line in found.stdout.splitlines()]

    def __exit__(self, *_):
        with open(f"{self.gateway.work}/cygnetd-pid") as pid:
            os.kill(int(pid.read()), signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.other_end.close()
        for folder in self.folders:
            shutil.rmtree(folder)
        self.gateway.start()


def test_journal(bench):
    """Messages about a port and about an SA have its name and its SPI as fields."""
    if not os.path.exists(JOURNALD):
        raise AssertionError("systemd is missing: testing/packages")
    with Journal(bench.gateway) as journal:
        ports = {entry["CYGNET_PORT"]: entry for entry in journal.find("CYGNET_FROM=cygnetd") if "CYGNET_PORT" in entry}
        assert set(ports) == {"lan", "wan"}, ports
        assert ports["lan"]["MESSAGE"].startswith("port lan: ") and ports["lan"]["PRIORITY"] == "6"
        assert ports["lan"]["SYSLOG_IDENTIFIER"] == "cygnetd"
        spi = 0xc1234567
        out = Sa(SUITE["gcm128"], "out", spi, more="hard-packets=2")
        bench.gateway.fill("flush", out.line(), policy("out", LAN_NET, FAR_NET, spi=spi))

        def expired():
            bench.from_lan(to_far_host())
            return journal.find("CYGNET_SPI=c1234567")

        with bench.gateway.charon():
            wait_until(expired, "the SA's expiry in the journal")
        entry = journal.find("CYGNET_SPI=c1234567")[0]
        assert entry["MESSAGE"] == "SA c1234567: hard limit reached, told charon", entry
        bench.from_wan(IP(src=PEER, dst=WAN) / ESP(spi=0xdead, seq=77, data=bytes(60)))
        wait_until(lambda: journal.find("CYGNET_AUDIT=bad-spi"), "an audit record in the journal")
        entry = journal.find("CYGNET_AUDIT=bad-spi")[0]
        assert entry["MESSAGE"] == (f"port wan: audit: bad-spi: {PEER} to {WAN}, protocol 50, SPI 0000dead, "
                                    "number 77"), entry
        fields = {"SPI": "0000dead", "SRC": PEER, "DST": WAN, "PROTO": "50", "SEQ": "77", "PORT": "wan"}
        assert {name: entry[f"CYGNET_{name}"] for name in fields} == fields and entry["PRIORITY"] == "5", entry
        for level in ("PRIORITY=3", "PRIORITY=4"):
            assert not journal.find("SYSLOG_IDENTIFIER=cygnetd", level)
