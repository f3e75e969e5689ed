# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPD: packets are protected, bypassed or dropped as their policy requires."""
import socket

from scapy.layers.inet import ICMP, IP, UDP
from scapy.packet import Raw, raw

from bench import ike, packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_HOST, FAR_HOST6, FAR_NET, FAR_NET6, HOST, HOST6, LAN_NET, PEER, WAN
from network import PATIENCE, inside, wait_until
from peer import SUITE, Sa
from peer_ah import AhSa
from test_esp import cases
from test_ipv6 import packet6


def test_plaintext_from_wan(bench):
    """Plaintext that a policy protects arrives outside the tunnel."""
    out, inb = bench.tunnel()
    with bench.dropped("policy-plaintext", 3):
        for number in range(3):
            bench.from_wan(to_host(id=number))
    bench.expect_flow(out, inb)


def test_no_sa(bench):
    """A policy without SA: the plaintext does not leave."""
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET))
    with bench.waiting(3):
        for number in range(3):
            bench.from_lan(to_far_host(id=number))


def test_inner_source_outside(bench):
    out, inb = bench.tunnel()
    with bench.dropped("policy-inbound", 2):
        bench.from_wan(inb.seal(packet("10.9.0.1", HOST)))
        bench.from_wan(inb.seal(packet("10.2.1.0", HOST)))
    bench.expect_flow(out, inb)


def test_inner_destination_outside(bench):
    out, inb = bench.tunnel()
    with bench.dropped("policy-inbound", 2):
        bench.from_wan(inb.seal(packet(FAR_HOST, "10.9.0.1")))
        bench.from_wan(inb.seal(packet(FAR_HOST, "192.0.2.99")))
    bench.expect_flow(out, inb)


def test_inner_of_another_sa(bench):
    """A packet in this tunnel's SA with addresses of the other tunnel's selectors."""
    other = "10.2.7.0-10.2.7.255"
    stranger = Sa(SUITE["gcm128"], "in", bench.spi(), reqid=2)
    out, inb = bench.tunnel(more_lines=[
        stranger.line(),
        *(policy(direction, other, LAN_NET, spi=stranger.spi, reqid=2) for direction in ("in", "fwd"))])
    with bench.dropped("policy-inbound", 2):
        bench.from_wan(inb.seal(packet("10.2.7.1", HOST)))
        bench.from_wan(stranger.seal(to_host()))
    bench.lan.drain()
    sent = packet("10.2.7.1", HOST)
    bench.from_wan(stranger.seal(sent))
    same_but_hop(bench.receive(bench.lan, 1)[0], sent)
    bench.expect_flow(out, inb)


def test_bypass(bench):
    """Packets to the ports of a bypass policy of better priority leave in plaintext; those to the next ports do not."""
    one = f"{FAR_HOST}-{FAR_HOST}"
    out, _ = bench.tunnel(more_lines=[
        policy("out", LAN_NET, one, "bypass", prio=10, more="proto=17 dport=5000-5009"),
        policy("fwd", LAN_NET, one, "bypass", prio=10, more="proto=17 dport=5000-5009")])
    bench.wan.drain()
    for port in (5000, 5009):
        sent = to_far_host(dport=port)
        bench.from_lan(sent)
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)
    for port in (4999, 5010):
        sent = to_far_host(dport=port)
        bench.from_lan(sent)
        same_but_hop(out.unseal(bench.receive(bench.wan, 1)[0])[0], sent)


def test_discard(bench):
    out, inb = bench.tunnel(more_lines=[
        policy("out", LAN_NET, FAR_NET, "discard", prio=10, more="proto=17 dport=7-7"),
        policy("fwd", FAR_NET, LAN_NET, "discard", prio=10, more="proto=17 dport=7-7")])
    with bench.dropped("policy-discard"):
        bench.from_lan(to_far_host(dport=7))
    with bench.dropped("policy-discard"):
        bench.from_wan(to_host(dport=7))
    bench.expect_flow(out, inb)


def test_priority(bench):
    """Of two policies that match the lower value decides, whatever their order."""
    for first, second in ((10, 20), (20, 10)):
        action = {first: "bypass", second: "discard"}
        bench.gateway.fill("flush", *(policy("out", LAN_NET, FAR_NET, action[prio], prio=prio)
                                      for prio in (first, second)))
        if action[10] == "discard":
            with bench.dropped("policy-discard"):
                bench.from_lan(to_far_host())
        else:
            bench.wan.drain()
            bench.from_lan(to_far_host())
            same_but_hop(bench.receive(bench.wan, 1)[0], to_far_host())


def bound_tunnel(bench, device):
    """As bench.tunnel(), with policies for one interface only."""
    out, inb = Sa(SUITE["gcm128"], "out", bench.spi()), Sa(SUITE["gcm128"], "in", bench.spi())
    more = f"dev={device}"
    bench.gateway.fill("flush", out.line(), inb.line(),
                       policy("out", LAN_NET, FAR_NET, spi=out.spi, more=more),
                       policy("in", FAR_NET, LAN_NET, spi=inb.spi, more=more),
                       policy("fwd", FAR_NET, LAN_NET, spi=inb.spi, more=more))
    return out, inb


def test_interface(bench):
    """Policies for the WAN apply to packets that leave or arrive there, also after its TAP was replaced by another
    one of the same name."""
    out, inb = bound_tunnel(bench, "wan")
    with bench.dropped("policy-plaintext"):
        bench.from_wan(to_host())
    bench.expect_flow(out, inb)
    bench.gateway.kill()
    bench.gateway.start()
    with bench.dropped("policy-plaintext"):
        bench.from_wan(to_host())
    bench.expect_flow(out, inb)


def test_other_interface(bench):
    """Policies for the LAN do not apply to packets that leave or arrive by the WAN."""
    _, inb = bound_tunnel(bench, "lan")
    with bench.dropped("policy-inbound"):
        bench.from_wan(inb.seal(to_host()))
    bench.from_lan(to_far_host())
    same_but_hop(bench.receive(bench.wan, 1)[0], to_far_host())
    bench.from_wan(to_host())
    same_but_hop(bench.receive(bench.lan, 1)[0], to_host())


def test_not_ours(bench):
    """No policy matches: the packet is forwarded in plaintext."""
    bench.tunnel()
    sent = packet(HOST, "10.2.200.1")
    bench.wan.drain()
    bench.from_lan(sent)
    same_but_hop(bench.receive(bench.wan, 1)[0], sent)


HIDDEN = {
    "first-fragment": ("reassembly", {"flags": "MF", "payload": b"\4\x57" * 4}),
    "later-fragment": ("reassembly", {"frag": 100, "payload": bytes(64)}),
    "cut": ("fragment", {"payload": b"\4\x57\x08"}),
}


@cases(*HIDDEN)
def test_hidden_ports(bench, case):
    """A policy with ports, and a packet without visible ports: the policy might protect it, so it is dropped in both
    directions."""
    reason, fields = HIDDEN[case][0], dict(HIDDEN[case][1])
    payload = fields.pop("payload")
    some = "proto=17 dport=2000-2999"
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, more=some),
                       policy("fwd", FAR_NET, LAN_NET, more=some))
    with bench.dropped(reason):
        bench.from_lan(IP(src=HOST, dst=FAR_HOST, proto=17, **fields) / Raw(payload))
    with bench.dropped(reason):
        bench.from_wan(IP(src=FAR_HOST, dst=HOST, proto=17, **fields) / Raw(payload))


def test_no_ports_at_all(bench):
    """A policy with ports does not apply to protocols without ports."""
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, more="proto=17 dport=2000-2999"))
    for fields in ({}, {"frag": 100}):
        sent = IP(raw(IP(src=HOST, dst=FAR_HOST, proto=47, **fields) / Raw(bytes(64))))
        bench.wan.drain()
        bench.from_lan(sent)
        same_but_hop(bench.receive(bench.wan, 1)[0], sent)


def test_inner_of_another_peer(bench):
    """Two peers with the same reqid: a policy uses only the SA whose addresses are those of its peer. When the other
    peer's SA moves to these addresses, as by MOBIKE, the policy uses that one."""
    inb, stranger = (Sa(SUITE["gcm128"], "in", bench.spi()) for _ in range(2))
    stranger.src = "192.0.2.3"
    fwd = policy("fwd", FAR_NET, LAN_NET, more=f"begin={PEER}")
    local = policy("in", FAR_NET, f"{WAN}-{WAN}", more=f"begin={PEER}")
    bench.gateway.fill("flush", inb.line(), stranger.line(), fwd, local)
    with bench.dropped("policy-inbound", 2):
        bench.from_wan(stranger.seal(to_host()), stranger.seal(packet(FAR_HOST, WAN)))
    for _ in range(2):  # the second packet is found in the flow cache
        bench.from_wan(inb.seal(to_host()))
        same_but_hop(bench.receive(bench.lan, 1)[0], to_host())
    bench.gateway.fill(f"sa-update spi={inb.spi:#x} end={WAN} src=192.0.2.4 dst={WAN}",
                       f"sa-update spi={stranger.spi:#x} end={WAN} src={PEER} dst={WAN}")
    with bench.dropped("policy-inbound"):
        bench.from_wan(inb.seal(to_host()))
    bench.from_wan(stranger.seal(to_host()))
    same_but_hop(bench.receive(bench.lan, 1)[0], to_host())
    bench.gateway.fill(fwd.replace("policy ", "policy-delete ", 1), policy("fwd", FAR_NET, LAN_NET, more="begin=192.0.2.4"))
    with bench.dropped("policy-inbound"):
        bench.from_wan(stranger.seal(to_host()))


BACK = packet(FAR_HOST, "10.2.200.1")  # from one spoke to another, or to the Internet
BACK6 = packet6(FAR_HOST6, "2001:db8:2:200::1")


def hub(bench, *more_lines):
    """A tunnel for all of 10.0.0.0/8 on this side, of which only a part is the LAN. @return inbound SA"""
    inb = Sa(SUITE["gcm128"], "in", bench.spi())
    bench.gateway.fill("flush", inb.line(), policy("fwd", FAR_NET, "10.0.0.0-10.255.255.255", spi=inb.spi),
                       *more_lines)
    bench.lan.drain()
    bench.wan.drain()
    return inb


def leaves_again(bench, inb):
    """Two packets leave: the cached decision about the first one applies to the second one."""
    for _ in range(2):
        bench.from_wan(inb.seal(BACK))
        same_but_hop(bench.receive(bench.wan, 1)[0], BACK)


def test_hairpin(bench):
    """A decrypted packet whose route leads to the WAN, without a policy, does not leave in plaintext."""
    inb = hub(bench)
    bench.from_wan(inb.seal(to_host()))
    same_but_hop(bench.receive(bench.lan, 1)[0], to_host())
    with bench.dropped("hairpin", 3):
        for _ in range(3):
            bench.from_wan(inb.seal(BACK))
    # A packet of a LAN host, which was never in a tunnel, is forwarded in plaintext as usual.
    bench.from_lan(packet(HOST, "10.2.200.1"))
    bench.receive(bench.wan, 1)


@cases("esp-4in6", "esp-6in4", "esp-6in6", "ah-4in4", "ah-6in4", "ah-6in6")
def test_hairpin_of(bench, case):
    """The same for both inner families, in both outer families, in ESP and AH."""
    kind, families = case.split("-")
    options = {"v6": families.endswith("6")}
    inb = (AhSa("sha256", "in", bench.spi(), **options) if kind == "ah"
           else Sa(SUITE["gcm128"], "in", bench.spi(), **options))
    options.update(spi=inb.spi, more=f"ipsec={kind}")
    bench.gateway.fill("flush", inb.line(), policy("fwd", FAR_NET, "10.0.0.0-10.255.255.255", **options),
                       policy("fwd", FAR_NET6, "2001:db8::-2001:db8:ffff::", **options))
    back, here = (BACK6, packet6(FAR_HOST6, HOST6)) if families[0] == "6" else (BACK, to_host())
    bench.lan.drain()
    bench.from_wan(inb.seal(here))
    same_but_hop(bench.receive(bench.lan, 1)[0], here)
    with bench.dropped("hairpin", 3):
        for _ in range(3):
            bench.from_wan(inb.seal(back))


def test_hairpin_by_policy(bench):
    """A bypass policy lets such a packet pass, and a tunnel for it protects it again."""
    one, spoke = "10.2.200.1-10.2.200.1", Sa(SUITE["gcm128"], "out", bench.spi(), reqid=2)
    inb = hub(bench, policy("out", FAR_NET, one, "bypass"))
    leaves_again(bench, inb)
    inb = hub(bench, policy("out", FAR_NET, one, "discard"))
    with bench.dropped("policy-discard"):
        bench.from_wan(inb.seal(BACK))
    inb = hub(bench, spoke.line(), policy("out", FAR_NET, one, spi=spoke.spi, reqid=2))
    for _ in range(2):
        bench.from_wan(inb.seal(BACK))
        same_but_hop(spoke.unseal(bench.receive(bench.wan, 1)[0])[0], BACK)
    # The tunnel is removed: now no policy matches, and the cached decision is not used.
    inb = hub(bench)
    with bench.dropped("hairpin"):
        bench.from_wan(inb.seal(BACK))


def test_hairpin_pass(bench):
    with bench.gateway.configured("hairpin = pass"):
        leaves_again(bench, hub(bench))


def test_hairpin_no_policy(bench):
    """no_policy = drop applies to such packets, too, whatever hairpin is; a policy takes precedence."""
    one = "10.2.200.1-10.2.200.1"
    with bench.gateway.drops_no_policy("hairpin = pass"):
        inb = hub(bench)
        bench.from_wan(inb.seal(to_host()))
        same_but_hop(bench.receive(bench.lan, 1)[0], to_host())
        with bench.dropped("no-policy"):
            bench.from_wan(inb.seal(BACK))
        leaves_again(bench, hub(bench, policy("out", FAR_NET, one, "bypass")))


def test_approved(bench):
    """approved = yes: an SA of another algorithm is refused by name, both ways; the others are served."""
    with bench.gateway.configured("approved = yes"):
        out, inb = bench.tunnel("chacha")
        with bench.dropped("unsupported", 2):
            bench.from_lan(to_far_host())
            bench.from_wan(inb.seal(to_host()))
        refused = "approved = yes refuses chacha20-poly1305"
        wait_until(lambda: bench.gateway.logged(refused), refused)
        out, inb = bench.tunnel()
        bench.expect_flow(out, inb)


def test_no_policy_drop(bench):
    """no_policy = drop: plaintext that matches no policy is dropped, also while there are no policies at all. IKE,
    packets of the tunnel and bypass policies pass."""
    one = "10.2.200.1-10.2.200.1"
    with bench.gateway.drops_no_policy():
        out, inb = bench.tunnel(more_lines=[policy(direction, LAN_NET, one, "bypass", prio=10)
                                            for direction in ("out", "fwd")])
        bench.expect_flow(out, inb)
        passes = packet(HOST, "10.2.200.1")
        bench.wan.drain()
        bench.from_lan(passes)
        same_but_hop(bench.receive(bench.wan, 1)[0], passes)
        bench.lan.drain()
        bench.from_lan(packet(HOST, FAR_HOST, 1472, flags="DF"))
        assert bench.receive(bench.lan, 1)[0][ICMP].code == 4, "not told how long a packet may be"
        with bench.dropped("no-policy", 3):
            bench.from_lan(packet(HOST, "10.2.200.2"))
            bench.from_wan(packet("10.2.200.2", HOST))
            bench.from_wan(packet(PEER, WAN, sport=99, dport=99))
        bench.gateway.fill("flush")
        with bench.dropped("no-policy", 2):
            bench.from_lan(to_far_host())
            bench.from_wan(to_host())
        with inside(bench.network.gw):
            ike_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with ike_socket:
            ike_socket.bind((WAN, 500))
            ike_socket.settimeout(PATIENCE)
            bench.from_wan(IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500) / Raw(ike(b"request")))
            assert ike_socket.recvfrom(2000)[1] == (PEER, 500)
            bench.wan.drain()
            ike_socket.sendto(ike(b"answer"), (PEER, 500))
            bench.receive(bench.wan, 1)
