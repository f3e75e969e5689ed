# SPDX-License-Identifier: GPL-2.0-or-later
"""ESP that is wrong: each fault is dropped for its own reason, and nothing leaks."""
from scapy.layers.inet import IP, UDP
from scapy.packet import Raw, raw

from bench import same_but_hop, to_host
from network import wait_until
from peer import SUITE, SUITES, Sa
from test_esp import cases

EACH = [suite.name for suite in SUITES]


def resized(packet, payload):
    """The packet with another payload, and length and checksum to match."""
    head = packet.copy()
    head.remove_payload()
    del head.len
    del head.chksum
    return IP(raw(head / Raw(payload)))


def flipped(data, position, bit=1):
    return data[:position] + bytes([data[position] ^ bit]) + data[position + 1:]


def test_wrong_spi(bench):
    out, inb = bench.tunnel()
    packet = IP(raw(inb.seal(to_host())))
    payload = raw(packet.payload)
    with bench.dropped("bad-spi", 4):
        for spi in (inb.spi ^ 1, out.spi, 0, 0xffffffff):
            bench.from_wan(resized(packet, spi.to_bytes(4, "big") + payload[4:]))
    bench.expect_flow(out, inb)


def test_spi_of_another_address(bench):
    """An SA is (SPI, protocol, destination): it serves no other local address."""
    _, inb = bench.tunnel()
    packet = IP(raw(inb.seal(to_host())))
    packet.dst = "192.0.2.77"
    del packet.chksum
    # The packet is for another host: it is forwarded, to a neighbour that does not exist.
    with bench.dropped("no-neighbour"):
        bench.from_wan(packet)


@cases(*EACH)
def test_wrong_icv(bench, case):
    """One bit anywhere in the packet: sequence number, IV, ciphertext, ICV."""
    out, inb = bench.tunnel(case)
    packet = IP(raw(inb.seal(to_host(64), seq=1)))
    payload = raw(packet.payload)
    places = [7, 8, 15, 16, 20, len(payload) // 2, len(payload) - inb.suite.icv - 1,
              len(payload) - inb.suite.icv, len(payload) - 1]
    with bench.dropped("auth-failed", len(places)):
        for place in places:
            bench.from_wan(resized(packet, flipped(payload, place, 0x80 if place != 7 else 2)))
    bench.expect_flow(out, inb)


def test_wrong_key(bench):
    out, inb = bench.tunnel()
    forger = Sa(SUITE["gcm128"], "in", inb.spi)
    forger.scapy.crypt_key = bytes(16)
    with bench.dropped("auth-failed", 5):
        for seq in range(1, 6):
            bench.from_wan(forger.seal(to_host(), seq=seq))
    bench.expect_flow(out, inb)  # the refused packets have not marked their sequence numbers as received


@cases("gcm128", "cbc128-sha256", "null-sha1")
def test_replayed(bench, case):
    out, inb = bench.tunnel(case)
    first = inb.seal(to_host())
    bench.lan.drain()
    bench.from_wan(first)
    bench.receive(bench.lan, 1)
    with bench.dropped("replay", 3):
        for _ in range(3):
            bench.from_wan(first)
    bench.expect_flow(out, inb)


@cases(32, 192, 4096)
def test_replay_window(bench, case):
    """A number inside the window is accepted once, one below the window never."""
    _, inb = bench.tunnel(window=case)
    top = 3 * case
    bench.lan.drain()

    def accepted(seq):
        sent = to_host(id=seq & 0xffff)
        bench.from_wan(inb.seal(sent, seq=seq))
        same_but_hop(bench.receive(bench.lan, 1)[0], sent)

    def refused(*numbers):
        with bench.dropped("replay", len(numbers)):
            for seq in numbers:
                bench.from_wan(inb.seal(to_host(), seq=seq))

    for seq in (top, top - 1, top - case // 2, top - case + 1):
        accepted(seq)
    refused(top, top - 1, top - case // 2, top - case + 1, top - case, 1, 0)
    accepted(top + 1)
    refused(top - case + 1)


@cases("cbc128-sha1", "gcm128-udp")
def test_truncated(bench, case):
    """Every length from nothing to one byte short."""
    out, inb = bench.tunnel(case.removesuffix("-udp"), encap=case.endswith("-udp"))
    packet = IP(raw(inb.seal(to_host(20), seq=1)))
    head = 8 if inb.encap else 0
    payload = raw(packet.payload)
    before = bench.gateway.drops()
    bench.lan.drain()
    # In UDP, four bytes and less are not ESP (RFC 3948, 2.2): they go to the kernel.
    lengths = range(head + (5 if head else 0), len(payload))
    for length in lengths:
        cut = payload[:length]
        if head:
            cut = raw(UDP(sport=inb.encap[1], dport=inb.encap[0], chksum=0, len=length))[:8] + cut[8:]
        bench.from_wan(resized(packet, cut))
    bench.expect_flow(out, inb)
    after = bench.gateway.drops()
    delta = {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}
    assert set(delta) <= {"esp-truncated", "auth-failed"}, delta
    assert sum(delta.values()) == len(lengths), (delta, len(lengths))
    minimum = 8 + inb.scapy.crypt_algo.iv_size + inb.suite.icv
    assert delta["esp-truncated"] >= minimum - (5 if head else 0), delta


def set_padding(plain):
    plain.padding = b"\xee" * plain.padlen


def set_padlen(plain):
    plain.padlen = 255


def set_next_header(plain):
    plain.nh = 17


@cases("cbc128-sha256", "gcm128")
def test_bad_padding(bench, case):
    """Authentic packets with wrong padding (RFC 4303, 2.4) or next header."""
    out, inb = bench.tunnel(case)
    with bench.dropped("esp-padding", 2):
        bench.from_wan(inb.seal(to_host(21), alter=set_padding))
        bench.from_wan(inb.seal(to_host(21), alter=set_padlen))
    bench.expect_flow(out, inb)


def test_bad_next_header(bench):
    out, inb = bench.tunnel()
    with bench.dropped("esp-padding", 1):
        bench.from_wan(inb.seal(to_host(21), alter=set_next_header))
    bench.expect_flow(out, inb)


def test_dummy_packet(bench):
    """Next header 59 is a dummy (RFC 4303, 2.6): it is dropped without an error."""
    out, inb = bench.tunnel()

    def dummy(plain):
        plain.nh = 59

    bench.lan.drain()
    bench.from_wan(inb.seal(to_host(21), alter=dummy))
    bench.expect_nothing(bench.lan)
    bench.expect_flow(out, inb)


@cases("plain", "udp")
def test_wrong_encapsulation(bench, case):
    """ESP in UDP on an SA without it, and the other way round."""
    out, inb = bench.tunnel(encap=case == "udp")
    encap, inb.encap = inb.encap, None if case == "udp" else (4500, 4501)
    with bench.dropped("esp-encap"):
        bench.from_wan(inb.seal(to_host()))
    inb.encap = encap
    bench.expect_flow(out, inb)


def test_deleted_sa(bench):
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    bench.gateway.fill(f"sa-delete spi={inb.spi:#x} dst={inb.dst}",
                       f"sa-delete spi={out.spi:#x} dst={out.dst}")
    with bench.dropped("bad-spi"):
        bench.from_wan(inb.seal(to_host()))


@cases("gcm128", "cbc128-sha256", "gcm128-bytes")
def test_hard_limit_at_once(bench, case):
    """A hard limit is exact, also when it is reached in the middle of a burst, whose later packets are already
    decrypted."""
    limit = "hard-bytes=2500" if case.endswith("-bytes") else "hard-packets=20"
    _, inb = bench.tunnel(case.removesuffix("-bytes"), more=limit)
    frames = [bench.frame(bench.wan, "wan", inb.seal(to_host(id=number))) for number in range(32)]
    before = bench.gateway.drops().get("sa-expired", 0)
    bench.lan.drain()
    for frame in frames:
        bench.wan.send(frame)
    assert [packet.id for packet in bench.receive(bench.lan, 20)] == list(range(20))
    wait_until(lambda: bench.gateway.drops().get("sa-expired", 0) - before >= 12, "the others are dropped")
    bench.expect_nothing()
    assert bench.gateway.drops()["sa-expired"] == before + 12
    bench.expect_usage(20, 20 * 128, inb)


def test_malformed_inner(bench):
    """Authentic ESP around something that is no IPv4 packet."""
    out, inb = bench.tunnel()

    def version(plain):
        plain.data = b"\x65" + plain.data[1:]

    def header_length(plain):
        plain.data = b"\x44" + plain.data[1:]

    def too_long(plain):
        plain.data = plain.data[:2] + b"\xff\xff" + plain.data[4:]

    def stub(plain):
        plain.data = plain.data[:18]

    with bench.dropped("malformed", 4):
        for fault in (version, header_length, too_long, stub):
            bench.from_wan(inb.seal(to_host(22), alter=fault))
    bench.expect_flow(out, inb)
