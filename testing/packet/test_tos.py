# SPDX-License-Identifier: GPL-2.0-or-later
"""DSCP, ECN and DF between inner and outer header of ESP and AH tunnels, as the SA says."""
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.packet import raw

from bench import same_but_hop
from test_ah import ah_tunnel
from test_esp import cases
from test_tunnel6 import ECN, to_far, to_host, tunnel

INNER, OUTER = 0x28, 0xb8   # AF11 and EF
TUNNELS = ("esp-4", "esp-6", "esp-4-udp", "esp-6-udp", "ah-4", "ah-6")
SETTINGS = ("", "ecn=yes", "dscp=out df=yes", "dscp=in", "dscp=both ecn=yes df=yes")


def tunnel_of(bench, case, **options):
    kind, outer, *udp = case.split("-")
    if kind == "ah":
        return ah_tunnel(bench, v6=outer == "6", **options)
    return tunnel(bench, outer == "6", encap=(4500, 4501) if udp else False, **options)


def tos_of(packet):
    return packet.tc if packet.version == 6 else packet.tos


def marked(make, inner6, tos, **fields):
    return make(inner6, **{"tc" if inner6 else "tos": tos}, **fields)


def with_tos(packet, tos):
    """@return the packet's bytes with another TOS or traffic class, and a correct checksum"""
    data = raw(packet)
    if data[0] >> 4 == 6:
        header = IPv6(data[:40])
        header.tc = tos
    else:
        header = IP(data[:20])
        header.tos = tos
        del header.chksum
    return raw(header) + data[len(header):]


def outbound(bench, inner6):
    """Packets with each ECN, with and without DF, twice: the second time as a known flow. ESP around IPv6 packets of
    up to 1,280 bytes may be fragmented, around longer ones not."""
    for _ in range(2):
        for ecn in range(4):
            for fields in ({"size": 1233}, {"size": 1232}) if inner6 else ({"flags": "DF"}, {}):
                sent = marked(to_far, inner6, INNER | ecn, **fields)
                bench.from_lan(sent)
                yield sent, bench.receive(bench.wan, 1)[0]


@cases(*TUNNELS)
def test_tos_out(bench, case):
    """RFC 4301, 5.1.2.1, and RFC 6040, 4.1: only the fields that the SA copies appear in the outer header; the inner
    header is unchanged."""
    for setting in SETTINGS:
        out, _ = tunnel_of(bench, case, out_more=setting)
        shown = 0xfc * ("dscp=out" in setting or "dscp=both" in setting) | 3 * ("ecn=" in setting)
        bench.wan.drain()
        for inner6 in (False, True):
            for sent, got in outbound(bench, inner6):
                assert tos_of(got) == tos_of(sent) & shown, (setting, sent.summary(), hex(tos_of(got)))
                if got.version == 4:
                    df = len(sent) > 1280 if inner6 else bool(sent.flags.DF)
                    assert bool(got.flags.DF) == (df and "df=" in setting), (setting, sent.summary())
                same_but_hop(out.unseal(got)[0], sent)


def arrives(inner, outer, setting):
    """@return the TOS of what comes out of the tunnel (RFC 6040, figure 4), None: nothing"""
    ecn = ECN[outer & 3, inner & 3] if "ecn=" in setting else inner & 3
    dscp = (outer if "dscp=in" in setting or "dscp=both" in setting else inner) & 0xfc
    return None if ecn is None else dscp | ecn


@cases(*TUNNELS)
def test_tos_in(bench, case):
    """All pairs of inner and outer ECN; either DSCP, as the SA says."""
    for setting in SETTINGS:
        _, inb = tunnel_of(bench, case, more=setting)
        before = bench.gateway.drops()
        bench.lan.drain()
        for inner6 in (False, True):
            wanted = []
            for outer, inner in ECN:
                sent = marked(to_host, inner6, INNER | inner)
                bench.from_wan(with_tos(inb.seal(sent), OUTER | outer))
                tos = arrives(INNER | inner, OUTER | outer, setting)
                wanted += [] if tos is None else [with_tos(sent, tos)]
            for got, want in zip(bench.receive(bench.lan, len(wanted)), wanted):
                same_but_hop(got, want)
        dropped = bench.gateway.drops().get("ecn", 0) - before.get("ecn", 0)
        assert dropped == 2 * ("ecn=" in setting), (setting, dropped)
