# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of one SA that several workers receive: once the SA is shared, each worker protects its own, and the packets leave in
the order of their sequence numbers."""
import re

from bench import same_but_hop, to_far_host
from test_esp import cases

FLOWS, ROUND, ROUNDS = 16, 320, 12  # packets of a round, and rounds at most


def two_queues(text):
    """Ports whose flows the kernel distributes over the queues of two workers."""
    text = re.sub(r"(?m)^workers = .*", "workers = 2", re.sub(r"(?m)^cores = .*", "cores = 0,1", text))
    return re.sub(r"(?m)^device = \w+?(\d),(.*)", r"device = net_af_packet\1,\2,qpairs=2", text)


def send(bench, out, first, last):
    """Send a round, and check that each packet leaves once, in the order of sequence numbers and in that of its flow. Only for a
    worker that does not run for half a millisecond the others do not wait, and count that.
    @param first  number of its first packet
    @param last   sequence number of the last one before
    @return its last sequence number"""
    sent = [to_far_host(size=number % 600, id=number, sport=1000 + number % FLOWS) for number in range(first, first + ROUND)]
    gaps = bench.gateway.counted("order_gaps")
    bench.wan.drain()
    bench.from_lan(*sent)
    got = [out.unseal(packet) for packet in bench.receive(bench.wan, ROUND)]
    for inner, _ in got:
        same_but_hop(inner, sent[inner.id - first])
    numbers, ids = [seq for _, seq in got], [inner.id for inner, _ in got]
    assert len(set(numbers)) == ROUND and min(numbers) > last, (last, numbers)
    assert sorted(ids) == [packet.id for packet in sent], ids
    by_flow = [[number for number in ids if number % FLOWS == flow] for flow in range(FLOWS)]
    if bench.gateway.counted("order_gaps") == gaps:
        assert numbers == sorted(numbers), f"out of order: {numbers}"
        assert by_flow == [sorted(flow) for flow in by_flow], f"flows out of order: {by_flow}"
    return max(numbers)


def encapsulated(gateway):
    return [row["encapsulated"] for row in gateway.ask("/cygnet/stats").values()]


@cases("gcm128", "cbc128-sha1", "cbc128-sha256")
def test_share_flows(bench, case):
    gateway = bench.gateway
    # With crypto cores an SA has one worker; one without flows does not know where an SA's packets leave.
    if gateway.crypto_cores or not gateway.flows:
        return
    with gateway.rewritten(two_queues):
        out, _ = bench.tunnel(case)
        sent = last = 0
        while not gateway.counted("sas_shared"):
            assert sent < ROUNDS * ROUND, "the SA is not shared"
            last = send(bench, out, sent, last)
            sent += ROUND
        # The other worker joins with its next packets.
        for _ in range(2):
            before = encapsulated(gateway)
            last = send(bench, out, sent, last)
            sent += ROUND
        assert all(now > then for now, then in zip(encapsulated(gateway), before)), (before, encapsulated(gateway))
        assert bench.usage(out)["packets"] == sent
