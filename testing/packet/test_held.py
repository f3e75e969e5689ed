# SPDX-License-Identifier: GPL-2.0-or-later
"""charon was killed, or the gateway has booted, and the next charon has not installed its policies yet: nothing leaves
in plaintext."""
import contextlib
import json
import os
import socket
import subprocess

from scapy.layers.inet import IP, UDP
from scapy.packet import Raw

from bench import ike, packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_NET, HOST, LAN_NET, PEER, WAN
from network import PATIENCE, inside
from peer import SUITE, Sa
from test_health import WARNING, expect
from test_trace import BACK, OUT, verdict


def spd(bench):
    """@return (direction, action, held) of each policy, from cygnetctl show spd"""
    rows = subprocess.run([f"{bench.gateway.build}/root/bin/cygnetctl", "--json", "-s",
                           f"{bench.gateway.work}/sadb", "show", "spd"], check=True, capture_output=True,
                          text=True).stdout
    return sorted((row["dir"], row["action"], row["held"]) for row in json.loads(rows))


def test_held_crash(bench):
    """Packets are dropped in both directions, also of known flows, until the new charon has a tunnel with the same
    selectors."""
    out, inb = bench.tunnel()
    for _ in range(3):
        bench.expect_flow(out, inb)
    bench.gateway.fill("hold")
    assert spd(bench) == [("fwd", "protect", True), ("in", "protect", True), ("out", "protect", True)]
    with bench.dropped("policy-held", 4):
        for number in range(3):
            bench.from_lan(to_far_host(id=number))
        bench.from_wan(to_host())
    with bench.dropped("bad-spi"):
        bench.from_wan(inb.seal(to_host()))
    assert verdict(bench, OUT) == verdict(bench, BACK) == "dropped policy-held"
    with bench.gateway.charon():
        expect(bench.gateway, WARNING, "WARNING: 3 held policies drop packets")
    # An SA of the new charon may have the reqid of a held policy.
    stranger = Sa(SUITE["gcm128"], "in", bench.spi())
    bench.gateway.fill(stranger.line())
    with bench.dropped("policy-held"):
        bench.from_wan(stranger.seal(to_host()))
    out, inb = Sa(SUITE["gcm128"], "out", bench.spi(), reqid=7), Sa(SUITE["gcm128"], "in", bench.spi(), reqid=7)
    bench.gateway.fill(out.line(), inb.line(),
                       policy("out", LAN_NET, FAR_NET, spi=out.spi, reqid=7, prio=5000),
                       policy("in", FAR_NET, LAN_NET, spi=inb.spi, reqid=7, prio=5000),
                       policy("fwd", FAR_NET, LAN_NET, spi=inb.spi, reqid=7, prio=5000))
    assert spd(bench) == [("fwd", "protect", False), ("in", "protect", False), ("out", "protect", False)]
    for _ in range(3):
        bench.expect_flow(out, inb)


def test_held_shunts(bench):
    """A held discard policy still discards. A held bypass policy drops, until the new charon installs it again."""
    bench.tunnel(more_lines=[
        policy("out", LAN_NET, FAR_NET, "discard", prio=20, more="proto=17 dport=7-7"),
        policy("out", LAN_NET, FAR_NET, "bypass", prio=10, more="proto=17 dport=8-8")])
    bench.gateway.fill("hold")
    with bench.dropped("policy-held", 2):
        bench.from_lan(to_far_host(dport=7), to_far_host(dport=8))
    bench.gateway.fill(policy("out", LAN_NET, FAR_NET, "bypass", prio=10, more="proto=17 dport=8-8"))
    bench.from_lan(to_far_host(dport=8))
    same_but_hop(bench.receive(bench.wan, 1)[0], to_far_host(dport=8))
    with bench.dropped("policy-held"):
        bench.from_lan(to_far_host(dport=7))


def test_held_over(bench):
    """When the hold is over, packets pass as if there were no policy."""
    bench.tunnel()
    bench.gateway.fill("hold")
    with bench.dropped("policy-held"):
        bench.from_lan(to_far_host())
    bench.gateway.fill("hold-end")
    bench.from_lan(to_far_host())
    same_but_hop(bench.receive(bench.wan, 1)[0], to_far_host())


@contextlib.contextmanager
def booted(bench, kept):
    """A gateway that has booted, and has this text as the policies of the last run."""
    gateway = bench.gateway

    def boot():
        gateway.kill()
        os.remove(f"{gateway.work}/sadb")
        gateway.start()

    path = f"{gateway.work}/state/policies"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write(kept)
    try:
        boot()
        yield
    finally:
        os.remove(path)
        boot()


def test_held_unknown(bench):
    """Policies of the last run that cannot be read: everything but IKE is dropped, in all directions."""
    with booted(bench, "cygnet policies 1\n"):
        assert spd(bench) == [(direction, "discard", True) for direction in ("fwd", "fwd", "in", "in", "out", "out")]
        with bench.dropped("policy-held", 4):
            bench.from_lan(to_far_host(), packet(HOST, PEER))
            bench.from_wan(to_host(), packet(PEER, WAN, sport=99, dport=99))
        with inside(bench.network.gw):
            ike_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with ike_socket:
            ike_socket.bind((WAN, 500))
            ike_socket.settimeout(PATIENCE)
            bench.from_wan(IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500) / Raw(ike(b"request")))
            assert ike_socket.recvfrom(2000)[1] == (PEER, 500)


def test_held_unknown_passes(bench):
    """An administrator may prefer plaintext."""
    with bench.gateway.configured("hold_unknown = no"), booted(bench, "cygnet policies 1\n"):
        bench.wan.drain()
        bench.from_lan(to_far_host())
        same_but_hop(bench.receive(bench.wan, 1)[0], to_far_host())
