# SPDX-License-Identifier: GPL-2.0-or-later
"""A hub with two outside ports: what came out of a tunnel, or has no policy, leaves by neither in plaintext."""
import contextlib
import socket

from bench import packet, policy, same_but_hop, to_host
from gateway import FAR_HOST, FAR_NET, HOST, PEER
from network import inside, ip, wait_until
from test_policy import hub
from test_reload import DMZ_HOST, Dmz, reload, usual_again, with_main

ONWARD = packet(FAR_HOST, DMZ_HOST)  # from one spoke to another, whose tunnel is not there
PLAIN = packet(HOST, DMZ_HOST)


@contextlib.contextmanager
def other_wan(bench, change=lambda text: text):
    """The usual gateway with a third port. @param change  of the usual text
    @return the port, and a function that reloads that text with other lines in [cygnetd]"""
    with Dmz(bench) as dmz, usual_again(bench) as usual:
        text = change(usual) + dmz.section

        def configure(*lines):
            return reload(bench, with_main(text, *lines))
        said = configure()
        dmz.set_up()
        yield dmz.port, configure, said


def inside_lan(usual):
    return usual.replace("[port lan]\n", "[port lan]\nside = inside\n")


def refused(bench, port, send, reason="outside"):
    """Three times: what was decided for the first packet is remembered."""
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
    with other_wan(bench, inside_lan) as (wan2, configure, said):
        assert "has a side" not in said, said
        inb = hub(bench)
        leaves(bench, bench.lan, lambda: bench.from_wan(inb.seal(to_host())), to_host())
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)))
        # A policy says that it may; once it is gone, also what was remembered is.
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
    """The route to the LAN goes, or leads to another interface of the kernel's."""
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


def test_side_unsaid(bench):
    """Three ports and no word of sides: what was decrypted leaves by none of them, plaintext does as ever."""
    with other_wan(bench) as (wan2, _, said):
        assert "none of 3 ports has a side: " in said, said
        inb = hub(bench)
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(ONWARD)))
        refused(bench, wan2, lambda: bench.from_wan(inb.seal(to_host())))
        leaves(bench, wan2, lambda: bench.from_lan(PLAIN), PLAIN)
    inb = hub(bench)
    leaves(bench, bench.lan, lambda: bench.from_wan(inb.seal(to_host())), to_host())
