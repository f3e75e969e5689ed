# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl health: exit status and reason, as Nagios and load balancers read them."""
import json
import signal
import subprocess

from network import ip, wait_until

OK, WARNING, CRITICAL, UNKNOWN = range(4)


def health(gateway, *options):
    done = subprocess.run([f"{gateway.build}/root/bin/cygnetctl", "-p", gateway.prefix, *options, "health"],
                          capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 1, done
    return done.returncode, done.stdout.strip()


def expect(gateway, status, *words):
    got = health(gateway)
    assert got[0] == status and all(word in got[1] for word in words), got


def test_health_ok(bench):
    bench.tunnel()
    with bench.gateway.charon():
        expect(bench.gateway, OK, "OK: cygnetd ", f"{bench.gateway.workers} workers, 2 ports",
               "2 SAs, 3 policies")
        status, text = health(bench.gateway, "--json")
        answer = json.loads(text)
        assert (status, answer["state"], answer["status"]) == (OK, "OK", OK), answer


def test_health_charon(bench):
    """Until charon has been away for two minutes."""
    bench.gateway.stop()
    bench.gateway.start()
    expect(bench.gateway, WARNING, "WARNING: charon does not run")


def test_health_port(bench):
    gateway = bench.gateway

    def state_is(state):
        return all(row["state"] == state for row in gateway.ask("/cygnet/ports").values() if row["name"] == "lan")
    with gateway.charon():
        ip("-n", gateway.network.gw, "link", "set", "lan", "down")
        try:
            wait_until(lambda: state_is("down"), "lan is down")
            expect(gateway, WARNING, "WARNING: port lan: interface lan is down")
        finally:
            gateway.set_up_taps()
        wait_until(lambda: state_is("up"), "lan is up")
        expect(gateway, OK)


def test_health_silent(bench):
    """A stopped cygnetd is critical, as is a missing one."""
    bench.gateway.process.send_signal(signal.SIGSTOP)
    try:
        expect(bench.gateway, CRITICAL, "CRITICAL: ", "timed out")
    finally:
        bench.gateway.process.send_signal(signal.SIGCONT)
    bench.gateway.kill()
    try:
        expect(bench.gateway, CRITICAL, "CRITICAL: cygnetd does not answer")
    finally:
        bench.gateway.start()


def test_health_unknown(bench):
    gateway = bench.gateway
    for options in (["-c", "/no/such/conf"], ["-c", "/dev/null/x"]):
        done = subprocess.run([f"{gateway.build}/root/bin/cygnetctl", *options, "health"], capture_output=True,
                              text=True)
        assert done.returncode == UNKNOWN and done.stdout.startswith("UNKNOWN: "), done
    assert subprocess.run([f"{gateway.build}/root/bin/cygnetctl", "health", "x"],
                          capture_output=True).returncode == UNKNOWN
