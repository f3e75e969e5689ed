# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that are queued for an SA: the first packets of a trap policy are not lost."""
import socket

from bench import packet, policy, same_but_hop, to_far_host
from gateway import FAR_NET, HOST, LAN_NET, PEER, WAN
from network import inside, ip_batch, wait_until
from peer import SUITE, Sa
from test_watch import watching

PER_PAIR, PER_WORKER = 16, 1024
ANY_PEER = "mode=transport end=0.0.0.0"


def trap(bench, *lines):
    """Install policies without an SA. @return number of packets queued so far"""
    bench.gateway.fill("flush", *(lines or [policy("out", LAN_NET, FAR_NET)]))
    return bench.gateway.counted("waited_for_sa")


def come_up(bench, *lines):
    """Install the SA as charon does after the negotiation; the trap policy stays. @return the SA"""
    out = Sa(SUITE["gcm128"], "out", bench.spi())
    bench.wan.drain()
    bench.gateway.fill(out.line(), policy("out", LAN_NET, FAR_NET, spi=out.spi), *lines)
    return out


def expect_sealed(bench, out, sent):
    """Queued packets leave in the order in which they arrived."""
    for outer, packet_sent in zip(bench.receive(bench.wan, len(sent)), sent):
        same_but_hop(out.unseal(outer)[0], packet_sent)
    bench.expect_nothing()


def expect_sealed_pairs(bench, out, *pairs):
    """Queued packets of a pair of hosts leave in the order in which they arrived."""
    left = [out.unseal(outer)[0] for outer in bench.receive(bench.wan, sum(map(len, pairs)))]
    for pair in pairs:
        of_pair = [inner for inner in left if inner.dst == pair[0].dst]
        assert len(of_pair) == len(pair)
        for inner, packet_sent in zip(of_pair, pair):
            same_but_hop(inner, packet_sent)
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
    """The SA is deleted, and a new one installed under the same policy."""
    out, _ = bench.tunnel()
    before = bench.gateway.counted("waited_for_sa")
    bench.wan.drain()
    bench.gateway.fill(f"sa-delete spi={out.spi:#x} dst={PEER}")
    sent = send(bench, range(1, 4))
    bench.wait_until_waiting(3, before)
    bench.expect_nothing()
    expect_sealed(bench, come_up(bench), sent)


def test_sa_wait_bounded_by_pair(bench):
    """Only the newest packets of a pair are kept; those of other pairs and policies are not affected."""
    other_net = "10.2.9.0-10.2.9.255"
    before = trap(bench, policy("out", LAN_NET, FAR_NET), policy("out", LAN_NET, other_net, reqid=2))
    stranger, neighbour = packet(HOST, "10.2.9.1"), packet(HOST, "10.2.0.11")
    with bench.dropped("no-sa", 5):
        bench.from_lan(stranger, neighbour)
        sent = send(bench, range(1, PER_PAIR + 6))
        bench.wait_until_waiting(PER_PAIR + 7, before)
    expect_sealed_pairs(bench, come_up(bench), [neighbour], sent[5:])
    out = Sa(SUITE["gcm128"], "out", bench.spi(), reqid=2)
    bench.gateway.fill(out.line(), policy("out", LAN_NET, other_net, spi=out.spi, reqid=2))
    expect_sealed(bench, out, [stranger])


def test_sa_wait_bounded_in_all(bench):
    """A host that scans a net replaces its own packets."""
    before = trap(bench, policy("out", LAN_NET, FAR_NET), policy("out", LAN_NET, "10.2.8.0-10.2.15.255", reqid=2))
    stranger, neighbour = packet(HOST, "10.2.0.1"), packet("10.1.0.11", "10.2.8.1")
    with bench.dropped("no-sa", 102):
        bench.from_lan(stranger, neighbour)
        for number in range(PER_WORKER + 100):
            bench.from_lan(packet(HOST, f"10.2.{8 + number // 256}.{number % 256}"))
            if number % 250 == 249:  # no more than a port's ring holds
                bench.wait_until_waiting(number + 3, before)
        bench.wait_until_waiting(PER_WORKER + 102, before)
    expect_sealed(bench, come_up(bench), [stranger])
    out = Sa(SUITE["gcm128"], "out", bench.spi(), reqid=2)
    bench.gateway.fill(out.line(), policy("out", "10.1.0.11-10.1.0.11", "10.2.8.0-10.2.8.255", spi=out.spi, reqid=2))
    expect_sealed(bench, out, [neighbour])
    with bench.dropped("policy-gone", PER_WORKER - 2):
        bench.gateway.fill("flush")


def acquired(watch):
    """The peers in the acquires that charon has received."""
    return [row["dst"] for row in watch.of("acquire")]


def test_sa_wait_each_peer(bench):
    """If the peer is the packet's destination, charon gets an acquire for each peer at once: two datagrams to two peers
    arrive, also while a third peer is silent."""
    silent, peers = "192.0.2.17", ("192.0.2.18", "192.0.2.19")
    net = "192.0.2.16-192.0.2.31"
    ip_batch(bench.network.gw, [f"neigh replace {peer} dev wan lladdr {bench.wan.mac.hex(':')} nud permanent"
                                for peer in (silent, *peers)])
    bench.gateway.hear()
    with bench.gateway.charon():
        before = trap(bench, policy("out", f"{WAN}-{WAN}", net, more=ANY_PEER))
        with inside(bench.network.gw):
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with watching(bench.gateway) as watch, sock:
            for _ in range(100):
                sock.sendto(b"silent", (silent, 77))
            bench.wait_until_waiting(100, before)
            for peer in peers:
                sock.sendto(peer.encode(), (peer, 77))
            bench.wait_until_waiting(102, before)
            wait_until(lambda: set(acquired(watch)) == {silent, *peers}, "all are asked for")
            assert acquired(watch).count(silent) <= 1 + len({row["time"][:19] for row in watch.of("acquire")}), watch.text
        bench.wan.drain()
        for peer in peers:
            out = Sa(SUITE["gcm128"], "out", bench.spi(), more="mode=transport")
            out.dst = peer
            bench.gateway.fill(out.line(), policy("out", f"{WAN}-{WAN}", f"{peer}-{peer}", spi=out.spi,
                                                  more=f"mode=transport end={peer}"))
            header, _, payload, _ = out.unseal_payload(bench.receive(bench.wan, 1)[0])
            assert (header.dst, payload[8:]) == (peer, peer.encode())
        bench.expect_nothing()
        with bench.dropped("policy-gone", PER_PAIR):
            bench.gateway.fill("flush")


def test_sa_wait_one_peer_for_all(bench):
    """In tunnel mode one acquire is enough for all packets of a policy."""
    with bench.gateway.charon():
        before = trap(bench)
        with watching(bench.gateway) as watch:
            bench.from_lan(*(packet(HOST, f"10.2.0.{number}") for number in range(1, 101)))
            bench.wait_until_waiting(100, before)
            wait_until(lambda: watch.of("acquire"), "charon is asked")
            seconds = {row["time"][:19] for row in watch.of("acquire")}
            assert len(watch.of("acquire")) <= 1 + len(seconds), watch.text
        with bench.dropped("policy-gone", 100):
            bench.gateway.fill("flush")


def test_sa_wait_but_bypassed_later(bench):
    """A packet queued to be protected does not leave in plaintext, even if the policy is a bypass by then."""
    before = trap(bench)
    with bench.dropped("policy-gone", 2):
        send(bench, range(2))
        bench.wait_until_waiting(2, before)
        bench.gateway.fill(policy("out", LAN_NET, FAR_NET, "bypass", prio=10))
    bench.wan.drain()
    for sent in send(bench, [7]):
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)


def test_sa_wait_from_the_kernel(bench):
    """Packets of the gateway itself are queued as well."""
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
