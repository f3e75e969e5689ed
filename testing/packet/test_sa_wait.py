# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that wait for an SA: the first ones of a trap policy are not lost."""
import socket

from bench import packet, policy, same_but_hop, to_far_host
from gateway import FAR_NET, HOST, LAN_NET, PEER, WAN
from network import inside
from peer import SUITE, Sa

PER_POLICY, PER_WORKER = 16, 256


def trap(bench, *lines):
    """Policies and no SA. @return how many packets have waited before"""
    bench.gateway.fill("flush", *(lines or [policy("out", LAN_NET, FAR_NET)]))
    return bench.gateway.counted("waited_for_sa")


def come_up(bench, *lines):
    """What charon does once the peer has agreed; the trap policy stays. @return the SA"""
    out = Sa(SUITE["gcm128"], "out", bench.spi())
    bench.wan.drain()
    bench.gateway.fill(out.line(), policy("out", LAN_NET, FAR_NET, spi=out.spi), *lines)
    return out


def expect_sealed(bench, out, sent):
    """They leave in the order in which they came."""
    for outer, packet_sent in zip(bench.receive(bench.wan, len(sent)), sent):
        same_but_hop(out.unseal(outer)[0], packet_sent)
    bench.expect_nothing()


def send(bench, numbers):
    sent = [to_far_host(id=number) for number in numbers]
    for one in sent:
        bench.from_lan(one)
    return sent


def test_sa_wait_first_of_a_trap(bench):
    before = trap(bench)
    bench.wan.drain()
    sent = send(bench, range(1, 6))
    bench.wait_until_waiting(5, before)
    bench.expect_nothing()
    expect_sealed(bench, come_up(bench), sent)


def test_sa_wait_while_sa_is_replaced(bench):
    """The SA goes away, and comes back under the same policy."""
    out, _ = bench.tunnel()
    before = bench.gateway.counted("waited_for_sa")
    bench.wan.drain()
    bench.gateway.fill(f"sa-delete spi={out.spi:#x} dst={PEER}")
    sent = send(bench, range(1, 4))
    bench.wait_until_waiting(3, before)
    bench.expect_nothing()
    expect_sealed(bench, come_up(bench), sent)


def test_sa_wait_bounded_by_policy(bench):
    """The newest ones stay; another policy's are not touched."""
    other_net = "10.2.9.0-10.2.9.255"
    before = trap(bench, policy("out", LAN_NET, FAR_NET), policy("out", LAN_NET, other_net, reqid=2))
    stranger = packet(HOST, "10.2.9.1")
    with bench.dropped("no-sa", 5):
        bench.from_lan(stranger)
        sent = send(bench, range(1, PER_POLICY + 6))
        bench.wait_until_waiting(PER_POLICY + 6, before)
    expect_sealed(bench, come_up(bench), sent[5:])
    out = Sa(SUITE["gcm128"], "out", bench.spi(), reqid=2)
    bench.gateway.fill(out.line(), policy("out", LAN_NET, other_net, spi=out.spi, reqid=2))
    expect_sealed(bench, out, [stranger])


def test_sa_wait_bounded_in_all(bench):
    policies = PER_WORKER // PER_POLICY + 1
    nets = [f"10.2.{number}.0-10.2.{number}.255" for number in range(policies)]
    before = trap(bench, *(policy("out", LAN_NET, net, reqid=number + 1) for number, net in enumerate(nets)))
    with bench.dropped("no-sa", PER_POLICY):
        for number in range(policies):
            for _ in range(PER_POLICY):
                bench.from_lan(packet(HOST, f"10.2.{number}.1"))
        bench.wait_until_waiting(policies * PER_POLICY, before)
    with bench.dropped("policy-gone", PER_WORKER):
        bench.gateway.fill("flush")


def test_sa_wait_but_bypassed_later(bench):
    """What was to be protected does not leave in plaintext, whatever policy says by then."""
    before = trap(bench)
    with bench.dropped("policy-gone", 2):
        send(bench, range(2))
        bench.wait_until_waiting(2, before)
        bench.gateway.fill(policy("out", LAN_NET, FAR_NET, "bypass", prio=10))
    bench.wan.drain()
    for sent in send(bench, [7]):
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)


def test_sa_wait_from_the_kernel(bench):
    """The gateway's own traffic waits as well."""
    ends = [f"{end}-{end}" for end in (WAN, PEER)]
    before = trap(bench, policy("out", *ends))
    with inside(bench.network.gw):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        sock.sendto(b"first", (PEER, 77))
    bench.wait_until_waiting(1, before)
    out = Sa(SUITE["gcm128"], "out", bench.spi())
    bench.wan.drain()
    bench.gateway.fill(out.line(), policy("out", *ends, spi=out.spi))
    inner, _ = out.unseal(bench.receive(bench.wan, 1)[0])
    assert (inner.src, inner.dst, bytes(inner.payload)[8:]) == (WAN, PEER, b"first")
