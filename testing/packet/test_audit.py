# SPDX-License-Identifier: GPL-2.0-or-later
"""Audit records (RFC 4301, 4.4.1 and 5.2; RFC 4302 and 4303, 3.3.3 and 3.4): each kind, and their rate limit."""
import contextlib

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.ipsec import AH, ESP
from scapy.packet import Raw, raw

from bench import packet, to_far_host, to_host
from gateway import FAR_HOST, HOST, PEER, PEER6, WAN, WAN6
from network import wait_until
from test_ah import ah_tunnel
from test_esp import cases
from test_reload import reload
from test_watch import watching

LABEL = 0x12345


@contextlib.contextmanager
def audited(bench):
    """Restart cygnetd, so that no audit record exists."""
    bench.gateway.kill()
    bench.gateway.start()
    with watching(bench.gateway) as watch:
        yield watch


def expect(watch, reason, port="wan", **fields):
    """Expect one record with exactly these fields and those that every record has."""
    row = dict(watch.expect("audit", reason=reason, **{key: fields[key] for key in ("spi", "src") if key in fields}))
    assert row.pop("worker") in range(64)
    assert ("reqid" in fields) == isinstance(row.pop("sa", None), int)
    for key in ("event", "time", "reason"):
        row.pop(key)
    assert row == {"sport": 0, "dport": 0, "port": port, **fields}, row


def forged(sealed):
    """Change the last byte of the ICV."""
    data = raw(sealed)
    return type(sealed)(data[:-1] + bytes([data[-1] ^ 1]))


def of(sa):
    """The fields of every record about a protected packet of an inbound SA."""
    return {"spi": f"{sa.spi:#010x}", "reqid": 1, "src": sa.src, "dst": sa.dst,
            "proto": 51 if sa.ipsec == "ah" else 50}


@cases("4", "6")
def test_audit_unknown_spi(bench, case):
    """ESP and AH with an unknown SPI: the record has the packet's sequence number, and with IPv6 its flow label."""
    v6 = case == "6"
    header = IPv6(src=PEER6, dst=WAN6, fl=LABEL) if v6 else IP(src=PEER, dst=WAN)
    ends = {"src": PEER6, "dst": WAN6, "flow_label": LABEL} if v6 else {"src": PEER, "dst": WAN}
    with audited(bench) as watch:
        bench.gateway.fill("flush")
        with bench.dropped("bad-spi", 2):
            bench.from_wan(header / ESP(spi=0xdead, seq=77, data=bytes(60)),
                           header / AH(spi=0xbeef, seq=0xfffffff0, icv=bytes(12)) / Raw(bytes(40)))
        expect(watch, "bad-spi", spi="0x0000dead", seq=77, proto=50, **ends)
        expect(watch, "bad-spi", spi="0x0000beef", seq=0xfffffff0, proto=51, **ends)


@cases("first", "known")
def test_audit_sa(bench, case):
    """Replayed, forged and badly padded packets of an SA, on the general path and of a known flow."""
    _, inb = bench.tunnel()
    with audited(bench) as watch:
        bench.lan.drain()
        first = inb.seal(to_host())
        bench.from_wan(first)
        bench.receive(bench.lan, 1)
        if case == "known":
            for number in range(20):
                bench.from_wan(inb.seal(to_host(id=number)))
            bench.receive(bench.lan, 20)
        with bench.dropped("replay"):
            bench.from_wan(first)
        expect(watch, "replay", seq=1, **of(inb))
        with bench.dropped("auth-failed"):
            bench.from_wan(forged(inb.seal(to_host(), seq=50)))
        expect(watch, "auth-failed", seq=50, **of(inb))
        with bench.dropped("esp-padding"):
            bench.from_wan(inb.seal(to_host(), seq=51, alter=lambda plain: setattr(plain, "nh", 17)))
        expect(watch, "esp-padding", seq=51, **of(inb))
        assert inb.key.hex() not in watch.text


@cases("4", "6")
def test_audit_ah(bench, case):
    """The record has the flow label, although it was zeroed to verify the ICV."""
    v6 = case == "6"
    _, inb = ah_tunnel(bench, v6=v6)
    label = {"flow_label": LABEL} if v6 else {}
    fields = {"fl": LABEL} if v6 else {}
    with audited(bench) as watch:
        sealed = inb.seal(to_host(), **fields)
        bench.lan.drain()
        bench.from_wan(sealed)
        bench.receive(bench.lan, 1)
        with bench.dropped("replay"):
            bench.from_wan(sealed)
        expect(watch, "replay", seq=1, **of(inb), **label)
        with bench.dropped("auth-failed"):
            bench.from_wan(forged(inb.seal(to_host(), seq=9, **fields)))
        expect(watch, "auth-failed", seq=9, **of(inb), **label)


def test_audit_policy(bench):
    """A decrypted packet that its SA's policy does not allow, with the SA's addresses; and plaintext that a policy
    protects."""
    _, inb = bench.tunnel()
    with audited(bench) as watch:
        with bench.dropped("policy-inbound"):
            bench.from_wan(inb.seal(packet("10.99.0.1", HOST, sport=5, dport=6)))
        expect(watch, "policy-inbound", src="10.99.0.1", dst=HOST, proto=17, sport=5, dport=6, reqid=1,
               spi=f"{inb.spi:#010x}", outer_src=PEER, outer_dst=WAN)
        with bench.dropped("policy-plaintext"):
            bench.from_wan(to_host(sport=7, dport=8))
        expect(watch, "policy-plaintext", src=FAR_HOST, dst=HOST, proto=17, sport=7, dport=8)


@cases("first", "known")
def test_audit_sequence(bench, case):
    """The last sequence number of the SA has been used; the record has the flow of the dropped packet."""
    out, _ = bench.tunnel()
    with audited(bench) as watch:
        bench.wan.drain()
        if case == "known":
            for _ in range(20):
                bench.from_lan(to_far_host())
            bench.receive(bench.wan, 20)
        bench.gateway.fill(f"sa-use-up spi={out.spi:#x} dst={PEER}")
        with bench.dropped("seq-exhausted"):
            bench.from_lan(to_far_host(sport=1111, dport=2222))
        expect(watch, "seq-exhausted", port="lan", src=HOST, dst=FAR_HOST, proto=17, sport=1111, dport=2222, reqid=1,
               spi=f"{out.spi:#010x}", outer_src=WAN, outer_dst=PEER)


def test_audit_flood(bench):
    """Neither one source nor one kind of event exhausts the records of others; the number of events without a record is
    logged. Sources share a rate by hash, two of them with a chance of 1 in 256: therefore several send."""
    bench.tunnel()
    flood, others = "192.0.2.66", ["192.0.2.67", "192.0.2.68", "192.0.2.69"]
    plain = ["10.2.0.10", "10.2.0.11", "10.2.0.12"]

    def unknown(src, seq):
        return IP(src=src, dst=WAN) / ESP(spi=0xdead, seq=seq, data=bytes(60))

    with audited(bench) as watch:
        with bench.dropped("bad-spi", 303):
            bench.from_wan(*[unknown(flood, 1)] * 300)
            bench.from_wan(*[unknown(src, 2) for src in others])
        with bench.dropped("policy-plaintext", 3):
            bench.from_wan(*[packet(src, HOST) for src in plain])
        wait_until(lambda: watch.of("audit", reason="bad-spi", seq=2), "another source")
        assert all(row["src"] in others for row in watch.of("audit", reason="bad-spi", seq=2)), watch.text
        wait_until(lambda: watch.of("audit", reason="policy-plaintext"), "another kind")
        assert 1 <= len(watch.of("audit", reason="bad-spi", src=flood)) < 300, watch.text
        wait_until(lambda: len(watch.of("audit", reason="bad-spi")) + sum(
            row["packets"] for row in watch.of("audit-left-out", reason="bad-spi")) == 303, "the others are counted")


def test_audit_off(bench):
    """A reload sets audit = no, and another one audit = yes."""
    unknown = IP(src=PEER, dst=WAN) / ESP(spi=0xdead, seq=1, data=bytes(60))
    bench.gateway.fill("flush")
    with bench.gateway.configured("audit = no"), watching(bench.gateway) as watch:
        with bench.dropped("bad-spi"):
            bench.from_wan(unknown)
        reload(bench, bench.gateway.read_conf().replace("audit = no", "audit = yes"))
        with bench.dropped("bad-spi"):
            bench.from_wan(unknown)
        watch.expect("audit", reason="bad-spi")
