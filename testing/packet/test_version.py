# SPDX-License-Identifier: GPL-2.0-or-later
"""The shared file is of another version, as after an upgrade or a rollback: it is replaced when nobody uses it, and the
policies of the last run are held then. While a process of the other version uses it, cygnetd and dpkg say so."""
import contextlib
import os
import re
import subprocess

from bench import to_far_host
from network import PATIENCE, wait_until
from test_esp import cases
from test_takeover import Log, on_af_packet, take_over_as_dpkg

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
STEPS = {"older": -1, "newer": 1}


def change_abi(gateway, step, rest=b""):
    """@param rest  what is behind it"""
    with open(f"{gateway.work}/sadb", "r+b") as sadb:
        sadb.seek(8)
        abi = int.from_bytes(sadb.read(4), "little") + step
        sadb.seek(8)
        sadb.write(abi.to_bytes(4, "little") + rest)


def make_other(gateway, step):
    """The file gets another ABI version and layout."""
    change_abi(gateway, step, b"\xa5" * 65536)


def check(gateway):
    done = subprocess.run([f"{gateway.build}/root/sbin/cygnetd", "--check", gateway.conf], check=False, capture_output=True, text=True)
    return done.returncode, done.stderr


def preinst(gateway):
    """Debian's preinst, for the file of this gateway."""
    with open(f"{TOP}/debian/libcygnet0.preinst", encoding="ascii") as script:
        text = script.read().replace("conf=/etc/cygnet/cygnetd.conf", f"conf={gateway.conf}")
    with open(f"{TOP}/debian/functions.sh", encoding="ascii") as functions:
        text = text.replace("#FUNCTIONS#", functions.read())
    for token, header, name in (("#ABI#", "cygnet.h", "CYGNET_ABI_VERSION"), ("#FEATURES#", "layout.h", "LAYOUT_FEATURES")):
        with open(f"{TOP}/lib/{header}", encoding="utf-8") as lines:
            text = text.replace(token, re.search(rf"^#define {name} (\d+)", lines.read(), re.M)[1])
    done = subprocess.run(["sh", "-s", "upgrade", "0.1.0"], input=text, check=False, capture_output=True, text=True)
    return done.returncode, done.stderr


@contextlib.contextmanager
def new_file_again(gateway):
    """At the end cygnetd has a new file."""
    try:
        yield
    finally:
        if gateway.process.poll() is None:
            gateway.kill()
        os.remove(f"{gateway.work}/sadb")
        gateway.start()


@cases(*STEPS)
def test_version_replaced(bench, case):
    """Nobody uses the file. That of the last run's policies cannot be read here, so everything is dropped."""
    gateway = bench.gateway
    kept = f"{gateway.work}/state/policies"
    with new_file_again(gateway):
        gateway.kill()
        make_other(gateway, STEPS[case])
        with open(os.open(kept, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write("cygnet policies 1\n")
        try:
            assert check(gateway)[0] == 0
            gateway.start()
            assert gateway.logged("was of another version", gateway.mark)
            with bench.dropped("policy-held"):
                bench.from_lan(to_far_host())
        finally:
            os.remove(kept)


@cases(*STEPS)
def test_version_used(bench, case):
    """charon was started before the upgrade, and has the file: cygnetd does not start until charon has ended."""
    gateway = bench.gateway
    with new_file_again(gateway):
        with gateway.charon():
            gateway.kill()
            make_other(gateway, STEPS[case])
            status, text = check(gateway)
            assert status == 3 and "stop charon, restart cygnetd, and start charon" in text, (status, text)
            status, text = preinst(gateway)
            assert status == 1 and "(sadb-fill)" in text, (status, text)
            mark = gateway.launch()
            assert gateway.process.wait(PATIENCE) == 1
            assert gateway.logged("stop charon, restart cygnetd, and start charon", mark)
        wait_until(lambda: check(gateway)[0] == 0, "nobody uses the file")
        assert preinst(gateway) == (0, "")
        gateway.start()


@on_af_packet
def test_version_takeover(bench):
    """One of another version does not take over, and the one that serves goes on."""
    gateway = bench.gateway
    assert preinst(gateway) == (0, "")
    log = Log(gateway)
    out, inb = bench.tunnel()
    change_abi(gateway, 1)
    try:
        assert take_over_as_dpkg(gateway) == 1
        assert check(gateway)[0] == 3
        assert preinst(gateway)[0] == 1
        bench.expect_flow(out, inb)
    finally:
        change_abi(gateway, -1)
    log.wait(r"does not take over: .* this one serves on")
    assert check(gateway) == (0, "")
