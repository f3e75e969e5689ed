# SPDX-License-Identifier: GPL-2.0-or-later
"""Ports with an MTU of 9,000: both, or only one of them."""
import contextlib
import re

from scapy.layers.inet import ICMP, IP, UDP
from scapy.packet import Raw, raw

from bench import packet, same_but_hop, to_far_host, to_host
from gateway import FAR_HOST, FAR_HOST6, HOST, HOST6, LAN, PEER, WAN
from network import ip, wait_until
from test_fragments import pieces, port_policies, receive_whole, whole
from test_ipv6 import packet6
from test_path_mtu import expect_refused, length, sealed
from test_tunnel6 import tunnel

MTU = 9000


def with_mtu(usual, ports):
    """A gateway with ports of AF_PACKET, some with an MTU of their own, and with enough memory."""
    text = re.sub("-m [0-9]+", "-m 384", usual)
    for port in ports:
        text = re.sub(rf"(\[port {port}\]\ndevice = )net_\w+?([0-9],.*)\n",
                      rf"\1net_af_packet\2\nmtu = {MTU}\n", text)
    return text


def passes(bench):
    bench.wan.drain()
    bench.from_lan(packet(HOST, FAR_HOST))
    return any(bench.packets(bench.wan, 0.3))


@contextlib.contextmanager
def jumbo(bench, *ports):
    """cygnetd sets the MTU of its end of a veth. XDP, which the usual gateway has at its veths, does not allow
    such an MTU."""
    gateway, network = bench.gateway, bench.network
    with gateway.rewritten(lambda usual: with_mtu(usual, ports)):
        try:
            for port in ports:
                ip("-n", network.gw, "link", "set", f"{port}-veth", "xdp", "off")
                ip("-n", network.far, "link", "set", port, "mtu", str(MTU))
            gateway.fill("flush")
            wait_until(lambda: passes(bench), "the first packet")
            yield
            assert gateway.process.poll() is None, "cygnetd has died"
        finally:
            gateway.kill()
            for port in ports:
                ip("-n", network.far, "link", "set", port, "mtu", "1500")
                ip("-n", network.gw, "link", "set", f"{port}-veth", "mtu", "1500")


def mtu_of(bench, port):
    return next(row["mtu"] for row in bench.gateway.ask("/cygnet/ports").values() if row["name"] == port)


def change_mtu(bench, port, mtu, becomes=None):
    """Set the MTU of the TAP, as an administrator does."""
    ip("-n", bench.network.gw, "link", "set", port, "mtu", str(mtu))
    wait_until(lambda: mtu_of(bench, port) == (becomes or mtu), f"{port} has an MTU of {becomes or mtu}")


def both_ways(bench, out, inb, size):
    """Each packet leaves in one ESP packet; it has DF, so none is fragmented."""
    for far, near in ((to_far_host(size, flags="DF"), to_host(size, flags="DF")),
                      (packet6(size=size), packet6(FAR_HOST6, HOST6, size=size))):
        outer = sealed(bench, far)[0]
        assert size < length(outer) <= MTU
        same_but_hop(out.unseal(outer)[0], far)
        bench.lan.drain()
        bench.from_wan(inb.seal(near))
        same_but_hop(bench.receive(bench.lan, 1)[0], near)


def fits_exactly(bench, out):
    """The source is told the MTU at which ESP fits, and packets without DF are fragmented to that size."""
    fits = expect_refused(bench, to_far_host(MTU - 28, flags="DF"))
    assert MTU - 120 < fits < MTU
    outer = sealed(bench, to_far_host(fits - 28, flags="DF"))[0]
    assert MTU - 16 < length(outer) <= MTU
    expect_refused(bench, to_far_host(fits - 27, flags="DF"), fits)
    sent = to_far_host(MTU - 28, id=7)
    got = sealed(bench, sent, 2)
    assert max(map(length, got)) > MTU - 120 and max(map(length, got)) <= MTU
    same_but_hop(whole(out.unseal(one)[0] for one in got), sent)


def kernel_has_it(bench):
    """Ping and IKE through the TAP, in one packet each way."""
    bench.lan.drain()
    bench.from_lan(IP(src=HOST, dst=LAN) / ICMP(id=7, seq=9) / Raw(b"x" * 8000))
    reply = bench.receive(bench.lan, 1)[0]
    assert (reply.src, reply.len, reply[ICMP].type, reply[ICMP].seq) == (LAN, 8028, 0, 9)
    request, answer = b"request" * 1200, b"answer" * 1400
    with bench.listen(500) as sock:
        bench.wan.drain()
        bench.from_wan(IP(src=PEER, dst=WAN) / UDP(sport=500, dport=500) / Raw(request))
        data, sender = sock.recvfrom(10000)
        assert (data, sender) == (request, (PEER, 500))
        sock.sendto(answer, sender)
        assert raw(bench.receive(bench.wan, 1)[0][UDP].payload) == answer


def follows_the_tap(bench):
    """The MTU is lowered and raised again, but not above that at the start."""
    out, _ = bench.tunnel()
    change_mtu(bench, "wan", 4000)
    fits = expect_refused(bench, to_far_host(8000, flags="DF"))
    assert 4000 - 120 < fits < 4000
    assert length(sealed(bench, to_far_host(fits - 28, flags="DF"))[0]) <= 4000
    got = sealed(bench, to_far_host(8000, id=8), 3)
    same_but_hop(whole(out.unseal(one)[0] for one in got), to_far_host(8000, id=8))
    change_mtu(bench, "wan", MTU)
    ip("-n", bench.network.gw, "link", "set", "wan", "mtu", "12000")
    wait_until(lambda: bench.gateway.logged("cannot have MTU 12000, wan goes back to 9000"), "no more")
    sent = to_far_host(8800, flags="DF")
    same_but_hop(out.unseal(sealed(bench, sent)[0])[0], sent)


def test_jumbo(bench):
    with jumbo(bench, "lan", "wan"):
        assert (mtu_of(bench, "lan"), mtu_of(bench, "wan")) == (MTU, MTU)
        for suite in ("gcm128", "cbc128-sha256", "chacha"):
            out, inb = tunnel(bench, False, suite)
            both_ways(bench, out, inb, 8872)
            fits_exactly(bench, out)
        both_ways(bench, *tunnel(bench, True, encap=True), 8850)
        bench.gateway.fill("flush")
        sent = packet(HOST, FAR_HOST, MTU - 28, flags="DF")
        same_but_hop(sealed(bench, sent)[0], sent)
        kernel_has_it(bench)
        follows_the_tap(bench)


def test_jumbo_one_side(bench):
    """Decrypted packets and plaintext leave the other port within 1,500 bytes."""
    with jumbo(bench, "wan"):
        out, inb = tunnel(bench, False)
        long = to_host(8872, id=9)
        bench.lan.drain()
        bench.from_wan(inb.seal(long))
        parts = bench.receive(bench.lan, 6)
        assert max(map(length, parts)) <= 1500
        same_but_hop(whole(parts), long)
        for sent in (to_host(8872, flags="DF"), packet6(FAR_HOST6, HOST6, size=8852)):
            bench.wan.drain()
            bench.from_wan(inb.seal(sent))
            error = out.unseal(bench.receive(bench.wan, 1)[0])[0]
            assert error.dst == sent.src and error.payload.type == (2 if sent.version == 6 else 3)
            assert (error.payload.mtu if sent.version == 6 else error[ICMP].nexthopmtu) == 1500
        # TFC padding to the MTU of the larger port, longer than the buffers of the smaller one.
        out, _ = bench.tunnel(out_more=f"tfc={MTU}")
        outer = sealed(bench, to_far_host(40))[0]
        assert MTU - 16 < length(outer) <= MTU
        inner = raw(out.unseal(outer)[0])
        same_but_hop(IP(inner[:68]), to_far_host(40))
        assert not any(inner[68:]), "zeros"
        out = port_policies(bench, out_more=f"tfc={MTU}")
        sent = to_far_host(20000, id=10)
        bench.wan.drain()
        bench.from_lan(*pieces(sent))
        same_but_hop(out.unseal(receive_whole(bench))[0], sent)


def test_jumbo_refused(bench):
    """cygnetd logs an MTU that a device does not support, with the line of the configuration."""
    def change(usual):
        return with_mtu(usual, ["wan"]).replace("iface=wan-veth", "iface=wan-veth,framesz=2048")

    with contextlib.suppress(AssertionError), bench.gateway.rewritten(change):
        raise RuntimeError("cygnetd starts")
    assert re.search(r"/cygnetd.conf:[12][0-9]: \[port wan\] mtu: 9000 is more than the 1964 that net_af_packet1 can have",
                     open(bench.gateway.log, errors="replace").read())
