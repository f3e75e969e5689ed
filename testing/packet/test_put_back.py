# SPDX-License-Identifier: GPL-2.0-or-later
"""What cygnetd changes at the kernel's interfaces below ports is put back when it ends, so that the kernel can have them
again; after kill -9 by its successor's end or by cygnetd --put-back. Another cygnetd that serves keeps it from that."""
import contextlib
import json
import os
import signal

from network import PATIENCE, ip, wait_until
from test_macvlan import VMAC
from test_reload import Dmz, reload, usual_again
from test_takeover import FAULTS, begin, begin_and_stop, finish, on_af_packet
from test_wire import OPEN, SETTINGS

WIRES = ("lan-veth", "wan-veth")


def sysctls(bench, device):
    names = [f"net.{name.format(device)}" for name in SETTINGS]
    return bench.gateway.in_gw("sysctl", *names, capture_output=True, text=True).stdout


def link(bench, device):
    return json.loads(bench.gateway.in_gw("ip", "-j", "link", "show", "dev", device, capture_output=True).stdout)[0]


def state(bench, device="wan-veth"):
    """What cygnetd may change at an interface."""
    row = link(bench, device)
    return sysctls(bench, device), row["mtu"], row["address"], set(row["flags"]) & {"UP", "PROMISC", "ALLMULTI"}


def isolated(bench, device="wan-veth"):
    return sysctls(bench, device) == "".join(f"net.{name.format(device)} = {value}\n" for name, value in SETTINGS.items())


def put_back(bench, before="true"):
    """@return exit status and messages of cygnetd --put-back, with a command before it in mounts of their own"""
    command = f"{before}; {bench.gateway.build}/root/sbin/cygnetd -c {bench.gateway.conf} --put-back 2>&1; echo $?"
    done = bench.gateway.in_gw("unshare", "-m", "sh", "-c", command, capture_output=True, text=True).stdout.splitlines()
    return int(done[-1]), "\n".join(done[:-1])


@contextlib.contextmanager
def as_before(bench):
    """No cygnetd runs when the body begins. Yields the state of the WAN's interface."""
    gateway = bench.gateway
    assert gateway.stop() == 0
    try:
        for name, value in OPEN.items():
            gateway.in_gw("sysctl", "-q", "-w", f"net.{name.format('wan-veth')}={value}")
        yield state(bench)
    finally:
        if gateway.process.poll() is None:
            gateway.kill()
        gateway.in_gw("sysctl", "-q", "-w", "net.ipv6.conf.wan-veth.disable_ipv6=1")
        gateway.start()


def change_all(bench):
    """Another MTU, another MAC address, which net_af_xdp cannot have, and promiscuous mode for that of a macvlan."""
    gateway = bench.gateway
    ip("-n", bench.network.gw, "link", "set", "wan", "mtu", "1400")
    ip("-n", bench.network.gw, "link", "set", "wan", "address", "02:00:00:00:0b:01")
    ip("-n", bench.network.gw, "link", "add", "vrrp0", "link", "wan", "address", VMAC, "up", "type", "macvlan", "mode", "bridge")
    wait_until(lambda: gateway.logged(f": takes frames to {VMAC.upper()}", gateway.mark), "frames to a macvlan are taken")
    wait_until(lambda: link(bench, "wan-veth")["address"] == "02:00:00:00:0b:01", "the port has the MAC address of its TAP")
    wait_until(lambda: link(bench, "wan-veth")["mtu"] == 1400, "the port has the MTU of its TAP")


@on_af_packet
def test_put_back(bench):
    """After SIGTERM the interface is as before: the four settings, MTU, MAC address, promiscuous mode."""
    with as_before(bench) as before:
        bench.gateway.start()
        change_all(bench)
        changed = state(bench)
        assert isolated(bench) and all(now != then for now, then in zip(changed, before)), (before, changed)
        assert bench.gateway.stop() == 0
        assert state(bench) == before, (before, state(bench))


def test_put_back_down(bench):
    """An interface that was down is down again."""
    with as_before(bench):
        ip("-n", bench.network.gw, "link", "set", "wan-veth", "down")
        bench.gateway.start()
        assert bench.gateway.stop() == 0
        assert "UP" not in link(bench, "wan-veth")["flags"]
    ip("-n", bench.network.gw, "link", "set", "wan-veth", "up")


@on_af_packet
def test_put_back_killed(bench):
    """After kill -9 the interface stays isolated. What the first cygnetd has found is put back by --put-back, and by the end
    of the next cygnetd."""
    with as_before(bench) as before:
        bench.gateway.start()
        change_all(bench)
        bench.gateway.kill()
        assert isolated(bench)
        assert put_back(bench)[0] == 0
        assert state(bench) == before, (before, state(bench))
        bench.gateway.start()
        change_all(bench)
        for _ in range(2):
            bench.gateway.kill()
            bench.gateway.start()
        assert isolated(bench)
        assert bench.gateway.stop() == 0
        assert state(bench) == before, (before, state(bench))


def test_put_back_again(bench):
    """What cannot be put back is named, and another --put-back does it."""
    with as_before(bench) as before:
        bench.gateway.start()
        bench.gateway.kill()
        status, text = put_back(bench, "mount --bind -o ro /proc/sys /proc/sys")
        assert status == 1 and "wan-veth: its ipv4/rp_filter of before cannot be put back" in text, text
        assert isolated(bench)
        status, text = put_back(bench)
        assert status == 0 and "wan-veth: its settings are those of before" in text, text
        assert state(bench) == before, (before, state(bench))


def test_put_back_refused(bench):
    """--put-back while cygnetd serves changes nothing, and says why."""
    status, text = put_back(bench)
    assert status == 1 and "a cygnetd has it" in text, text
    assert all(isolated(bench, wire) for wire in WIRES)


def test_put_back_changed(bench):
    """A setting that the administrator has changed meanwhile, which cygnetd has set back, is in force after it. A wrong
    configuration does not matter then."""
    with as_before(bench):
        bench.gateway.start()
        bench.gateway.in_gw("sysctl", "-q", "-w", "net.ipv4.conf.wan-veth.arp_ignore=2")
        wait_until(lambda: isolated(bench), "the setting is set back")
        bench.gateway.kill()
        usual = bench.gateway.read_conf()
        bench.gateway.write_conf(usual + "no_such_key = 1\n")
        try:
            assert put_back(bench)[0] == 0
        finally:
            bench.gateway.write_conf(usual)
        assert "arp_ignore = 2\n" in sysctls(bench, "wan-veth")
        bench.gateway.in_gw("sysctl", "-q", "-w", "net.ipv4.conf.wan-veth.arp_ignore=0")


def test_put_back_systemd(bench):
    """With systemd the unit puts back, which knows whether systemd starts cygnetd again: between the two the interface stays
    isolated."""
    gateway = bench.gateway
    usual = gateway.faults
    with as_before(bench) as before:
        gateway.faults = lambda: {**usual(), "NOTIFY_SOCKET": "@no-systemd"}
        try:
            gateway.start()
        finally:
            gateway.faults = usual
        assert gateway.stop() == 0
        assert isolated(bench)
        assert put_back(bench)[0] == 0
        assert state(bench) == before, (before, state(bench))


def test_put_back_port(bench):
    """A port that a reload removes, and one that the configuration no longer has after kill -9."""
    gateway = bench.gateway
    with usual_again(bench) as usual, Dmz(bench) as dmz:
        before = state(bench, "dmz-veth")
        reload(bench, usual + dmz.section)
        assert isolated(bench, "dmz-veth")
        reload(bench, usual)
        assert state(bench, "dmz-veth") == before
        reload(bench, usual + dmz.section)
        gateway.kill()
        assert isolated(bench, "dmz-veth")
        gateway.write_conf(usual)
        gateway.start()
        assert state(bench, "dmz-veth") == before


@on_af_packet
def test_put_back_takeover(bench):
    """Neither a process that fails to take over nor the one that has handed over puts back; the last one does."""
    gateway = bench.gateway
    with as_before(bench) as before:
        gateway.start()
        log, successor = begin_and_stop(gateway)
        os.kill(successor.pid, signal.SIGKILL)
        gateway.process.send_signal(signal.SIGCONT)
        log.wait(r"does not take over: .* this one serves on")
        assert isolated(bench)
        usual = gateway.read_conf()
        gateway.write_conf(FAULTS["device"](usual))
        try:
            log, _ = begin(gateway)
            log.wait(r"does not take over: .* this one serves on")
        finally:
            gateway.write_conf(usual)
        assert isolated(bench)
        finish(gateway, *begin(gateway))
        assert isolated(bench)
        assert put_back(bench)[0] == 1
        gateway.process.send_signal(signal.SIGTERM)
        gateway.process.wait(PATIENCE)
        assert state(bench) == before, (before, state(bench))
