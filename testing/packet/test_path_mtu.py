# SPDX-License-Identifier: GPL-2.0-or-later
"""ICMP errors about ESP that is too big (RFC 4301, 8.2), from routers and forged ones."""
import contextlib

from scapy.layers.inet import ICMP, IP, defragment
from scapy.layers.inet6 import ICMPv6PacketTooBig, IPv6, defragment6
from scapy.layers.ipsec import ESP
from scapy.packet import raw

from bench import packet, same_but_hop
from gateway import FAR_HOST, HOST, HOST6, PEER, PEER6, WAN, WAN6
from network import ip_batch, wait_until
from test_esp import cases
from test_fragments import pieces, whole
from test_ipv6 import packet6
from test_tunnel6 import tunnel

ROUTER, ROUTER6 = "192.0.2.254", "2001:db8:f::254"
LEARNED, IGNORED = "too_big_learned", "too_big_ignored"


def too_big(outer, mtu, quoted=None):
    """A router's ICMP error about a packet, with the shortest quotation that is understood."""
    if isinstance(outer, IPv6):
        return IPv6(src=ROUTER6, dst=WAN6) / ICMPv6PacketTooBig(mtu=mtu) / raw(outer)[:1200]
    return (IP(src=ROUTER, dst=WAN) / ICMP(type=3, code=4, nexthopmtu=mtu) /
            raw(outer)[:quoted or outer.ihl * 4 + (16 if outer.proto == 17 else 8)])


def say(bench, message, counter=LEARNED):
    """Send the error, and wait until the gateway has processed it."""
    before = bench.gateway.counted(counter)
    bench.from_wan(message)
    wait_until(lambda: bench.gateway.counted(counter) == before + 1, counter)


def length(outer):
    return outer.plen + 40 if outer.version == 6 else outer.len


def sealed(bench, sent, count=1):
    bench.wan.drain()
    bench.from_lan(sent)
    return bench.receive(bench.wan, count)


def long4(total, **fields):
    return packet(HOST, FAR_HOST, total - 28, **fields)


def long6(total):
    return packet6(size=total - 48)


def expect_refused(bench, sent, mtu=None):
    """The packet is refused, and its source is told the MTU. @return that MTU"""
    bench.lan.drain()
    before = bench.gateway.drops().get("too-big", 0)
    bench.from_lan(sent)
    answer = bench.receive(bench.lan, 1)[0]
    assert bench.gateway.drops()["too-big"] == before + 1
    if answer.version == 6:
        reported = answer[ICMPv6PacketTooBig].mtu
        assert answer.dst == HOST6, answer.summary()
    else:
        reported = answer[ICMP].nexthopmtu
        assert (answer[ICMP].type, answer[ICMP].code, answer.dst) == (3, 4, HOST), answer.summary()
    assert mtu in (None, reported), f"may be {reported} bytes long, not {mtu}"
    return reported


CASES = {f"{'6' if outer6 else '4'}{'-udp' if encap else ''}":
         {"outer6": outer6, "encap": encap, "suite": "cbc128-sha256" if outer6 else "gcm128"}
         for outer6 in (False, True) for encap in (False, True)}


@cases(*CASES)
def test_path_mtu(bench, case):
    """After the error the gateway treats packets as on a link with that MTU: those without DF are fragmented before
    ESP, and the sources of others are told the MTU."""
    out, _ = tunnel(bench, **CASES[case])
    long = long4(1400, flags="DF")
    outer = sealed(bench, long)[0]
    assert length(outer) > 1400
    say(bench, too_big(outer, 1390))
    fits = expect_refused(bench, long)
    assert 1280 <= fits < 1390
    fitting = sealed(bench, long4(fits, flags="DF"))[0]
    assert 1390 - 16 < length(fitting) <= 1390, "room is left, or there is none"
    expect_refused(bench, long4(fits + 1, flags="DF"), fits)
    sent = long4(1400, id=7)
    got = sealed(bench, sent, 2)
    assert all(length(one) <= 1390 for one in got)
    same_but_hop(whole(out.unseal(one)[0] for one in got), sent)
    inner6 = long6(1400)
    assert 1280 <= expect_refused(bench, inner6) <= fits
    # Later errors do not raise the MTU; only after ten minutes it is forgotten.
    say(bench, too_big(outer, 1395))
    expect_refused(bench, long, fits)
    say(bench, too_big(fitting, 1300))
    assert expect_refused(bench, long) < fits


@cases("4", "6")
def test_path_mtu_around_least(bench, case):
    """No IPv6 host has to send less than 1,280 bytes: the ESP packet around that is fragmented."""
    out, _ = tunnel(bench, case == "6")
    sent = long6(1280)
    outer = sealed(bench, sent)[0]
    assert length(outer) > 1300
    say(bench, too_big(outer, 1300, 28))
    got = sealed(bench, sent, 2)
    assert all(length(one) <= 1300 for one in got)
    if case == "6":
        joined = IPv6(raw(defragment6(got)))
    else:
        joined = IP(raw(defragment(got)[0]))
    same_but_hop(out.unseal(joined)[0], sent)


def test_path_mtu_of_one_sa(bench):
    """Another SA, also one that replaces this one, does not have the learned MTU."""
    out, _ = bench.tunnel()
    long = long4(1400, flags="DF")
    say(bench, too_big(sealed(bench, long)[0], 1300))
    expect_refused(bench, long)
    out, _ = bench.tunnel()
    same_but_hop(out.unseal(sealed(bench, long)[0])[0], long)


ROUTES = {
    "outer": (f"{PEER}/32 dev wan mtu 1400",),
    "outer-locked": (f"{PEER}/32 dev wan mtu lock 1400",),
    "inner": (f"10.2.0.0/16 via {PEER} dev wan mtu 1340",),
    "both": (f"{PEER}/32 dev wan mtu 1400", f"10.2.0.0/16 via {PEER} dev wan mtu lock 1300"),
    "both-outer": (f"{PEER}/32 dev wan mtu 1360", f"10.2.0.0/16 via {PEER} dev wan mtu 1340"),
    "charon": (f"10.2.0.0/24 via {PEER} dev wan table 220 mtu 1320",),
    "outer6": (f"{PEER6}/128 dev wan mtu 1400",),
    "inner6": (f"2001:db8:2::/48 via {PEER6} dev wan mtu 1340",),
    "inner6-least": (f"2001:db8:2::/48 via {PEER6} dev wan mtu 600",),
}
# MTUs of the routes: that for ESP, and that for packets before ESP.
LONGEST = {"outer": (1400, 1500), "outer-locked": (1400, 1500), "inner": (1500, 1340), "both": (1400, 1300),
           "both-outer": (1360, 1340), "charon": (1500, 1320), "outer6": (1400, 1500), "inner6": (1500, 1340),
           "inner6-least": (1500, 1280)}


USUAL = [f"route replace 10.2.0.0/16 via {PEER} dev wan", f"route replace 2001:db8:2::/48 via {PEER6} dev wan"]


@contextlib.contextmanager
def routes(bench, lines):
    """Replace the usual routes."""
    rules = ["rule {} priority 220 lookup 220"] if any("table 220" in line for line in lines) else []
    try:
        ip_batch(bench.network.gw, [f"route replace {line}" for line in lines] + [rule.format("add") for rule in rules])
        bench.gateway.hear()
        yield
    finally:
        ip_batch(bench.network.gw, [f"route del {line}" for line in lines] + USUAL +
                 [rule.format("del") for rule in rules])
        bench.gateway.hear()


@cases(*ROUTES)
def test_path_mtu_of_routes(bench, case):
    """Routes have an MTU: the route to the peer limits ESP, and that to the far host limits packets before ESP."""
    outer_most, inner_most = LONGEST[case]
    v6 = case.startswith("outer6")
    long = long6 if "6" in case else lambda total: long4(total, flags="DF")
    out, _ = tunnel(bench, v6)
    before = sealed(bench, long(1400))[0]
    assert length(before) > 1400
    with routes(bench, ROUTES[case]):
        fits = expect_refused(bench, long(1420))
        assert fits <= inner_most
        got = sealed(bench, long(fits))[0]
        assert length(got) <= outer_most
        assert fits == inner_most or outer_most - 16 < length(got), "room is left"
        expect_refused(bench, long(fits + 1), fits)
        # Packets of a known flow are refused as well.
        wait_until(lambda: is_known(bench, long(fits)), "the flow is known")
        expect_refused(bench, long(fits + 1), fits)
        if "6" not in case:
            sent = long4(1420, id=7)
            got = sealed(bench, sent, 2)
            assert all(length(one) <= outer_most for one in got)
            inner = [out.unseal(one)[0] for one in got]
            assert all(one.len <= inner_most for one in inner)
            same_but_hop(whole(inner), sent)
    assert length(sealed(bench, long(1400))[0]) == length(before)


def is_known(bench, sent):
    before = bench.gateway.counted("shortcut")
    sealed(bench, sent)
    return bench.gateway.took_fast_path(before)


def test_path_mtu_of_routes_and_routers(bench):
    """The lower one of the MTU reported by a router and that of a route applies."""
    bench.tunnel()
    long = long4(1420, flags="DF")
    outer = sealed(bench, long)[0]
    with routes(bench, ROUTES["outer"]):
        by_route = expect_refused(bench, long)
        say(bench, too_big(outer, 1420))
        assert expect_refused(bench, long) == by_route
        say(bench, too_big(outer, 1300))
        assert expect_refused(bench, long) < by_route


@cases("4", "6")
def test_path_mtu_of_plain_routes(bench, case):
    """The MTU of a route applies to plaintext like that of a link, and a change is noticed."""
    bench.gateway.fill("flush")
    long = long6 if case == "6" else lambda total: long4(total, flags="DF")
    net, peer = ("2001:db8:2::/48", PEER6) if case == "6" else ("10.2.0.0/16", PEER)
    for most in (1400, 1300):
        with routes(bench, (f"{net} via {peer} dev wan mtu {most}",)):
            assert expect_refused(bench, long(1420)) == most
            wait_until(lambda most=most: is_known(bench, long(most)), "the flow is known")
            assert expect_refused(bench, long(most + 1)) == most
            if case == "4":
                sent = long4(1420, id=7)
                got = sealed(bench, sent, 2)
                assert all(one.len <= most for one in got)
                same_but_hop(whole(got), sent)
    assert length(sealed(bench, long(1420))[0]) == 1420


def changed(outer, **fields):
    """A quoted ESP packet with other fields in the IP or ESP header."""
    outer = IP(raw(outer))
    for field, value in fields.items():
        setattr(outer if field in outer.fields else outer[ESP], field, value)
    return outer


def damaged(message):
    """Flip one bit of the ICMP message."""
    data = bytearray(raw(message))
    data[27] ^= 1
    return bytes(data)


FORGED = {
    "spi": lambda outer, inb: too_big(changed(outer, spi=0x12345678), 1300),
    "seq-unsent": lambda outer, inb: too_big(changed(outer, seq=outer[ESP].seq + 1), 1300),
    "seq-0": lambda outer, inb: too_big(changed(outer, seq=0), 1300),
    "no-spi": lambda outer, inb: too_big(changed(outer, spi=0), 1300),
    "inbound-spi": lambda outer, inb: too_big(changed(inb.seal(packet(FAR_HOST, HOST, 1300))), 1300),
    "destination": lambda outer, inb: too_big(changed(outer, dst="192.0.2.3"), 1300),
    "mtu-575": lambda outer, inb: too_big(outer, 575),
    "later-fragment": lambda outer, inb: too_big(changed(outer, frag=1), 1300),
    "version": lambda outer, inb: too_big(changed(outer, version=6), 1300, 28),
    "checksum": lambda outer, inb: damaged(too_big(outer, 1300)),
}


@cases(*FORGED)
def test_path_mtu_forged(bench, case):
    """A forged error is counted, and changes nothing."""
    out, inb = bench.tunnel()
    long = long4(1400, flags="DF")
    outer = sealed(bench, long)[0]
    say(bench, FORGED[case](outer, inb), IGNORED)
    same_but_hop(out.unseal(sealed(bench, long)[0])[0], long)


def test_path_mtu_junk(bench):
    """Three hundred forged errors leave all true ones that follow in the same burst."""
    out, inb = bench.tunnel()
    outer = sealed(bench, long4(1400, flags="DF"))[0]
    junk = [FORGED[case](outer, inb) for case in ("spi", "checksum", "seq-unsent")]
    before = {counter: bench.gateway.counted(counter) for counter in (LEARNED, IGNORED)}
    with bench.gateway.paused():
        bench.from_wan(*junk * 100, *[too_big(outer, 1300)] * 40)
    wait_until(lambda: bench.gateway.counted(IGNORED) == before[IGNORED] + 300, "the junk is ignored")
    wait_until(lambda: bench.gateway.counted(LEARNED) == before[LEARNED] + 40, "the true ones are learned")
    same_but_hop(whole(map(lambda got: out.unseal(got)[0], sealed(bench, long4(1400), 2))), long4(1400))


FORGED6 = {
    "mtu-1279": lambda outer: too_big(outer, 1279),
    "mtu-huge": lambda outer: too_big(outer, (1 << 32) - 1),
    "address": lambda outer: too_big(IPv6(raw(outer)[:24] + b"\x20" * 16 + raw(outer)[40:]), 1300),
    "checksum": lambda outer: IPv6(raw(too_big(outer, 1300))[:-1] + b"\x77"),
}


@cases(*FORGED6)
def test_path_mtu_forged6(bench, case):
    out, _ = tunnel(bench, True)
    long = packet(HOST, FAR_HOST, 1372, flags="DF")
    outer = sealed(bench, long)[0]
    say(bench, FORGED6[case](outer), IGNORED)
    same_but_hop(out.unseal(sealed(bench, long)[0])[0], long)


def test_path_mtu_error_in_pieces(bench):
    """A fragmented error, whose quotation is incomplete, changes nothing."""
    out, _ = bench.tunnel()
    long = long4(1400, flags="DF")
    outer = sealed(bench, long)[0]
    before = bench.gateway.counted(LEARNED)
    for piece in pieces(too_big(outer, 1300, 500), 400):
        bench.from_wan(piece)
    same_but_hop(out.unseal(sealed(bench, long)[0])[0], long)
    assert bench.gateway.counted(LEARNED) == before
