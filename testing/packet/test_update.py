# SPDX-License-Identifier: GPL-2.0-or-later
"""Updates of SAs in use by charon: they move to other addresses, to UDP and back, and to the other family. Also
charon's queries about them."""
import threading
import time

from scapy.layers.inet6 import IPv6

from bench import policy, same_but_hop, to_far_host, to_host
from gateway import FAR_NET, LAN_NET, PEER, PEER6, WAN, WAN6
from network import ip, wait_until
from peer import checksum_right
from test_esp import cases
from test_shortcut import inbound, known, known_tunnel, outbound

PEER_NEXT = "192.0.2.3"
NEW_REQID = 77


def move(bench, sa, here, there, encap=None, reqid=0):
    """update_sa()."""
    before = sa.dst
    sa.src, sa.dst = (here, there) if sa.direction == "out" else (there, here)
    sa.v6, sa.encap = ":" in here, encap
    words = f"sa-update spi={sa.spi:#x} end={before} src={sa.src} dst={sa.dst} reqid={reqid}"
    if encap:
        ports = encap if sa.direction == "out" else encap[::-1]
        words += f" encap={ports[0]}-{ports[1]}"
    bench.gateway.fill(words)


MOVES = {"address": [(WAN, PEER_NEXT), (WAN, PEER)],
         "udp": [(WAN, PEER, (4500, 4501)), (WAN, PEER, (4500, 4502)), (WAN, PEER)],
         "family": [(WAN6, PEER6), (WAN, PEER)],
         "family-udp": [(WAN6, PEER6, (4500, 4501)), (WAN, PEER, (4500, 4501)), (WAN6, PEER6)]}


KINDS = {**{f"gcm128-{kind}": ("gcm128", False, moves) for kind, moves in MOVES.items()},
         "cbc128-sha256-esn-family-udp": ("cbc128-sha256", True, MOVES["family-udp"])}


@cases(*KINDS)
def test_update(bench, case):
    """On both paths: sequence numbers, replay window and counters are kept when an SA moves, also when it moves
    back."""
    ip("-n", bench.network.gw, "neigh", "replace", PEER_NEXT, "dev", "wan",
       "lladdr", bench.wan.mac.hex(":"), "nud", "permanent")
    suite, esn, moves = KINDS[case]
    out, inb = known_tunnel(bench, suite, esn=esn)
    for there in moves:
        seq, old = out.unseal(outbound(bench, out))[1], inb.seq
        before = bench.usage(inb)
        move(bench, out, *there)
        move(bench, inb, *there)
        with bench.dropped("replay", 2):
            bench.from_wan(inb.seal(to_host(), seq=old))
            bench.from_wan(inb.seal(to_host(), seq=1))
        inb.seq = old
        inbound(bench, inb)
        assert out.unseal(outbound(bench, out))[1] == seq + 1
        after = bench.usage(inb)
        assert after["packets"] == before["packets"] + 1 and after["seq"] == old + 1, (before, after)
        assert after["replayed"] == before["replayed"] + 2
        known(bench, outbound, out)
        known(bench, inbound, inb, ways=1 if inb.encap else 2)


def test_update_old_path(bench):
    """An SA is found at its new address only."""
    _, inb = known_tunnel(bench)
    at_old = inb.seal(to_host())
    move(bench, inb, WAN6, PEER6)
    with bench.dropped("bad-spi"):
        bench.from_wan(at_old)
    inb.seq -= 1
    inbound(bench, inb)


@cases("gcm128", "cbc128-sha1-udp")
def test_update_under_traffic(bench, case):
    """While an SA moves, each packet has all addresses of the old state or all of the new one; no packet is lost, and
    no sequence number is missing or used twice."""
    name, encap = case.removesuffix("-udp"), (4500, 4501) if case.endswith("-udp") else None
    out, _ = known_tunnel(bench, name, encap=bool(encap))
    first, done = out.unseal(outbound(bench, out))[1] + 1, threading.Event()
    sent, room = [], []

    def send():
        while not done.is_set():
            if len(sent) < 400 * len(room):  # more would not fit into the receiving socket
                sent.append(to_far_host(len(sent) % 700, id=len(sent)))
                bench.from_lan(sent[-1])
            time.sleep(0.0005)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        for number in range(9):
            room.append("while it moves")
            if number:
                move(bench, out, *((WAN6, PEER6) if number % 2 else (WAN, PEER)), encap)
            at = bench.gateway.counted("encapsulated") + 100
            room.append("where it is now, however long it took to move")
            wait_until(lambda at=at: bench.gateway.counted("encapsulated") > at, "packets")
    finally:
        done.set()
        sender.join()
    families = []
    for number, packet in enumerate(bench.receive(bench.wan, len(sent))):
        out.v6 = isinstance(packet, IPv6)
        out.src, out.dst = (WAN6, PEER6) if out.v6 else (WAN, PEER)
        assert out.v6 or checksum_right(packet)
        inner, seq = out.unseal(packet)
        assert (inner.id, seq) == (number, first + number), (inner.id, seq, number)
        same_but_hop(inner, sent[number])
        families += [out.v6] if families[-1:] != [out.v6] else []
    assert families == [False] + [True, False] * 4, families


def test_update_reqid(bench):
    """An SA whose reqid changes is used by policies with the new reqid only."""
    out, inb = known_tunnel(bench)
    move(bench, out, WAN, PEER, reqid=NEW_REQID)
    move(bench, inb, WAN, PEER, reqid=NEW_REQID)
    with bench.dropped("policy-inbound"):
        bench.from_wan(inb.seal(to_host()))
    bench.gateway.fill(policy("out", LAN_NET, FAR_NET, spi=out.spi, reqid=NEW_REQID),
                       policy("fwd", FAR_NET, LAN_NET, spi=inb.spi, reqid=NEW_REQID))
    seq = out.unseal(outbound(bench, out))[1]
    inbound(bench, inb)
    assert out.unseal(outbound(bench, out))[1] == seq + 1


@cases("gcm128", "cbc128-sha256-udp")
def test_usage(bench, case):
    """query_sa() and query_policy() report inner packets and bytes of both paths, without refused ones, and the time
    of the last use."""
    begin = int(time.monotonic()) - 1  # cygnetd's clock may be that of the turn before
    out, inb = bench.tunnel(case.removesuffix("-udp"), encap=case.endswith("-udp"))
    queries = [f"policy-query dir={way} src={src} dst={dst}" for way, src, dst in
               (("out", LAN_NET, FAR_NET), ("fwd", FAR_NET, LAN_NET), ("in", FAR_NET, LAN_NET))]
    zero = {"bytes": 0, "packets": 0, "use": 0, "seq": 0, "replayed": 0, "forged": 0}
    assert [bench.usage(sa) for sa in (out, inb)] == [zero, zero]
    assert [bench.gateway.query(query)["use"] for query in queries] == [0, 0, 0]
    sizes = (0, 1, 100, 1000, 100, 100)
    for size in sizes:
        outbound(bench, out, to_far_host(size))
        inbound(bench, inb, to_host(size))
    with bench.dropped("replay"):
        bench.from_wan(inb.seal(to_host(), seq=inb.seq))
    with bench.dropped("auth-failed"):
        good = bytes(inb.seal(to_host()))
        bench.from_wan(good[:-1] + bytes([good[-1] ^ 1]))
    end = int(time.monotonic())
    want = {"bytes": sum(sizes) + 28 * len(sizes), "packets": len(sizes), "seq": len(sizes)}
    for sa, replayed, forged in ((out, 0, 0), (inb, 1, 1)):
        got = bench.usage(sa)
        assert begin <= got.pop("use") <= end
        assert got == {**want, "replayed": replayed, "forged": forged}, got
    used = [bench.gateway.query(query)["use"] for query in queries]
    assert begin <= used[0] <= end and begin <= used[1] <= end, used
    assert used[2] == 0, "nothing was for the gateway itself"

    def later():
        outbound(bench, out)
        return (bench.usage(out)["use"] > bench.usage(inb)["use"] and
                bench.gateway.query(queries[0])["use"] > used[0])
    wait_until(later, "a later use")
