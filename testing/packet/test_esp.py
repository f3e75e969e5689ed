# SPDX-License-Identifier: GPL-2.0-or-later
"""Valid ESP, in both directions."""
from scapy.layers.inet import IP
from scapy.packet import raw

from bench import same_but_hop, to_far_host, to_host
from peer import SUITES

SIZES = [0, 1, 2, 3, 13, 14, 15, 16, 17, 63, 100, 512, 1000, 1377]


def cases(*values):
    def mark(function):
        function.cases = values
        return function
    return mark


# The UDP header does not depend on the suite.
ALL = [suite.name for suite in SUITES] + ["gcm128-udp", "cbc128-sha256-udp", "chacha-udp", "null-sha1-udp"]


def tunnel_of(bench, case, **options):
    name, _, udp = case.partition("-udp") if case.endswith("-udp") else (case, "", "")
    return bench.tunnel(name, encap=case.endswith("-udp"), **options)


@cases(*ALL)
def test_outbound(bench, case):
    out, _ = tunnel_of(bench, case)
    sent = [to_far_host(size, id=number) for number, size in enumerate(SIZES)]
    bench.wan.drain()
    for packet in sent:
        bench.from_lan(packet)
    got = bench.receive(bench.wan, len(sent))
    ivs = set()
    for number, (packet, original) in enumerate(zip(got, sent), 1):
        inner, seq = out.unseal(packet)
        assert seq == number, f"sequence number {seq}, not {number}"
        same_but_hop(inner, original)
        ivs.add(iv_of(packet, out))
    assert len(ivs) == len(sent) or not out.scapy.crypt_algo.iv_size, "an IV was used twice"


def iv_of(packet, sa):
    start = packet.ihl * 4 + (8 if sa.encap else 0) + 8
    return bytes(packet)[start:start + sa.scapy.crypt_algo.iv_size]


@cases(*ALL)
def test_inbound(bench, case):
    _, inb = tunnel_of(bench, case)
    sent = [to_host(size, id=number) for number, size in enumerate(SIZES)]
    bench.lan.drain()
    for packet in sent:
        bench.from_wan(inb.seal(packet))
    for packet, original in zip(bench.receive(bench.lan, len(sent)), sent):
        same_but_hop(packet, original)


@cases("gcm128", "cbc128-sha256")
def test_minimal_peer(bench, case):
    """A peer with minimal ESP (RFC 9333, 4) may take sequence numbers from a clock: any higher number is
    accepted, a repeated one is a replay."""
    _, inb = bench.tunnel(case, window=64)
    bench.lan.drain()
    for seq in (0x100, 70000, 70007, 0x40000000, 0x40000001, 0xfffffff0):
        sent = to_host(id=seq & 0xffff)
        bench.from_wan(inb.seal(sent, seq=seq))
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    for seq in (0x40000000, 0xfffffff0):
        with bench.dropped("replay"):
            bench.from_wan(inb.seal(to_host(), seq=seq))


def test_traffic_flow_padding(bench):
    """The peer pads behind the inner packet (RFC 4303, 2.7): the decrypted packet is trimmed to its
    length."""
    _, inb = bench.tunnel()
    sent = to_host(50)
    bench.lan.drain()

    def stuff(plain):
        plain.data += b"\0" * 64

    bench.from_wan(inb.seal(sent, alter=stuff))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)


@cases(200, 1000, 0xffff)
def test_traffic_flow_hidden(bench, case):
    """TFC padding makes all packets up to that length equally long, none longer than the path MTU; the
    inner header's length is unchanged."""
    out, _ = bench.tunnel(out_more=f"tfc={case}")
    bench.wan.drain()
    lengths = set()
    for size in (0, 50, 150):
        sent = to_far_host(size)
        bench.from_lan(sent)
        packet = bench.receive(bench.wan, 1)[0]
        inner, _ = out.unseal(packet)
        body, padding = raw(inner)[:inner.len], raw(inner)[inner.len:]
        same_but_hop(IP(body), sent)
        assert not any(padding), "zeros"
        assert packet.len <= 1500
        lengths.add(packet.len)
    assert len(lengths) == 1 and min(lengths) > min(case, 1440), lengths


def test_many_packets(bench):
    """More packets than a burst or a batch holds keep their order and have consecutive sequence numbers."""
    out, inb = bench.tunnel("cbc128-sha256")
    bench.wan.drain()
    bench.lan.drain()
    for number in range(1000):
        bench.from_lan(to_far_host(number % 1300, id=number))
        bench.from_wan(inb.seal(to_host(number % 1300, id=number)))
    for number, packet in enumerate(bench.receive(bench.wan, 1000)):
        inner, seq = out.unseal(packet)
        assert (inner.id, seq) == (number, number + 1), (inner.id, seq, number)
    order = [packet.id for packet in bench.receive(bench.lan, 1000)]
    assert order == list(range(1000)), "received in another order"


def test_sas_change_under_traffic(bench):
    """Fifty pairs of SAs, a few packets each: none is lost, each is encrypted with its SA's keys."""
    for number in range(50):
        suite = SUITES[number % len(SUITES)]
        out, inb = bench.tunnel(suite)
        bench.expect_flow(out, inb)
        bench.expect_flow(out, inb)


@cases("gcm128", "cbc128-sha256", "ctr256-xcbc", "ccm128-8", "chacha", "3des-sha256", "null-sha1", "gmac128",
       "cbc128-sha256-96")
def test_esn_outbound(bench, case):
    out, _ = bench.tunnel(case, esn=True)
    bench.wan.drain()
    for number in range(1, 4):
        sent = to_far_host(id=number)
        bench.from_lan(sent)
        inner, seq = out.unseal(bench.receive(bench.wan, 1)[0], high=0)
        assert seq == number
        same_but_hop(inner, sent)


@cases("gcm128", "cbc128-sha256", "ctr256-xcbc", "ccm128-8", "chacha", "3des-sha256", "null-sha1", "gmac128",
       "cbc128-sha256-96")
def test_esn_inbound(bench, case):
    """ESN across the wrap of the low 32 bits; afterwards the old high half is a replay."""
    _, inb = bench.tunnel(case, esn=True)
    bench.lan.drain()
    for seq in (1, 0xfffffffe, 0xffffffff, 1 << 32, (1 << 32) + 1):
        sent = to_host(id=seq & 0xffff)
        bench.from_wan(inb.seal(sent, seq=seq))
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    with bench.dropped("replay"):
        bench.from_wan(inb.seal(to_host(), seq=0xffffffff))
    with bench.dropped("auth-failed"):
        bench.from_wan(inb.seal(to_host(), seq=5))  # means 2^32 + 5
