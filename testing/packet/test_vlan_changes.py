# SPDX-License-Identifier: GPL-2.0-or-later
"""VLANs while cygnetd runs: reloads, MTUs, MAC addresses, take-over; and how they are shown."""
import contextlib
import json
import os
import socket

from scapy.layers.l2 import ARP, Ether

from bench import IPV4, QUIET, packet, policy, same_but_hop
from gateway import HOST, PEER, inside_lan
from network import Port, ip, ip_batch, wait_until
from test_capture import Capture
from test_fragments import whole
from test_jumbo import change_mtu, mtu_of
from test_path_mtu import expect_refused
from test_reload import Dmz, lossless, ports, reload, usual_again, with_main
from test_restart import Traffic
from test_takeover import begin, finish, on_af_packet
from test_trace import verdict
from vlan import (C_TAG, Vlan, Wire, arp_answers, both_ways, esp_both_ways, hop, set_mac, split, to_lan, to_vlan,
                  tunnels, vlans, wires)


def test_vlan_mac(bench):
    """The TAP gets another MAC address: the VLAN takes frames to it, and no longer those to the port's; frames leave from
    it. The untagged port keeps its own, and the VLAN its one while that of the port changes."""
    vlan, mac = Vlan(bench), "02:00:00:00:0c:01"
    with vlans(bench, vlan):
        port = vlan.port_itself()
        both_ways(bench, vlan, 4)
        set_mac(bench, vlan.tap, mac)
        vlan.set_up(vlan.wire)  # the kernel has forgotten the TAP's neighbours
        assert vlan.mac == mac
        for _ in range(4):
            sent = packet(HOST, vlan.host)
            vlan.wire.drain()
            bench.from_lan(sent)
            assert vlan.wire.receive()[0][0] == vlan.leaving(IPV4, hop(sent))
        both_ways(bench, vlan, 4)
        answer = arp_answers(vlan)[0]
        assert (answer[6:12].hex(":"), Ether(split(answer)[1])[ARP].hwsrc) == (mac, mac)
        with bench.dropped("not-ours", 2):
            vlan.send(packet(vlan.host, HOST), to=port.mac)
            port.send(packet(port.host, HOST), to=mac)
        both_ways(bench, port)
        set_mac(bench, vlan.tap, port.mac)
        vlan.set_up(vlan.wire)
        both_ways(bench, vlan)
        with bench.dropped("not-ours"):
            vlan.send(packet(vlan.host, HOST), to=mac)


def test_vlan_mac_of_port(bench):
    """The port gets another MAC address: its VLANs keep the one that it had, as in Linux."""
    if bench.gateway.driver != "net_af_packet":
        return  # net_af_xdp cannot change it
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        port = vlan.port_itself()
        before = port.mac
        try:
            set_mac(bench, "wan", "02:00:00:00:0c:02")
            port.mac = "02:00:00:00:0c:02"
            for _ in range(3):
                sent = packet(HOST, vlan.host)
                vlan.wire.drain()
                bench.from_lan(sent)
                assert vlan.wire.receive()[0][0] == vlan.leaving(IPV4, hop(sent))
            for end in (vlan, port):
                both_ways(bench, end)
            with bench.dropped("not-ours"):
                port.send(packet(port.host, HOST), to=before)
        finally:
            set_mac(bench, "wan", before)
        port.mac = before
        for end in (vlan, port):
            both_ways(bench, end)


def expect_longest(bench, vlan, mtu):
    """Longer packets with DF are refused, and those without are fragmented."""
    for _ in range(3):
        sent = packet(HOST, vlan.host, mtu - 28, flags="DF")
        same_but_hop(to_vlan(bench, vlan, sent), sent)
        if mtu < 1500:  # no longer packet comes from the LAN
            expect_refused(bench, packet(HOST, vlan.host, mtu - 27, flags="DF"), mtu)
            sent = packet(HOST, vlan.host, 1472, id=7)
            vlan.wire.drain()
            bench.from_lan(sent)
            got = vlan.receive(2)
            assert all(one.len <= mtu for one in got), [one.len for one in got]
            same_but_hop(whole(got), sent)


def test_vlan_mtu(bench):
    """The section's MTU, which is at most the port's, and which a reload changes: of plaintext and of ESP."""
    vlan = Vlan(bench, more="mtu = 1400\n")
    with vlans(bench, vlan) as text:
        assert mtu_of(bench, vlan.name) == tap_mtu(bench, vlan) == 1400
        expect_longest(bench, vlan, 1400)
        out, inb = tunnels(bench, vlan)[0]
        fits = expect_refused(bench, packet(HOST, vlan.far_host, 1472, flags="DF"))
        assert 1280 < fits < 1400
        sent = packet(HOST, vlan.far_host, fits - 28, flags="DF")
        outer = to_vlan(bench, vlan, sent)
        assert 1400 - 16 < outer.len <= 1400
        same_but_hop(out.unseal(outer)[0], sent)
        vlan.wire.drain()
        sent = packet(HOST, vlan.far_host, 1472, id=8)
        bench.from_lan(sent)
        got = vlan.receive(2)
        assert all(one.len <= 1400 for one in got)
        same_but_hop(whole(out.unseal(one)[0] for one in got), sent)
        esp_both_ways(bench, vlan, out, inb)
        sent = packet(HOST, PEER, 1472, flags="DF")
        same_but_hop(to_vlan(bench, vlan.port_itself(), sent), sent)
        bench.gateway.fill("flush")
        assert f"[port {vlan.name}] mtu: 1450 from now on" in reload(bench, text.replace("= 1400", "= 1450"))
        assert mtu_of(bench, vlan.name) == tap_mtu(bench, vlan) == 1450
        expect_longest(bench, vlan, 1450)
        assert f"[port {vlan.name}] mtu: " in reload(bench, text.replace("= 1400", "= 1501"))
        assert mtu_of(bench, vlan.name) == 1450
        expect_longest(bench, vlan, 1450)
    with usual_again(bench) as usual:
        log = reload(bench, usual + Vlan(bench, more="mtu = 1501\n").section())
        assert f"[port {vlan.name}] mtu: " in log and ports(bench) == ["lan", "wan"], log


def tap_mtu(bench, vlan):
    return json.loads(bench.gateway.in_gw("ip", "-j", "link", "show", "dev", vlan.tap, capture_output=True).stdout)[0]["mtu"]


def test_vlan_mtu_of_tap(bench):
    """A change of the TAP's MTU is followed, but not above what the port's allows; the VLANs of a port whose own MTU
    becomes less follow it."""
    one, both = Vlan(bench), Vlan(bench, "300.40", 5, name="wan.q")
    with vlans(bench, one, both):
        for vlan, most in ((one, 1500), (both, 1492)):
            expect_longest(bench, vlan, most)
            change_mtu(bench, vlan.tap, 1300)
            expect_longest(bench, vlan, 1300)
            mark = os.path.getsize(bench.gateway.log)
            ip("-n", bench.network.gw, "link", "set", vlan.tap, "mtu", "9000")
            refused = f"cannot have MTU 9000, {vlan.tap} goes back to 1300"
            wait_until(lambda mark=mark, refused=refused: bench.gateway.logged(refused, mark), refused)
            wait_until(lambda vlan=vlan: tap_mtu(bench, vlan) == 1300, "the TAP has its MTU again")
            assert mtu_of(bench, vlan.name) == 1300
            expect_longest(bench, vlan, 1300)
            change_mtu(bench, vlan.tap, most)
            expect_longest(bench, vlan, most)
        try:
            change_mtu(bench, "wan", 1400)
            for vlan, most in ((one, 1400), (both, 1392)):
                wait_until(lambda vlan=vlan, most=most: mtu_of(bench, vlan.name) == tap_mtu(bench, vlan) == most,
                           f"{vlan.name} has an MTU of {most}")
                expect_longest(bench, vlan, most)
        finally:
            change_mtu(bench, "wan", 1500)
        change_mtu(bench, both.tap, 1492)
        expect_longest(bench, both, 1492)
        assert mtu_of(bench, one.name) == 1400, "it stays when the port's grows again"


class Flood(Traffic):
    """Frames of the host in the VLAN to that of the LAN."""

    def __init__(self, bench, vlan):
        super().__init__(bench, vlan.wire, vlan.frame(packet(vlan.host, HOST)))
        self.bench = bench

    def __exit__(self, *error):
        super().__exit__(*error)
        for _ in self.bench.packets(self.bench.lan, QUIET):
            pass  # until no frame is on its way any more


def expect_removed(bench, vlan):
    """Nothing is left of the VLAN, whose frames are dropped."""
    gateway = bench.gateway
    gateway.hear()
    wait_until(lambda: f"{vlan.address}/32" not in {row["prefix"] for row in gateway.ask("/cygnet/routes").values()},
               "cygnetd has forgotten the address")
    assert f" {vlan.tap}:" not in gateway.in_gw("ip", "-o", "link", capture_output=True, text=True).stdout
    with bench.dropped("vlan-tag", 5):
        vlan.send(*[packet(vlan.host, HOST)] * 5)


def test_vlan_reload(bench):
    """A VLAN is added and removed while packets flow, in it and in a tunnel of the untagged port, which loses none."""
    vlan = Vlan(bench)
    with usual_again(bench) as usual, wires(bench) as wire:
        for _ in range(2):
            with lossless(bench):
                log = reload(bench, usual + vlan.section())
                assert f"cygnetd: port {vlan.name}: " in log and f"TAP {vlan.tap}\n" in log, log
            assert ports(bench) == ["lan", "wan", vlan.name]
            vlan.set_up(wire("wan"))
            bench.gateway.fill("flush")
            both_ways(bench, vlan)
            with Flood(bench, vlan), lossless(bench):
                assert f"port {vlan.name}: removed\n" in reload(bench, usual)
            assert ports(bench) == ["lan", "wan"]
            expect_removed(bench, vlan)
        # Packets for the VLAN are in flight while it is removed.
        reload(bench, usual + vlan.section())
        vlan.set_up(wire("wan"))
        bench.gateway.fill("flush")
        both_ways(bench, vlan, 4)
        with Flood(bench, vlan):
            for _ in range(200):
                bench.lan.send(bench.frame(bench.lan, "lan", packet(HOST, vlan.host)))
            reload(bench, usual)
        expect_removed(bench, vlan)
        both_ways(bench, vlan.port_itself())


def test_vlan_reload_restart(bench):
    """Keys of a VLAN that need a restart are named, and the VLAN stays."""
    vlan = Vlan(bench)
    with vlans(bench, vlan) as text:
        log = reload(bench, text.replace("vlan = 100", "vlan = 101\nvlan_type = 802.1ad"))
        assert f"[port {vlan.name}] vlan: needs a restart; it stays 100\n" in log, log
        assert f"[port {vlan.name}] vlan_type: needs a restart; it stays auto\n" in log, log
        both_ways(bench, vlan)
        with bench.dropped("vlan-tag"):
            vlan.send(packet(vlan.host, HOST), tags=[(C_TAG, 101)])


def test_vlan_reload_port(bench):
    """A port is added and removed with its VLAN. The port is not removed without the VLAN, and the VLAN carries packets
    again when the interface below the port was made anew."""
    vlan = Vlan(bench, port="dmz")
    with usual_again(bench) as usual, Dmz(bench) as dmz, wires(bench) as wire:
        for _ in range(2):
            # The order of the sections does not matter.
            log = reload(bench, usual + vlan.section() + dmz.section)
            assert set(ports(bench)) == {"lan", "wan", "dmz", vlan.name}, log
            dmz.set_up()
            vlan.set_up(wire("dmz"))
            bench.gateway.fill("flush")
            dmz.expect_both_ways()
            both_ways(bench, vlan)
            log = reload(bench, usual + vlan.section(), "stays as it was")
            assert f"[port {vlan.name}] vlan: there is no port dmz\n" in log, log
            both_ways(bench, vlan)
            log = reload(bench, usual)
            assert f"port {vlan.name}: removed\n" in log and "port dmz: removed\n" in log, log
            assert ports(bench) == ["lan", "wan"]
            bench.gateway.hear()
        reload(bench, usual + dmz.section + vlan.section())
        dmz.set_up()
        vlan.set_up(wire("dmz"))
        dmz.port.socket.close()
        vlan.wire.socket.close()
        mark = os.path.getsize(bench.gateway.log)
        ip("-n", bench.network.gw, "link", "del", "dmz-veth")
        bench.network.add_veth("dmz")
        dmz.port = Port(bench.network.far, "dmz")
        wait_until(lambda: bench.gateway.logged("port dmz: carries packets again", mark), "the port has a new device")
        anew = Wire(bench.network.far, "dmz")
        with contextlib.closing(anew.socket):
            dmz.set_up()
            vlan.set_up(anew)
            dmz.expect_both_ways()
            both_ways(bench, vlan)


NO_VLAN = ("4095", "0", "100.4095", "0.100", "1.2.3", "100.", ".100", "lab", "-1", "100,200")
BROKEN = (
    ("[port x.100]\nvlan = 100", "[port x.100] vlan: there is no port x"),
    ("[port wan.5]\nvlan = 5\ndevice = net_af_packet7,iface=dmz-veth",
     "[port wan.5] device: it is a VLAN of port wan, which has the device"),
    ("[port wan.lab]\nvlan = 100\n[port wan.100]\nvlan = 100",
     "[port wan.100] vlan: VLAN 100 of port wan is already port wan.lab"),
    ("[port wan.q]\nvlan = 300.40\n[port wan.q2]\nvlan = 300.40",
     "[port wan.q2] vlan: VLAN 300.40 of port wan is already port wan.q"),
    *((f"[port wan.5]\nvlan = {text}", f"[port wan.5] vlan: '{text}' is no VLAN, such as 100, or 100.200 with two tags")
      for text in NO_VLAN),
    ("[port wan.5]\nvlan = 5\nvlan_type = 0x88a8", "[port wan.5] vlan_type: '0x88a8' is not one of auto, 802.1q, 802.1ad"),
    ("[port wan.5]\nvlan = 5\npriority = 8", "[port wan.5] priority: '8' is not one of "),
    ("[port wan.5]\nvlan = 5\ndscp = sometimes", "[port wan.5] dscp: 'sometimes' is not one of keep, priority"),
)


def test_vlan_broken(bench):
    """Errors of the configuration, each with its line; nothing changes."""
    with usual_again(bench) as usual:
        for section, error in BROKEN:
            log = reload(bench, f"{usual}{section}\n", "stays as it was")
            key = error.split("] ")[1].split(":")[0]
            lines = f"{usual}{section}".splitlines()
            line = max(number for number, text in enumerate(lines, 1) if text.startswith(f"{key} = "))
            assert f"cygnetd: error: {bench.gateway.conf}:{line}: {error}" in log, log
            assert ports(bench) == ["lan", "wan"]
        # VLANs of the same number on different ports, and one beside two tags that begin with it.
        every = [Vlan(bench), Vlan(bench, port="lan"), Vlan(bench, "100.40", name="wan.q")]
        reload(bench, usual + "".join(vlan.section() for vlan in every))
        assert set(ports(bench)) == {"lan", "wan", "wan.100", "lan.100", "wan.q"}


def test_vlan_start(bench):
    """A gateway that has its VLANs from the start; the TAP of one has a name of its own. cygnetctl and telemetry say which
    VLANs there are, and on which port."""
    one, other = Vlan(bench, more="tap = lab0\n"), Vlan(bench, "300.40", 5, name="wan.q")
    one.tap = "lab0"
    sections = one.section() + other.section()
    with wires(bench) as wire, \
            bench.gateway.rewritten(lambda usual: with_main(inside_lan(usual), "no_policy = pass") + sections):
        for vlan in (one, other):
            vlan.set_up(wire("wan"))
        bench.gateway.fill("flush")
        for vlan in (one, other):
            both_ways(bench, vlan)
        wanted = [("lan", "", ""), ("wan", "", ""), ("wan.100", "100", "wan"), ("wan.q", "300.40", "wan")]
        gateway = bench.gateway
        shown = [json.loads(gateway.in_gw(f"{gateway.build}/root/bin/cygnetctl", "-p", gateway.prefix, "--json", "show", "ports",
                                          capture_output=True).stdout), bench.gateway.ask("/cygnet/ports").values()]
        for rows in shown:
            assert [(row["name"], row["vlan"], row["on"]) for row in rows] == wanted, list(rows)
        before = {name: gateway.received(name) for name in ("wan", "wan.100", "wan.q")}
        to_lan(bench, one, packet(one.host, HOST))
        wait_until(lambda: gateway.received("wan.100") > before["wan.100"], "its frames are counted")
        assert gateway.received("wan.q") == before["wan.q"]
        pairs = tunnels(bench, one, other)
        for vlan, (out, inb) in zip((one, other), pairs):
            esp_both_ways(bench, vlan, out, inb)
        # The same after a restart, with sequence numbers that go on.
        gateway.kill()
        gateway.start()
        for vlan, (out, inb) in zip((one, other), pairs):
            vlan.set_up(wire("wan"))
            esp_both_ways(bench, vlan, out, inb)


def test_vlan_capture(bench):
    """Frames of a VLAN are captured with their tags, under its name."""
    vlan, other = Vlan(bench, "300.40"), Vlan(bench, number=4)
    with vlans(bench, vlan, other):
        capture = Capture(bench, "at", "rx,tx", "port", vlan.name)
        for one in (vlan, other):
            both_ways(bench, one, 1)
        got = [(one, *split(one.frame)) for one in capture.end()]
        got = [(one.point, one.words["port"], [tci for _, tci in tags]) for one, tags, rest in got if rest[12:14] == IPV4]
        assert got == [(point, vlan.name, vlan.ids) for point in ("tx", "rx")], got


def test_vlan_trace(bench):
    """A trace of a packet that comes in by a VLAN, or leaves by one."""
    vlan = Vlan(bench)
    with vlans(bench, vlan):
        assert verdict(bench, f"src {HOST} dst {vlan.host} proto udp") == f"sent {vlan.name}"
        assert verdict(bench, f"in {vlan.name} src {vlan.host} dst {HOST} proto udp") == "sent lan"
        tunnels(bench, vlan)
        assert verdict(bench, f"src {HOST} dst {vlan.far_host} proto udp") == f"sent {vlan.name}"
        assert verdict(bench, f"in {vlan.name} src {vlan.far_host} dst {HOST} proto udp") == "dropped policy-plaintext"


@on_af_packet
def test_vlan_takeover(bench):
    """Another cygnetd takes over: VLANs, and addresses and routes of their TAPs, stay."""
    every = Vlan(bench), Vlan(bench, "300.40", 4)
    with vlans(bench, *every):
        pairs = tunnels(bench, *every)
        for _ in range(2):
            for vlan, pair in zip(every, pairs):
                esp_both_ways(bench, vlan, *pair)
            finish(bench.gateway, *begin(bench.gateway))
            bench.gateway.hear()
        for vlan, pair in zip(every, pairs):
            esp_both_ways(bench, vlan, *pair)


def test_vlan_macvlan(bench):
    """A virtual router's macvlan on the TAP of a VLAN: frames to its MAC address are taken in that VLAN alone."""
    vlan, mac = Vlan(bench), "00:00:5e:00:01:0b"
    with vlans(bench, vlan):
        port = vlan.port_itself()
        mark = os.path.getsize(bench.gateway.log)
        try:
            ip_batch(bench.network.gw, [f"link add vrrp1 link {vlan.tap} address {mac} type macvlan mode bridge",
                                        "link set vrrp1 up"])
            wait_until(lambda: bench.gateway.logged(f"takes frames to {mac.upper()}", mark), "frames to it are taken")
            vlan.mac = mac
            for _ in range(3):
                sent = packet(vlan.host, HOST)
                same_but_hop(to_lan(bench, vlan, sent), sent)
            with bench.dropped("not-ours"):
                port.send(packet(port.host, HOST), to=mac)
        finally:
            ip("-n", bench.network.gw, "link", "del", "vrrp1")


def test_vlan_reload_same_tags(bench):
    """A new section has the tags of one that keeps them until a restart: it is refused, and frames come in by the old one."""
    vlan = Vlan(bench, name="wan.a")
    with vlans(bench, vlan) as text:
        log = reload(bench, text.replace("vlan = 100", "vlan = 200") + Vlan(bench, name="wan.b").section())
        assert "[port wan.b] vlan: port wan.a still has it" in log, log
        assert "wan.b" not in ports(bench)
        both_ways(bench, vlan)
