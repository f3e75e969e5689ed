# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl trace: a packet sent afterwards is treated as the trace predicts."""
import contextlib
import json
import os
import subprocess

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, PadN
from scapy.layers.ipsec import ESP
from scapy.packet import Raw, raw

from bench import packet, policy, to_far_host, to_host
from gateway import FAR_HOST, FAR_HOST6, FAR_NET, FAR_NET6, HOST, HOST6, LAN_NET, LAN_NET6, PEER, WAN
from network import ip, wait_until
from peer import SUITE, Sa
from test_capture import Capture
from test_esp import cases
from test_ipv6 import packet6

OUT = f"src {HOST} dst {FAR_HOST} proto udp sport 1111 dport 2222"
BACK = f"src {FAR_HOST} dst {HOST} proto udp sport 1111 dport 2222"
OUT6 = f"src {HOST6} dst {FAR_HOST6} proto udp sport 1111 dport 2222"


def ask(bench, words, options=("--json",)):
    return subprocess.run([f"{bench.gateway.build}/root/bin/cygnetctl", *options, "-p",
                           f"/run/dpdk/{bench.gateway.prefix}/dpdk_telemetry.v2", "trace", *words.split()],
                          capture_output=True, text=True)


def trace(bench, words):
    """@return the verdict's row, and the decision and detail of each stage"""
    result = ask(bench, words)
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    return rows[-1], [(row["stage"], row["decision"], row["detail"]) for row in rows[:-1]]


def verdict(bench, words):
    """@return the text of the verdict: "sent wan", "dropped no-route" """
    row, _ = trace(bench, words)
    return " ".join(word for word in (row["decision"], row["reason"] or row["port"]) if word)


COUNTERS = ("forwarded", "encapsulated", "decapsulated", "dummies", "keepalives", "waited_for_sa", "came_early", "reassembled",
            "too_big_learned", "too_big_ignored", "handed_off", "dropped")
TOLD = ("audit: ", "asking charon", "told charon")  # in cygnetd's log: audit records, acquires, limits of SAs


@contextlib.contextmanager
def unchanged(bench):
    """A trace changes nothing that can be seen: no counter, sequence number, use time or waiting packet, and nobody is told."""
    def seen():
        rows = subprocess.run([f"{bench.gateway.build}/root/bin/cygnetctl", "--json", "-s", f"{bench.gateway.work}/sadb",
                               "show", what], check=True, capture_output=True, text=True).stdout
        return [{key: value for key, value in row.items() if key not in ("last_used", "age") or value is None}
                for row in json.loads(rows)]
    def counters():
        counts = {what: bench.gateway.counted(what) for what in COUNTERS}
        return {**counts, "drops": bench.gateway.drops(), "policies": bench.gateway.ask("/cygnet/policies")}
    before = []
    for what in ("sad", "spd"):
        before.append(seen())
    counted, mark = counters(), os.path.getsize(bench.gateway.log)
    yield
    for what in ("sad", "spd"):
        assert seen() == before.pop(0), what
    assert counters() == counted
    bench.gateway.hear()
    assert not any(text in bench.gateway.log_since(mark) for text in TOLD), bench.gateway.log_since(mark)


def happens(bench, sent, port):
    """Send a packet. @return what happens to it, in the format of verdict()"""
    drops, waited = bench.gateway.drops(), bench.gateway.counted("waited_for_sa")
    seen = []
    bench.lan.drain()
    bench.wan.drain()
    {"lan": bench.from_lan, "wan": bench.from_wan}[port](sent)

    def done():
        for name in ("lan", "wan"):
            frames = getattr(bench, name).frames(0)
            # An ICMP error of the gateway is not the packet: it reports that the packet was dropped.
            seen.extend(f"sent {name}" for frame in frames if is_ip(frame) and not is_error(frame))
        after = bench.gateway.drops()
        seen.extend(f"dropped {reason}" for reason in after if after[reason] > drops.get(reason, 0))
        if bench.gateway.counted("waited_for_sa") > waited:
            seen.append("waits no-sa-in-time")
        return seen
    wait_until(done, "something happens to the packet")
    return seen[0]


def is_ip(frame):
    return frame[12:14] in (b"\x08\x00", b"\x86\xdd") and not (frame[12:14] == b"\x86\xdd" and frame[20] in (58, 0))


def is_error(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 1 and frame[34] in (3, 11)


def big(size):
    """A packet of that many bytes, with DF."""
    return to_far_host(size - 28, flags="DF")


def gateway_tunnel(bench):
    bench.tunnel()


def only(*lines):
    return lambda bench: bench.gateway.fill("flush", *lines)


def no_neighbour(bench):
    bench.gateway.fill("flush")
    ip("-n", bench.network.gw, "neigh", "del", PEER, "dev", "wan")
    bench.gateway.hear()


def bypass(bench):
    bench.tunnel(more_lines=[policy("out", LAN_NET, FAR_NET, "bypass", prio=10, more="proto=17 dport=7-7")])


def spent(bench):
    bench.tunnel(out_more="hard-packets=1")
    bench.from_lan(to_far_host())
    bench.receive(bench.wan, 1)


def transport(bench):
    """Transport mode, for a packet that is not between the SA's hosts."""
    out = Sa(SUITE["gcm128"], "out", bench.spi(), more="mode=transport")
    bench.gateway.fill("flush", out.line(), policy("out", LAN_NET, FAR_NET, spi=out.spi, more="mode=transport"))


# Setup, arguments of trace, packet and port to send it by, expected verdict.
CASES = {
    "protect": (gateway_tunnel, OUT, to_far_host(), "lan", "sent wan"),
    "bypass": (bypass, OUT.replace("2222", "7"), to_far_host(dport=7), "lan", "sent wan"),
    "discard": (only(policy("out", LAN_NET, FAR_NET, "discard")), OUT, to_far_host(), "lan", "dropped policy-discard"),
    "no-policy": (only(), OUT, to_far_host(), "lan", "sent wan"),
    "no-sa": (only(policy("out", LAN_NET, FAR_NET)), OUT, to_far_host(), "lan", "waits no-sa-in-time"),
    "no-route": (only(), f"src {HOST} dst 203.0.113.1 proto udp", packet(HOST, "203.0.113.1"), "lan", "dropped no-route"),
    "too-big": (gateway_tunnel, OUT + " size 1490 df yes", big(1490), "lan", "dropped too-big"),
    "fits": (gateway_tunnel, OUT + " size 1400 df yes", big(1400), "lan", "sent wan"),
    "fragments": (gateway_tunnel, OUT + " size 1490", to_far_host(1490 - 28), "lan", "sent wan"),
    "martian": (only(), f"src 127.0.0.1 dst {FAR_HOST} in lan", packet("127.0.0.1", FAR_HOST), "lan", "dropped martian"),
    "plaintext": (gateway_tunnel, BACK + " in wan", to_host(), "wan", "dropped policy-plaintext"),
    "to-lan": (only(), BACK, to_host(), "wan", "sent lan"),
    "forward": (only(policy("fwd", LAN_NET, FAR_NET, "discard")), OUT, to_far_host(), "lan", "dropped policy-discard"),
    "icmp": (gateway_tunnel, OUT.replace("udp sport 1111 dport 2222", "icmp sport 8"),
             IP(src=HOST, dst=FAR_HOST) / ICMP() / Raw(bytes(72)), "lan", "sent wan"),
    "limit": (spent, OUT, to_far_host(), "lan", "dropped sa-expired"),
    "transport": (transport, OUT, to_far_host(), "lan", "dropped transport"),
    "udp6": (only(policy("out", LAN_NET6, FAR_NET6, "discard", v6=True)), OUT6, packet6(HOST6, FAR_HOST6), "lan",
             "dropped policy-discard"),
    "plain6": (only(), OUT6, packet6(HOST6, FAR_HOST6), "lan", "sent wan"),
}


@cases(*CASES)
def test_trace_out(bench, case):
    prepare, words, sent, port, expected = CASES[case]
    prepare(bench)
    with unchanged(bench):
        got = verdict(bench, words)
    assert got == expected, trace(bench, words)
    assert happens(bench, sent, port) == expected
    bench.gateway.fill("flush")


def test_trace_no_neighbour(bench):
    """A packet that is queued, and finally dropped."""
    try:
        no_neighbour(bench)
        with unchanged(bench):
            got = verdict(bench, OUT)
        assert got == "waits no-neighbour"
        assert happens(bench, to_far_host(), "lan") == "dropped no-neighbour"
    finally:
        bench.gateway.learn_neighbours()
        bench.gateway.hear()


def kernel_asks(bench, _):
    """Whether the kernel of the gateway resolves the peer's address."""
    return PEER in bench.gateway.in_gw("ip", "neigh", "show", "dev", "wan", capture_output=True, text=True).stdout


def logs(text):
    return lambda bench, mark: bench.gateway.logged(text, mark)


# Setup, arguments of trace, a packet and its port, and whether somebody is told of it. There are few audit records of one
# source, so each has its own.
HEARD = {
    "limit": (spent, OUT, to_far_host(), "lan", logs("hard limit reached, told charon")),
    "no-sa": (only(policy("out", LAN_NET, FAR_NET)), OUT, to_far_host(), "lan", logs("asking charon")),
    "plaintext": (gateway_tunnel, f"src 10.2.0.77 dst {HOST} proto udp in wan", packet("10.2.0.77", HOST), "wan",
              logs("audit: policy-plaintext: 10.2.0.77")),
    "unknown-spi": (only(), f"spi 0x77777777 src 192.0.2.77 dst {WAN}",
                    IP(raw(IP(src="192.0.2.77", dst=WAN) / ESP(spi=0x77777777, seq=1, data=bytes(64)))), "wan",
                    logs("SPI 77777777")),
    "neighbour": (no_neighbour, OUT, to_far_host(), "lan", kernel_asks),
}


@cases(*HEARD)
def test_trace_tells_nobody(bench, case):
    """Charon, the kernel and the audit log hear of a packet, but not of its trace."""
    prepare, words, sent, port, is_told = HEARD[case]
    prepare(bench)
    try:
        mark = os.path.getsize(bench.gateway.log)
        with unchanged(bench):
            assert verdict(bench, words).split()[0] in ("dropped", "waits")
        assert not is_told(bench, mark)
        {"lan": bench.from_lan, "wan": bench.from_wan}[port](sent)
        wait_until(lambda: is_told(bench, mark), "somebody is told of the packet")
    finally:
        bench.gateway.learn_neighbours()
        bench.gateway.hear()
        bench.gateway.fill("flush")


def test_trace_beside_capture(bench):
    """A capture of dropped packets has the packet, but not its trace."""
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, "discard"))
    capture = Capture(bench, "drop", "policy-discard")
    for _ in range(3):
        assert verdict(bench, OUT) == "dropped policy-discard"
    bench.from_lan(to_far_host())
    wait_until(lambda: bench.gateway.drops().get("policy-discard"), "a drop")
    assert [one.point for one in capture.end()] == ["drop"]


def test_trace_fragment(bench):
    """A fragment whose packet has to be whole waits for the others."""
    bench.gateway.fill("flush", policy("out", LAN_NET6, FAR_NET6, "discard", more="proto=17 dport=7-7", v6=True))
    with unchanged(bench):
        assert verdict(bench, f"{OUT6} proto 44 sport 4352 dport 1") == "waits reassembly"


def test_trace_proto_0(bench):
    """In IPv4 a protocol as any other. In IPv6 hop-by-hop options, here of padding in front of UDP, or invalid ones."""
    out, inb = bench.tunnel()
    bench.gateway.fill("flush", policy("out", LAN_NET6, FAR_NET6, "discard", more="proto=17", v6=True),
                       policy("out", LAN_NET, FAR_NET, "discard", more="proto=17"))
    options = IPv6(src=HOST6, dst=FAR_HOST6) / IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))]) / UDP() / Raw(bytes(64))
    assert verdict(bench, f"{OUT6} proto 0 sport 4352") == happens(bench, options, "lan") == "dropped policy-discard"
    assert verdict(bench, f"{OUT6} proto 0") == "dropped ipv6-headers"
    with bench.gateway.drops_no_policy():
        sent = IP(src=HOST, dst=FAR_HOST, proto=0) / Raw(bytes(64))
        assert verdict(bench, f"{OUT} proto 0") == happens(bench, sent, "lan") == "dropped no-policy"
        assert verdict(bench, OUT) == "dropped policy-discard"


def test_trace_no_policy_drop(bench):
    with bench.gateway.drops_no_policy():
        bench.gateway.fill("flush")
        assert verdict(bench, OUT) == "dropped no-policy"
        assert happens(bench, to_far_host(), "lan") == "dropped no-policy"


def test_trace_says_why(bench):
    """The trace shows SA, route, neighbour and length of the protected packet as they are on the wire."""
    out, _ = bench.tunnel()
    row, steps = trace(bench, OUT + " size 128")
    bench.wan.drain()
    bench.from_lan(to_far_host(100))
    size = bench.receive(bench.wan, 1)[0].len
    details = {(stage, decision): detail for stage, decision, detail in steps}
    assert details["outbound", "SA"] == f"ESP SPI {out.spi:#010x} to {PEER}", steps
    assert details["outbound", "protect"] == "policy with priority 1000, reqid 1", steps
    assert details["protect", "protect"].startswith(f"{size} bytes"), steps
    assert details["route", "forward"] == f"{size} bytes by port wan with MTU 1500, to {PEER}", steps
    assert details["tx", "send"].lower() == f"to {bench.wan.mac.hex(':')}", steps
    assert row["detail"] == "by port wan"
    table = ask(bench, OUT, options=()).stdout
    assert table.startswith("STAGE") and "verdict" in table


def inner(src, dst):
    return f" inner src {src} dst {dst} proto udp sport 1111 dport 2222"


INBOUND = {
    "decrypted": (HOST, FAR_HOST, "sent lan"),
    "inner-source": (HOST, "10.9.0.1", "dropped policy-inbound"),
    "inner-destination": ("192.0.2.99", FAR_HOST, "dropped policy-inbound"),
}


@cases(*INBOUND)
def test_trace_in(bench, case):
    dst, src, expected = INBOUND[case]
    _, inb = bench.tunnel()
    words = f"spi {inb.spi:#x} dst {WAN}"
    with unchanged(bench):
        assert verdict(bench, words) == "decrypted"
        got = verdict(bench, words + inner(src, dst))
    assert got == expected
    assert happens(bench, inb.seal(packet(src, dst)), "wan") == expected


def test_trace_in_refused(bench):
    """The trace says why ESP is refused: there is no SA, or the SA is for ESP in UDP."""
    _, inb = bench.tunnel(encap=(4500, 4500))
    assert verdict(bench, f"spi 0x9999 dst {WAN}") == "dropped bad-spi"
    assert happens(bench, Sa(SUITE["gcm128"], "in", 0x9999).seal(to_host()), "wan") == "dropped bad-spi"
    assert verdict(bench, f"spi {inb.spi:#x} dst {WAN} encap udp") == "decrypted"
    assert verdict(bench, f"spi {inb.spi:#x} dst {WAN}") == "dropped esp-encap"
    plain = IP(src=PEER, dst=WAN) / ESP(spi=inb.spi, seq=1, data=bytes(64))
    assert happens(bench, IP(raw(plain)), "wan") == "dropped esp-encap"


def test_trace_kernel(bench):
    """Packets to this host and from it."""
    out, _ = bench.tunnel()
    assert verdict(bench, f"src {HOST} dst 10.1.0.1 proto icmp sport 8") == "to-kernel lan"
    assert verdict(bench, f"src {FAR_HOST} dst 10.1.0.1 proto icmp sport 8 in wan") == "dropped policy-plaintext"
    bench.lan.drain()
    bench.from_lan(IP(src=HOST, dst="10.1.0.1") / ICMP() / Raw(b"to the kernel"))
    assert bench.receive(bench.lan, 1)[0][ICMP].type == 0
    row, steps = trace(bench, f"src 10.1.0.1 dst {FAR_HOST} proto udp in kernel")
    assert (row["decision"], row["port"]) == ("sent", "wan") and steps[0][0] == "from-kernel", steps
    assert ("outbound", "SA", f"ESP SPI {out.spi:#010x} to {PEER}") in steps
    # IKE is recognised only from this host's own address; forwarded packets with its port are subject to the policies.
    for source, protected in (("10.1.0.1", False), (HOST, True)):
        row, steps = trace(bench, f"src {source} dst {FAR_HOST} proto udp sport 500 dport 500 in kernel")
        assert row["decision"] == "sent", steps
        assert any(step[:2] == ("outbound", "SA") for step in steps) == protected, (source, steps)
    # At this host's port 500 the trace's packet is IKE, which no policy is about.
    bench.gateway.fill("flush", policy("in", f"{PEER}-{PEER}", f"{WAN}-{WAN}", "discard"))
    to_port = f"src {PEER} dst {WAN} proto udp sport 500 in wan dport"
    assert verdict(bench, f"{to_port} 500") == verdict(bench, f"{to_port} 4500") == "to-kernel wan"
    assert verdict(bench, f"{to_port} 501") == "dropped policy-discard"


WRONG = {
    "no-dst": ("src 10.1.0.1", "dst is missing"),
    "no-src": ("dst 10.1.0.1", "src is missing"),
    "address": ("src 10.1.0.256 dst 10.1.0.1", "src: not a valid value"),
    "families": (f"src {HOST} dst {FAR_HOST6}", "not of the same family"),
    "port": (f"{OUT} in dmz", "in: not a valid value"),
    "number": (f"src {HOST} dst {FAR_HOST} sport 65536", "sport: not a valid value"),
    "proto": (f"src {HOST} dst {FAR_HOST} proto 256", "proto: not a valid value"),
    "size": (f"{OUT} size 20", "size: not a valid value"),
    "keyword": (f"{OUT} colour red", "there is no keyword colour"),
    "near": (f"{OUT} dprot 1", "did you mean dport?"),
    "value": (f"{OUT} in", "in: no value"),
    "inner": (f"{OUT} inner {OUT}", "inner needs spi"),
    "spi": ("spi 0 dst 192.0.2.1", "spi: not a valid value"),
    "spi-proto": ("spi 1 dst 192.0.2.1 proto udp", "proto is esp or ah"),
    "spi-zero": ("spi 1 dst 192.0.2.1 proto 0", "proto is esp or ah"),
    "encap-ah": ("spi 1 dst 192.0.2.1 proto ah encap udp", "encap: udp is for spi with proto esp"),
    "encap-plain": (f"{OUT} encap udp", "encap: udp is for spi with proto esp"),
    "characters": (f"{OUT},0", "not a keyword, nor a value"),
    "long": (f"{OUT} " * 20, "too many words"),
}


@cases(*WRONG)
def test_trace_wrong(bench, case):
    words, message = WRONG[case]
    result = ask(bench, words)
    assert result.returncode == 2 and message in result.stderr, (result.returncode, result.stderr)


HOSTILE = ["", " ", "inner", "src", "src " + "1" * 900, "inner inner", "src 10.1.0.1 dst 10.2.0.1 size 65535",
           f"spi 1 dst {WAN} inner src {HOST} dst {FAR_HOST} size 65535", "\x7f\x01", "df", "in kernel dst ::",
           "src :: dst ::", f"{OUT} size 64001", "src 0.0.0.0 dst 255.255.255.255 size 64", f"{OUT} proto 0", f"{OUT6} proto 0",
           f"{OUT6} proto 44", f"{OUT6} proto 51", f"{OUT6} size 65535", f"{OUT} size 65535 df yes"]


def test_trace_hostile(bench):
    """Malformed requests, which cygnetctl never sends."""
    out, inb = bench.tunnel()
    for text in HOSTILE:
        rows = bench.gateway.ask(f"/cygnet/trace,{text}")
        assert rows["0"], text
    bench.expect_flow(out, inb)
