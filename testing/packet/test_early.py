# SPDX-License-Identifier: GPL-2.0-or-later
"""ESP that comes before its SA: charon has allocated the SPI, and the peer uses it before the SA is installed."""
from bench import policy, same_but_hop, to_host
from gateway import FAR_NET, LAN_NET, WAN, WAN6
from network import wait_until
from peer import SUITE, Sa
from test_esp import cases
from test_trace import verdict

PACKETS = 64  # of an SPI that wait: EARLY_PACKETS


def reservation(sa, what="reserve"):
    return f"spi-{what} spi={sa.spi:#x} dst={sa.dst} ipsec={sa.ipsec}"


def came_early(bench):
    return bench.gateway.counted("came_early")


def wait_until_early(bench, before, count):
    wait_until(lambda: came_early(bench) - before >= count, f"{count} packets have come early")


def allocate(bench, **options):
    """@return an inbound SA with its policies, of which only the SPI is allocated"""
    inb = Sa(SUITE["gcm128"], "in", bench.spi(), **options)
    bench.gateway.fill("flush", reservation(inb), *(policy(direction, FAR_NET, LAN_NET, spi=inb.spi, v6=options.get("v6", False))
                                                    for direction in ("in", "fwd")))
    return inb


@cases("esp", "udp", "v6")
def test_early_then_sa(bench, case):
    """They leave in their order when the SA is there, and in front of later ones."""
    inb = allocate(bench, encap=(4500, 4500) if case == "udp" else None, v6=case == "v6")
    if case == "udp":
        bench.gateway.fill("ike encap=4500-4500")
    before, drops = came_early(bench), bench.gateway.drops()
    sent = [to_host(sport=number + 1) for number in range(PACKETS)]
    bench.lan.drain()
    bench.from_wan(*(inb.seal(packet) for packet in sent[:-2]))
    wait_until_early(bench, before, PACKETS - 2)
    bench.expect_nothing()
    bench.gateway.fill(inb.line())
    bench.from_wan(*(inb.seal(packet) for packet in sent[-2:]))
    for got, packet in zip(bench.receive(bench.lan, PACKETS), sent):
        same_but_hop(got, packet)
    assert came_early(bench) - before in range(PACKETS - 2, PACKETS + 1)
    assert not bench.drops_since(drops)
    bench.gateway.fill("flush")


def test_early_in_vain(bench):
    """The SA does not come: they are dropped as for any unknown SPI, at the latest after a few seconds."""
    inb = allocate(bench)
    with bench.dropped("bad-spi", 2):
        bench.from_wan(inb.seal(to_host()), inb.seal(to_host()))
    # At once, if charon gives the SPI back.
    before = came_early(bench)
    with bench.dropped("bad-spi", 2):
        bench.from_wan(inb.seal(to_host()), inb.seal(to_host()))
        wait_until_early(bench, before, 2)
        bench.gateway.fill(reservation(inb, "release"))
    with bench.dropped("bad-spi", 1):
        bench.from_wan(inb.seal(to_host()))
    bench.gateway.fill("flush")


def test_early_too_many(bench):
    """Of an SPI, and of SPIs: those beyond the first are dropped."""
    inb = allocate(bench)
    others = [Sa(SUITE["gcm128"], "in", bench.spi()) for _ in range(16)]
    bench.gateway.fill(*(reservation(sa) for sa in others))
    drops = bench.gateway.drops().get("bad-spi", 0)
    before = came_early(bench)
    bench.lan.drain()
    bench.from_wan(*(inb.seal(to_host()) for _ in range(PACKETS + 5)))
    bench.wait_until_dropped("bad-spi", drops, 5)
    bench.gateway.fill(inb.line())
    bench.receive(bench.lan, PACKETS)
    assert came_early(bench) - before == PACKETS
    drops = bench.gateway.drops().get("bad-spi", 0)
    bench.from_wan(*(sa.seal(to_host()) for sa in others))
    wait_until_early(bench, before + PACKETS, 16)
    assert bench.gateway.drops().get("bad-spi", 0) == drops
    more = Sa(SUITE["gcm128"], "in", bench.spi())
    bench.gateway.fill(reservation(more))
    bench.from_wan(*(sa.seal(to_host()) for sa in others), more.seal(to_host()))
    bench.wait_until_dropped("bad-spi", drops, 1)
    bench.gateway.fill("flush")
    bench.wait_until_dropped("bad-spi", drops, 33)


def test_early_elsewhere(bench):
    """An SPI that is allocated for one address is unknown at another one; a trace says that the packet would wait."""
    inb = allocate(bench)
    assert verdict(bench, f"spi {inb.spi:#x} dst {WAN}") == "waits bad-spi"
    assert verdict(bench, f"spi {inb.spi:#x} dst {WAN6}") == "dropped bad-spi"
    inb.dst = "10.1.0.1"
    with bench.dropped("bad-spi"):
        bench.from_wan(inb.seal(to_host()))
    bench.gateway.fill("flush")
