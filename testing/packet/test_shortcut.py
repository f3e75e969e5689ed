# SPDX-License-Identifier: GPL-2.0-or-later
"""Known flows, whose packets take the fast path: each packet is still subject to all checks."""
from scapy.layers.inet import ICMP, IP, UDP, IPOption_RR
from scapy.layers.l2 import Ether
from scapy.packet import Raw, raw

from bench import QUIET, packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_HOST, FAR_NET, HOST, LAN_NET, PEER, WAN
from network import PATIENCE, ip, wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_fragments import pieces, whole
from test_ipv6 import packet6
from test_path_mtu import expect_refused, say, too_big
from test_tunnel6 import tunnel as tunnel6

DEVICES = ("lan", "wan")


def outbound(bench, out, sent=None):
    """Send one packet of the flow. @return the packet as it leaves"""
    sent = sent or to_far_host()
    bench.wan.drain()
    bench.from_lan(sent)
    got = bench.receive(bench.wan, 1)[0]
    same_but_hop(out.unseal(got)[0], sent)
    return got


def inbound(bench, inb, sent=None):
    sent = sent or to_host()
    bench.lan.drain()
    bench.from_wan(inb.seal(sent))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)


def plain(bench, sent=None):
    sent = sent or to_far_host()
    bench.wan.drain()
    bench.from_lan(sent)
    same_but_hop(bench.receive(bench.wan, 1)[0], sent)


def known(bench, one, *words, ways=1):
    """Pass packets of a flow until one takes the fast path, which counts once per lookup: a worker that receives the
    packet for another one looks it up, too. A gateway without flows passes one by the stages."""
    for _ in range(20):
        before = bench.gateway.counted("shortcut")
        one(bench, *words)
        if bench.gateway.took_fast_path(before, ways):
            return
    raise AssertionError("no packet takes the fast path")


def known_tunnel(bench, *words, **options):
    out, inb = bench.tunnel(*words, **options)
    known(bench, outbound, out)
    # ESP in UDP is looked up only after decryption.
    known(bench, inbound, inb, ways=1 if inb.encap else 2)
    return out, inb


@cases("gcm128", "cbc128-sha256", "chacha", "gcm128-udp", "gcm256-esn", "cbc128-sha1-esn")
def test_short_both_ways(bench, case):
    """Sequence numbers continue, whichever path a packet takes."""
    name = case.removesuffix("-udp").removesuffix("-esn")
    out, inb = known_tunnel(bench, name, encap=case.endswith("-udp"), esn=case.endswith("-esn"),
                            out_more="ecn=yes")
    seq = out.unseal(outbound(bench, out))[1]
    for size in (0, 1, 15, 700, 1350):
        got = outbound(bench, out, to_far_host(size, tos=0xb9, flags="DF", id=size))
        assert got.tos == 1, f"outer TOS {got.tos:#x}: ECN is to show, DSCP is not"
        assert out.unseal(got)[1] == (seq := seq + 1)
        inbound(bench, inb, to_host(size, tos=0x28))


@cases("gcm128", "chacha", "ccm128-8", "cbc128-sha1", "cbc256-sha512", "ctr192-sha256", "ctr256-xcbc",
       "cbc256-xcbc", "cbc128-cmac", "3des-md5")
def test_short_order(bench, case):
    """The first packets of a flow take the general path, the next ones the fast path, in bursts that fill the lanes of
    a CPU device, or occupy several crypto cores. All keep their order, and the small replay window drops none."""
    out, inb = bench.tunnel(case, window=32)
    before, elsewhere = bench.gateway.counted("shortcut"), bench.gateway.counted("crypto_cores")
    bench.wan.drain()
    bench.lan.drain()
    for number in range(200):
        bench.from_lan(to_far_host(number % 50, id=number))
    for number, got in enumerate(bench.receive(bench.wan, 200)):
        inner, seq = out.unseal(got)
        assert (inner.id, seq) == (number, number + 1), (inner.id, seq, number)
    for sealed in [inb.seal(to_host(number % 50, id=number)) for number in range(200)]:
        bench.from_wan(sealed)
    assert [got.id for got in bench.receive(bench.lan, 200)] == list(range(200))
    assert bench.gateway.took_fast_path(before)
    # AES-GCM may be processed by the worker; 3DES may need crypto_openssl, which crypto cores do not have.
    if bench.gateway.crypto_cores and case not in ("gcm128", "3des-md5"):
        assert bench.gateway.counted("crypto_cores") > elsewhere


def test_short_ttl(bench):
    out, inb = known_tunnel(bench)
    before = bench.gateway.drops().get("ttl", 0)
    for ttl in (0, 1):
        bench.lan.drain()
        bench.wan.drain()
        bench.from_lan(to_far_host(ttl=ttl))
        assert bench.receive(bench.lan, 1)[0][ICMP].type == 11
        bench.expect_nothing(bench.wan)
    outbound(bench, out, to_far_host(ttl=2))
    bench.lan.drain()
    bench.from_wan(inb.seal(to_host(ttl=1)))
    answer, _ = out.unseal(bench.receive(bench.wan, 1)[0])  # the source is a host behind the tunnel
    assert (answer.dst, answer[ICMP].type) == (FAR_HOST, 11), answer.summary()
    bench.expect_nothing()
    assert bench.gateway.drops()["ttl"] == before + 3
    inbound(bench, inb, to_host(ttl=2))


def test_short_length(bench):
    """A packet that is too long: with DF its source is told, without DF it is fragmented; a lower path MTU applies at
    once."""
    out, _ = known_tunnel(bench)
    mtu = expect_refused(bench, to_far_host(1472, flags="DF"))
    for size in (mtu - 28, 1472):
        sent = to_far_host(size, id=size)
        bench.wan.drain()
        bench.from_lan(sent)
        got = bench.receive(bench.wan, 1 if size < 1472 else 2)
        same_but_hop(whole(out.unseal(outer)[0] for outer in got), sent)
    got = outbound(bench, out, to_far_host(1200, flags="DF"))
    say(bench, too_big(got, 900))
    assert expect_refused(bench, to_far_host(1200, flags="DF")) < 900
    known(bench, outbound, out, to_far_host(700, flags="DF"))
    known(bench, outbound, out)
    expect_refused(bench, to_far_host(1200, flags="DF"))


def test_short_headers(bench):
    """Invalid or unusual packets of a known flow."""
    out, inb = known_tunnel(bench)
    for flip in (0, 8, 10, 16):  # version, TTL, checksum, destination
        frame = bytearray(bench.frame(bench.lan, "lan", to_far_host()))
        frame[14 + flip] ^= 0x41
        with bench.dropped("malformed"):
            bench.lan.send(frame)
    for cut in (1, 20, 100):
        with bench.dropped("malformed"):
            bench.lan.send(bench.frame(bench.lan, "lan", to_far_host())[:-cut])
    with bench.dropped("auth-failed"):
        forged = bytearray(raw(inb.seal(to_host())))
        forged[-1] ^= 1
        bench.from_wan(IP(bytes(forged)))
    with bench.dropped("replay"):
        bench.from_wan(inb.seal(to_host(), seq=inb.seq - 1))
    known(bench, outbound, out)
    padded = to_far_host(1)
    bench.wan.drain()
    bench.lan.send(bench.frame(bench.lan, "lan", padded) + bytes(40))
    same_but_hop(out.unseal(bench.receive(bench.wan, 1)[0])[0], padded)
    options = IP(raw(IP(src=HOST, dst=FAR_HOST, options=IPOption_RR(length=11)) /
                     UDP(sport=1111, dport=2222) / Raw(b"x")))
    outbound(bench, out, options)
    for piece in pieces(to_far_host(600), 400):
        outbound(bench, out, piece)


def test_short_encapsulation(bench):
    """ESP without UDP for an SA with UDP, and the other way round, is refused."""
    for encap in (True, False):
        out, inb = known_tunnel(bench, encap=encap)
        ports, inb.encap = inb.encap, None if encap else (4500, 4501)
        with bench.dropped("esp-encap", 5):
            for _ in range(5):
                bench.from_wan(inb.seal(to_host()))
        inb.encap = ports
        inbound(bench, inb)
        outbound(bench, out)


def test_short_frames(bench):
    """Frames to another station, to broadcast, and in a VLAN."""
    known_tunnel(bench)
    data = raw(to_far_host())
    for mac in ("02:00:00:00:00:99", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"):
        with bench.dropped("not-ours"):
            bench.lan.send(raw(Ether(dst=mac, src=bench.lan.mac.hex(":"), type=0x800)) + data)
    with bench.dropped("vlan-tag"):
        bench.lan.send(raw(Ether(dst=bench.gateway.mac["lan"], src=bench.lan.mac.hex(":"),
                                 type=0x8100)) + bytes.fromhex("00000800") + data)
    with bench.dropped("malformed"):
        bench.lan.send(raw(Ether(dst=bench.gateway.mac["lan"], src=bench.lan.mac.hex(":"),
                                 type=0x86dd)) + data)


def test_short_other_policy(bench):
    """A change of the policies applies to the very next packet of a known flow."""
    out, inb = known_tunnel(bench)
    discard = [policy(direction, LAN_NET if direction == "out" else FAR_NET,
                      FAR_NET if direction == "out" else LAN_NET, "discard", prio=10, more="proto=17 dport=2222-2222")
               for direction in ("out", "fwd")]
    bench.gateway.fill(*discard)
    with bench.dropped("policy-discard"):
        bench.from_lan(to_far_host())
    with bench.dropped("policy-inbound"):
        bench.from_wan(inb.seal(to_host()))
    outbound(bench, out, to_far_host(dport=2223))
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, "bypass"))
    known(bench, plain)
    with bench.dropped("bad-spi"):
        bench.from_wan(inb.seal(to_host()))
    bench.gateway.fill(policy("fwd", LAN_NET, FAR_NET, "discard"))
    with bench.dropped("policy-discard"):
        bench.from_lan(to_far_host())
    bench.gateway.fill("flush")
    known(bench, plain)
    bench.gateway.fill(policy("fwd", LAN_NET, FAR_NET, prio=5))
    with bench.dropped("policy-plaintext"):
        bench.from_lan(to_far_host())
    bench.gateway.fill("flush")
    known(bench, plain)
    with bench.waiting(1):
        bench.gateway.fill(policy("out", LAN_NET, FAR_NET))
        bench.from_lan(to_far_host())
    known(bench, plain)


def test_short_rekeyed(bench):
    """The next packet has the new SPI, and the deleted SA is not used any more, in either direction."""
    out, inb = known_tunnel(bench)
    for _ in range(3):
        new = Sa(SUITE["gcm128"], "out", bench.spi())
        bench.gateway.fill(new.line(), policy("out", LAN_NET, FAR_NET, spi=new.spi))
        assert new.unseal(outbound(bench, new))[1] == 1
        bench.gateway.fill(f"sa-delete spi={out.spi:#x} dst={PEER}")
        known(bench, outbound, new)
        out = new
    bench.gateway.fill(f"sa-delete spi={inb.spi:#x} dst={WAN}")
    with bench.dropped("bad-spi"):
        bench.from_wan(inb.seal(to_host()))
    with bench.waiting(1):
        bench.gateway.fill(f"sa-delete spi={out.spi:#x} dst={PEER}")
        bench.from_lan(to_far_host())


@cases("out", "in")
def test_short_hard_limit(bench, case):
    """No packet of a known flow is processed beyond the SA's hard limit."""
    limit = "hard-packets=40"
    out, inb = bench.tunnel(**({"out_more": limit} if case == "out" else {"more": limit}))
    with bench.dropped("sa-expired", 5):
        for number in range(40):
            if case == "out":
                outbound(bench, out, to_far_host(id=number))
            else:
                inbound(bench, inb, to_host(id=number))
        for _ in range(5):
            if case == "out":
                bench.from_lan(to_far_host())
            else:
                bench.from_wan(inb.seal(to_host()))


def frame_of(bench, sent, timeout=PATIENCE):
    """The frame that leaves the WAN; None: there is none."""
    bench.wan.drain()
    bench.from_lan(sent)
    return next((frame for frame in bench.wan.frames(timeout) if frame[12:14] == b"\x08\x00"), None)


@cases("plain", "tunnel")
def test_short_neighbour(bench, case):
    """The neighbour moves to another MAC address."""
    if case == "tunnel":
        known_tunnel(bench)
    else:
        bench.gateway.fill("flush")
        known(bench, plain)
    other = "02:00:00:00:77:77"
    try:
        ip("-n", bench.network.gw, "neigh", "replace", PEER, "dev", "wan", "lladdr", other, "nud", "permanent")
        bench.gateway.hear()
        frame = frame_of(bench, to_far_host())
        assert frame[:6].hex(":") == other, frame[:14].hex(":")
    finally:
        bench.gateway.learn_neighbours()
        bench.gateway.hear()
    frame = frame_of(bench, to_far_host())
    assert frame[:6] == bench.wan.mac


@cases("plain", "tunnel")
def test_short_route(bench, case):
    """The neighbour is removed, and added again."""
    if case == "tunnel":
        known_tunnel(bench)
    else:
        bench.gateway.fill("flush")
        known(bench, plain)
    gone = ("unreachable", PEER if case == "tunnel" else FAR_HOST)
    try:
        ip("-n", bench.network.gw, "route", "add", *gone)
        bench.gateway.hear()
        before = bench.gateway.drops().get("no-route", 0)
        assert not frame_of(bench, to_far_host(), QUIET)
        wait_until(lambda: bench.gateway.drops().get("no-route", 0) == before + 1, "it is dropped")
    finally:
        ip("-n", bench.network.gw, "route", "del", *gone)
        bench.gateway.hear()
    assert frame_of(bench, to_far_host())


def test_short_forwarding_off(bench):
    _, inb = known_tunnel(bench)

    def switch(value):
        for device in DEVICES:
            bench.gateway.in_gw("sysctl", "-q", "-w", f"net.ipv4.conf.{device}.forwarding={value}")
        bench.gateway.hear()
    try:
        switch(0)
        with bench.dropped("forwarding", 2):
            bench.from_lan(to_far_host())
            bench.from_wan(inb.seal(to_host()))
    finally:
        switch(1)
    inbound(bench, inb)


def test_short_other_port(bench):
    """A known flow of one port is unknown on another port."""
    out, _ = bench.tunnel(more_lines=[policy("fwd", LAN_NET, FAR_NET, "discard", prio=10, more="dev=wan")])
    known(bench, outbound, out)
    with bench.dropped("policy-discard"):
        bench.from_wan(to_far_host())
    outbound(bench, out)


def test_short_hub(bench):
    """From one spoke to another: packets are decrypted, and encrypted with the other spoke's SA, in order; more at a
    time than the batch of a CPU device holds."""
    spoke_a, spoke_b = "10.2.1.0-10.2.1.255", "10.2.2.0-10.2.2.255"
    for suite in ("gcm128", "cbc128-sha256"):
        inb = Sa(SUITE[suite], "in", bench.spi(), window=1024)
        out = Sa(SUITE[suite], "out", bench.spi(), reqid=2)
        bench.gateway.fill("flush", inb.line(), out.line(),
                           policy("fwd", spoke_a, spoke_b, spi=inb.spi),
                           policy("out", spoke_a, spoke_b, spi=out.spi, reqid=2))
        sealed = [inb.seal(packet("10.2.1.1", "10.2.2.2", number % 60, id=number)) for number in range(300)]
        before = bench.gateway.counted("shortcut")
        bench.wan.drain()
        for one in sealed:
            bench.from_wan(one)
        for number, got in enumerate(bench.receive(bench.wan, 300)):
            inner, seq = out.unseal(got)
            assert (inner.id, seq) == (number, number + 1), (inner.id, seq, number)
        assert bench.gateway.took_fast_path(before)
        with bench.dropped("policy-inbound"):
            bench.from_wan(inb.seal(packet("10.2.1.1", "10.2.3.2")))


def test_short_v6(bench):
    """Known flows with IPv6 in IPv6."""
    out, inb = tunnel6(bench, outer6=True)

    def there(bench, sent=None):
        outbound(bench, out, sent or packet6())
    known(bench, there)
    there(bench, packet6(hlim=2, tc=0xb9, fl=77))
    before = bench.gateway.drops().get("ttl", 0)
    bench.wan.drain()
    bench.from_lan(packet6(hlim=1))
    bench.wait_until_dropped("ttl", before)
    bench.expect_nothing(bench.wan)
    assert bench.gateway.drops()["ttl"] == before + 1
    known(bench, there)
    expect_refused(bench, packet6(size=1452))
    cut = bench.frame(bench.lan, "lan", packet6())[:-1]
    with bench.dropped("malformed"):
        bench.lan.send(cut)
    bench.gateway.fill("flush")
    with bench.dropped("bad-spi"):
        bench.from_wan(inb.seal(packet6()))


def test_short_off(bench):
    """flows = 0: the same packets, and none takes the fast path."""
    with bench.gateway.without_flows():
        out, inb = bench.tunnel()
        for size in (0, 100, 1350):
            outbound(bench, out, to_far_host(size))
            inbound(bench, inb, to_host(size))
        bench.gateway.fill("flush")
        plain(bench)
        plain(bench)
        assert bench.gateway.counted("shortcut") == 0
