# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl show spd counts by policy: each packet that policies are looked up for, and drops at the policy
that causes them."""
import json
import subprocess

from bench import packet, policy, to_far_host, to_host
from gateway import FAR_HOST, FAR_NET, HOST, LAN_NET
from peer import SUITE, Sa
from test_esp import cases


def spd(gateway, *options):
    """Counts by direction and priority."""
    shown = subprocess.run([f"{gateway.build}/root/bin/cygnetctl", "-p", gateway.prefix, "-s", f"{gateway.work}/sadb",
                            *options, "--json", "show", "spd"], capture_output=True, text=True, check=True)
    return {(row["dir"], row["priority"]): (row["passed"], row["dropped"]) for row in json.loads(shown.stdout)}


def send_both_ways(bench, inb, count):
    """Send packets of one flow in each direction."""
    for number in range(count):
        bench.from_lan(to_far_host(id=number))
        bench.receive(bench.wan, 1)
        bench.from_wan(inb.seal(to_host(id=number)))
        bench.receive(bench.lan, 1)


def test_policy_counts_without_flows(bench):
    """Without a flow cache each packet is counted once."""
    with bench.gateway.without_flows():
        _, inb = bench.tunnel()
        assert spd(bench.gateway) == {("out", 1000): (0, 0), ("in", 1000): (0, 0), ("fwd", 1000): (0, 0)}
        send_both_ways(bench, inb, 20)
        assert spd(bench.gateway) == {("out", 1000): (20, 0), ("in", 1000): (0, 0), ("fwd", 1000): (20, 0)}


def test_policy_counts_known_flows(bench):
    """Of a known flow only packets with a policy lookup are counted."""
    before = bench.gateway.counted("shortcut")
    _, inb = bench.tunnel()
    send_both_ways(bench, inb, 20)
    known = bench.gateway.counted("shortcut") - before
    counts = spd(bench.gateway)
    assert bench.gateway.took_fast_path(before) and counts[("in", 1000)] == (0, 0)
    for direction in ("out", "fwd"):
        passed, dropped = counts[(direction, 1000)]
        assert 1 <= passed <= 20 and not dropped, counts
    # A decrypted packet of a known flow may have been counted as ESP and as plaintext.
    assert counts[("out", 1000)][0] + counts[("fwd", 1000)][0] + known >= 40, (counts, known)


def test_policy_counts_plaintext(bench):
    """The policy that plaintext violates is found among others."""
    bench.tunnel(more_lines=[policy("fwd", "10.2.7.0-10.2.7.255", LAN_NET, prio=900, reqid=2)])
    with bench.dropped("policy-plaintext", 5):
        for number in range(5):
            bench.from_wan(packet("10.2.7.1", HOST, id=number))
    with bench.dropped("policy-plaintext", 2):
        for number in range(2):
            bench.from_wan(to_host(id=number))
    counts = spd(bench.gateway)
    assert counts[("fwd", 900)] == (0, 5) and counts[("fwd", 1000)] == (0, 2), counts


def test_policy_counts_inbound(bench):
    """Decrypted packets whose SA belongs to another policy."""
    stranger = Sa(SUITE["gcm128"], "in", bench.spi(), reqid=2)
    bench.tunnel(more_lines=[stranger.line(), policy("fwd", "10.2.7.0-10.2.7.255", LAN_NET, spi=stranger.spi, prio=900,
                                                     reqid=2)])
    with bench.dropped("policy-inbound", 3):
        for number in range(3):
            bench.from_wan(stranger.seal(to_host(id=number)))
    counts = spd(bench.gateway)
    assert counts[("fwd", 900)] == (0, 0) and counts[("fwd", 1000)] == (0, 3), counts


@cases("bypass", "discard")
def test_policy_counts_plain(bench, case):
    """Plaintext that a bypass or a discard policy matches."""
    one = f"{FAR_HOST}-{FAR_HOST}"
    bench.gateway.fill("flush", policy("out", LAN_NET, one, case, prio=10), policy("out", LAN_NET, FAR_NET, prio=20))
    bench.lan.drain()
    bench.wan.drain()
    if case == "bypass":
        for port in range(30):
            bench.from_lan(to_far_host(dport=3000 + port))
        bench.receive(bench.wan, 30)
    else:
        with bench.dropped("policy-discard", 30):
            for number in range(30):
                bench.from_lan(to_far_host(id=number))
    assert spd(bench.gateway) == {("out", 10): (30, 0) if case == "bypass" else (0, 30), ("out", 20): (0, 0)}


def test_policy_counts_anew(bench):
    """The counts of a reused slot start at zero; without cygnetd no counts are shown."""
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, "bypass", prio=10))
    bench.wan.drain()
    bench.from_lan(to_far_host())
    bench.receive(bench.wan, 1)
    assert spd(bench.gateway) == {("out", 10): (1, 0)}
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, "bypass", prio=11))
    assert spd(bench.gateway) == {("out", 11): (0, 0)}
    bench.from_lan(to_far_host())
    bench.receive(bench.wan, 1)
    assert spd(bench.gateway) == {("out", 11): (1, 0)}
    assert spd(bench.gateway, "-p", "no-such") == {("out", 11): (None, None)}
