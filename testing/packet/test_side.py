# SPDX-License-Identifier: GPL-2.0-or-later
"""A hub with two outside ports: decrypted packets, and packets without a policy, leave by neither in plaintext."""
import contextlib
import socket

from bench import packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_HOST, FAR_NET, HOST, PEER, WAN, inside_lan
from network import inside, ip, ip_batch, wait_until
from peer import SUITE, Sa
from test_policy import BACK, hub
from test_reload import DMZ_HOST, Dmz, reload, usual_again, with_main

ONWARD = packet(FAR_HOST, DMZ_HOST)  # from one spoke to another, whose tunnel is down
PLAIN = packet(HOST, DMZ_HOST)


@contextlib.contextmanager
def other_wan(bench, change=lambda text: text):
    """The usual gateway with a third port. @param change  of the usual text
    @return the port, and a function that reloads that text with other lines in [cygnetd]"""
    with Dmz(bench) as dmz, usual_again(bench) as usual:
        text = change(usual) + dmz.section

        def configure(*lines):
            return reload(bench, with_main(text, *lines))
        log = configure()
        dmz.set_up()
        yield dmz.port, configure, log


def refused(bench, port, send, reason="outside"):
    """Three packets are refused: the cached decision about the first one applies to the later ones."""
    port.drain()
    with bench.dropped(reason, 3):
        for _ in range(3):
            send()
    bench.expect_nothing(port)


def leaves(bench, port, send, sent):
    port.drain()
    for _ in range(2):
        send()
        same_but_hop(bench.receive(port, 1)[0], sent)


def test_side_decrypted(bench):
    with other_wan(bench, inside_lan) as (wan2, configure, log):
        assert "has a side" not in log, log
        inb = hub(bench)
        leaves(bench, bench.lan, lambda: bench.from_wan(inb.seal(to_host())), to_host())
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)))
        # A bypass policy lets it leave; when the policy is removed, the cached decision is not used any more.
        inb = hub(bench, policy("out", FAR_NET, f"{DMZ_HOST}-{DMZ_HOST}", "bypass"))
        leaves(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)), ONWARD)
        inb = hub(bench)
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)))
        configure("no_policy = pass")
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)))
        configure("no_policy = drop")
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)), "no-policy")
        configure("hairpin = pass")
        leaves(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)), ONWARD)
        configure()
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)))


def test_side_no_policy(bench):
    with other_wan(bench, inside_lan) as (wan2, configure, _):
        bench.gateway.fill("flush")
        refused(bench, wan2, lambda: bench.from_lan(PLAIN))
        back = packet(DMZ_HOST, HOST)
        leaves(bench, bench.lan, lambda: wan2.send(bench.frame(wan2, "dmz", back)), back)
        with inside(bench.network.gw):
            own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with own:
            refused(bench, wan2, lambda: own.sendto(b"own", (PEER, 99)))
        configure("no_policy = pass")
        leaves(bench, wan2, lambda: bench.from_lan(PLAIN), PLAIN)
        configure()
        refused(bench, wan2, lambda: bench.from_lan(PLAIN))


def test_side_route(bench):
    """The route to the LAN is removed, or leads to an interface of the kernel that is no port."""
    far_lan = packet(FAR_HOST, "10.1.7.7")
    gw = bench.network.gw

    def route(*words):
        ip("-n", gw, "route", "replace", "10.1.7.0/24", *words)
        bench.gateway.hear()
    with other_wan(bench, inside_lan) as (wan2, configure, _):
        inb = hub(bench)
        ip("-n", gw, "link", "add", "other", "type", "veth", "peer", "name", "other-far")
        try:
            for end in ("other", "other-far"):
                bench.gateway.in_gw("sysctl", "-q", "-w", f"net.ipv6.conf.{end}.disable_ipv6=1")
                ip("-n", gw, "link", "set", end, "up")
            route("via", HOST, "dev", "lan")
            leaves(bench, bench.lan, lambda: bench.from_wan(inb.seal(far_lan)), far_lan)
            route("via", DMZ_HOST, "dev", "dmz")
            refused(bench, wan2, lambda: bench.from_wan(inb.seal(far_lan)))
            route("dev", "other")
            refused(bench, wan2, lambda: bench.from_wan(inb.seal(far_lan)))
            configure("kernel_side = inside")
            before = sum(row["to_kernel"] for row in bench.gateway.ask("/cygnet/ports").values())
            bench.from_wan(inb.seal(far_lan))
            wait_until(lambda: sum(row["to_kernel"] for row in bench.gateway.ask("/cygnet/ports").values()) > before,
                       "the kernel has it")
        finally:
            ip("-n", gw, "link", "del", "other")


@contextlib.contextmanager
def one_port(bench):
    """A gateway without the LAN's port. @return its configuration"""
    gateway = bench.gateway
    usual = gateway.read_conf()
    alone = usual[:usual.index("[port lan]")] + usual[usual.index("[port wan]"):]
    try:
        gateway.kill()
        gateway.write_conf(alone)
        mark = gateway.launch()
        wait_until(lambda: gateway.logged("cygnetd: ready", mark), "cygnetd: ready")
        ip_batch(bench.network.gw, [f"address replace {WAN}/24 dev wan", "link set wan up",
                                    f"route replace 10.2.0.0/16 via {PEER} dev wan",
                                    f"neigh replace {PEER} dev wan lladdr {bench.wan.mac.hex(':')} nud permanent"])
        wait_until(lambda: any(row["prefix"] == "10.2.0.0/16" for row in gateway.ask("/cygnet/routes").values()),
                   "cygnetd knows the routes")
        gateway.hear()
        gateway.mac["wan"] = gateway.mac_of("wan")
        yield alone
    finally:
        gateway.reconfigure(usual)


def test_side_one_port(bench):
    """A gateway with one port: decrypted packets leave into that port's network if a forward policy is for that network
    or a part of it. They do not if the policy is wider or for another network, or if a side is configured."""
    def to(net, dst):
        """@return an inbound SA whose policy is for a net, and what sends a packet to an address out of it"""
        inb = Sa(SUITE["gcm128"], "in", bench.spi())
        bench.gateway.fill("flush", inb.line(), policy("fwd", FAR_NET, net, spi=inb.spi))
        return packet(FAR_HOST, dst), lambda: bench.from_wan(inb.seal(packet(FAR_HOST, dst)))

    def refused_to(net, dst, reason="hairpin"):
        refused(bench, bench.wan, to(net, dst)[1], reason)
    link, host = "192.0.2.0-192.0.2.255", f"{PEER}-{PEER}"
    with one_port(bench) as alone:
        for net in (link, host):
            sent, send = to(net, PEER)
            bench.wan.drain()
            leaves(bench, bench.wan, send, sent)
        # Cached decisions are not used after the policy is removed.
        refused_to("192.0.0.0-192.0.255.255", PEER)
        refused_to("0.0.0.0-255.255.255.255", PEER)
        refused_to("10.2.200.0-10.2.200.255", "10.2.200.1")
        # Within the network, but by a route through another host.
        ip("-n", bench.network.gw, "route", "add", "192.0.2.128/25", "via", PEER, "dev", "wan")
        bench.gateway.hear()
        refused_to(link, "192.0.2.200")
        ip("-n", bench.network.gw, "route", "del", "192.0.2.128/25", "via", PEER, "dev", "wan")
        bench.gateway.hear()
        reload(bench, with_main(alone, "no_policy = drop"))
        refused_to(link, PEER, "no-policy")
        reload(bench, alone.replace("[port wan]\n", "[port wan]\nside = outside\n"))
        refused_to(link, PEER)
    # With a second port, the first one is the only outside port.
    refused_to(link, PEER)


def ends_at_wan(bench, inb):
    """A tunnel's decrypted packets do not leave by the WAN, whichever port ESP comes in by, but by the LAN."""
    wait_until(lambda: bench.gateway.logged("port wan: a tunnel ends here", bench.gateway.mark), "a tunnel ends at the WAN")
    leaves(bench, bench.lan, lambda: bench.from_wan(inb.seal(to_host())), to_host())
    refused(bench, bench.wan, lambda: bench.from_wan(inb.seal(BACK)), "hairpin")
    refused(bench, bench.wan, lambda: bench.from_lan(inb.seal(BACK)))


def test_side_tunnel_end(bench):
    """Two ports, no side configured: the port whose address a tunnel ends at is outside for decrypted packets.
    Plaintext is forwarded as usual."""
    inb = hub(bench)
    ends_at_wan(bench, inb)
    assert "none of 2 ports has a side: " in bench.gateway.log_since(bench.gateway.mark)
    leaves(bench, bench.wan, lambda: bench.from_lan(to_far_host()), to_far_host())


def test_side_tunnel_end_loopback(bench):
    """The tunnel ends at an address of no port: it counts by which port the peer is reached."""
    gw, gateway = bench.network.gw, bench.gateway
    inb = Sa(SUITE["gcm128"], "in", bench.spi())
    inb.dst = "10.9.9.9"
    gateway.fill("flush", inb.line(), policy("fwd", FAR_NET, "10.0.0.0-10.255.255.255", spi=inb.spi))
    ip("-n", gw, "address", "add", f"{inb.dst}/32", "dev", "lo")
    try:
        with gateway.rewritten(str):
            ends_at_wan(bench, inb)
    finally:
        ip("-n", gw, "address", "del", f"{inb.dst}/32", "dev", "lo")


def test_side_no_policy_drop(bench):
    """no_policy = drop with two ports and no side is refused, by a reload as well."""
    with usual_again(bench) as usual:
        log = reload(bench, with_main(usual, "no_policy = drop"), "stays as it was")
        assert f"{bench.gateway.conf}:2: [cygnetd] no_policy: drop needs side = inside " in log, log
        reload(bench, with_main(inside_lan(usual), "no_policy = drop"))


def test_side_unsaid(bench):
    """Three ports and no side configured: decrypted packets leave by none of them, plaintext is forwarded as usual."""
    with other_wan(bench) as (wan2, _, log):
        assert "none of 3 ports has a side: " in log, log
        inb = hub(bench)
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)))
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(to_host())))
        leaves(bench, wan2, lambda: bench.from_lan(PLAIN), PLAIN)
    inb = hub(bench)
    leaves(bench, bench.lan, lambda: bench.from_wan(inb.seal(to_host())), to_host())
