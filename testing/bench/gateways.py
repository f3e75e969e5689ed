# SPDX-License-Identifier: GPL-2.0-or-later
"""The gateways that are compared, each with net_bench's ports. Only one runs at a
time; the others are stopped by SIGSTOP."""
import os
import shutil
import signal
import subprocess
import time

from control import Control
from traffic import FAR_NET, HOST, LAN, LAN_PORT, PEERS_NET, ROUTER, TAG, VLAN, WAN, WAN_PORT

MAC = "02:00:00:00:01:0{port}"  # of the neighbour at a port
GCM, CHAIN = OURS = "crypto_ipsec_mb_gcm", "crypto_ipsec_mb_chain"  # Cygnet's drivers; others are DPDK's

# Pause after a measurement with real-time priority, as a share of its time: the kernel throttles
# real-time programs that use more than 95 percent of a second.
REST = 0.15

# Kill a gateway when this program dies: a stopped process would never end.
MORTAL = ("setpriv", "--pdeathsig", "KILL")
FEW = 4000  # number of tunnels for which cygnetd's default number of sessions is enough


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Gateway:
    """A gateway process with two ports, and the shared memory that controls them."""
    name, ready = "", ""
    more_bytes = 0  # of its frames than those of a gateway without VLANs
    mtu = 1600  # of the WAN port: enough for the longest frame of CSIT's IMIX in ESP

    def __init__(self, options, work, sets, tunnels, device):
        """@param device  crypto driver for the tunnels' packets"""
        self.options, self.tunnels, self.device = options, tunnels, device
        self.build = self.which_build()
        self.work = os.path.join(work, self.name)
        os.makedirs(self.work)
        self.prefix = f"cyg-{os.getpid()}-bench-{self.name}"
        # All gateways use the same driver: that of another build may have another control.h.
        self.driver = f"{options.build}/.libs/librte_net_bench.so"
        self.log = f"{self.work}/log"
        self.control = Control(f"{self.work}/control")
        self.ports = self.make_ports(sets)
        self.process = self.namespace = None

    def which_build(self):
        return self.options.build

    def make_ports(self, sets):
        return [f"net_bench{port},control={self.control.path},sets={sets}"
                for port in (LAN_PORT, WAN_PORT)]

    def device_words(self):
        """EAL's arguments for the crypto device"""
        library = f"{self.build}/root/lib/dpdk/librte_{self.device}.so"
        return (["-d", library] if self.device in OURS else []) + ["--vdev", f"{self.device}0"]

    def make_namespace(self):
        self.namespace = self.prefix
        ip("netns", "add", self.prefix)

    def in_namespace(self, *words, **options):
        return subprocess.run(["ip", "netns", "exec", self.namespace, *words],
                              **({"check": True} | options))

    def start(self):
        self.make_namespace()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*MORTAL, "ip", "netns", "exec", self.namespace, *self.command()],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 120
        # With engine = auto cygnetd measures its engines once, while it serves.
        while not self.is_ready() or \
                self.logged("cygnetd: measuring the engines") and not self.logged("engines measured in"):
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.log, errors="replace") as log:
                    last_lines = "".join(log.readlines()[-30:])
                raise RuntimeError(f"{self.name} does not start ({self.process.poll()}):\n{last_lines}")
            time.sleep(0.05)

    def is_ready(self):
        return self.logged(self.ready)

    def logged(self, text):
        with open(self.log, errors="replace") as log:
            return text in log.read()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def run(self, frames, seconds, lead=0.0, **options):
        """Resume the gateway, execute a run, and pause it again.
        @param lead     seconds of a run with the same parameters before, whose results are dropped
        @param options  of Control.run()
        @return Counted"""
        self.resume()
        start = time.monotonic()
        try:
            if lead:
                self.control.run(frames, lead, **options)
            return self.control.run(frames, seconds, **options)
        finally:
            self.pause()
            if self.options.realtime:
                time.sleep(REST * (time.monotonic() - start))

    def hold_core(self):
        """Give all threads real-time priority, so that no other program gets the core."""
        for tid in os.listdir(f"/proc/{self.process.pid}/task"):
            os.sched_setscheduler(int(tid), os.SCHED_FIFO, os.sched_param(1))

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(f"/run/dpdk/{self.prefix}", ignore_errors=True)
        if self.namespace:
            subprocess.run(["ip", "netns", "del", self.namespace], check=False)


CONFIG = """\
[cygnetd]
sadb = {work}/sadb
{on_disk}sas = {sas}
policies = {policies}
engine = {engine}
{sessions}workers = {workers}
cores = {cores}
eal = --no-pci --in-memory --file-prefix={prefix} -d {driver} {device}
driver_path = {build}/root/lib/dpdk
[port lan]
device = {ports[0]}
[port wan]
device = {ports[1]}
mtu = {mtu}
"""


class Cygnetd(Gateway):
    name, ready = "cygnetd", "cygnetd: ready"
    lan, wan = "lan", "wan"  # TAPs with the addresses

    def command(self):
        count = len(self.tunnels)
        with open(f"{self.work}/conf", "w") as conf:
            # Options are set only where they are needed, because an older build may not have them: sessions and flows
            # with many tunnels, sadb_on_disk outside a tmpfs.
            sessions = f"sessions = {2 * count}\nflows = {4 * count}\n" if count > FEW else ""
            on_disk = "" if self.work.startswith("/dev/shm/") else "sadb_on_disk = yes\n"
            conf.write(CONFIG.format(work=self.work, on_disk=on_disk, sessions=sessions, sas=2 * count + 16,
                                     policies=3 * count + 16,
                                     engine=self.options.engine, workers=len(self.cores()),
                                     cores=",".join(map(str, self.cores())),
                                     prefix=self.prefix, driver=self.driver,
                                     device=" ".join(self.device_words()),
                                     build=self.build, ports=self.ports,
                                     mtu=self.mtu) + self.more_sections())
        return [f"{self.build}/root/sbin/cygnetd", "-c", f"{self.work}/conf"]

    def more_sections(self):
        return ""

    def cores(self):
        """Those of its workers"""
        return [self.options.core]

    def start(self):
        super().start()
        for device, port, own, other in ((self.lan, LAN_PORT, LAN, HOST), (self.wan, WAN_PORT, WAN, ROUTER)):
            ip("-n", self.namespace, "address", "add", f"{own}/24", "dev", device)
            ip("-n", self.namespace, "link", "set", device, "up")
            ip("-n", self.namespace, "neigh", "replace", other, "dev", device, "lladdr",
               MAC.format(port=port), "nud", "permanent")
        for net in (PEERS_NET, FAR_NET):
            ip("-n", self.namespace, "route", "add", net, "via", ROUTER, "dev", self.wan)
        self.in_namespace("sysctl", "-qw", "net.ipv4.ip_forward=1")
        subprocess.run([f"{self.build}/testing/packet/sadb-fill", f"{self.work}/sadb"],
                       input="\n".join(self.sadb_lines()) + "\n", text=True, check=True)
        time.sleep(0.3)  # routes arrive by netlink

    def sadb_lines(self):
        return [line for tunnel in self.tunnels for line in tunnel.sadb_lines()]

    def show(self, what):
        """@return output of cygnetctl show"""
        return self.in_namespace(f"{self.build}/root/bin/cygnetctl", "-c", f"{self.work}/conf",
                                 "show", what, "--wide", capture_output=True, text=True).stdout


class Other(Cygnetd):
    """cygnetd of another build"""
    name = "other"

    def which_build(self):
        return self.options.against


class Tagged(Cygnetd):
    """cygnetd in a VLAN on either port: its sets of frames are behind the others"""
    name = "tagged"
    lan, wan = f"lan.{VLAN}", f"wan.{VLAN}"
    more_bytes = len(TAG)
    before = 0  # sets without tags

    def more_sections(self):
        return f"[port {self.lan}]\nvlan = {VLAN}\nside = inside\n[port {self.wan}]\nvlan = {VLAN}\n"

    def make_ports(self, sets):
        with open(sets) as lines:
            self.before = len(list(lines)) // 2
        return super().make_ports(sets)

    def run(self, frames, seconds, lead=0.0, **options):
        return super().run(self.before + frames, seconds, lead, **options)


class Secgw(Gateway):
    """DPDK's example ipsec-secgw in library mode"""
    name, ready = "ipsec-secgw", "entering main loop"

    def program(self):
        return self.options.secgw

    def command(self):
        with open(f"{self.work}/cfg", "w") as cfg:
            for lines in ("secgw_policies", "secgw_sas"):
                for tunnel in self.tunnels:
                    cfg.writelines(line + "\n" for line in getattr(tunnel, lines)())
            for net, port in ((PEERS_NET, WAN_PORT), (f"{HOST}/24", LAN_PORT)):
                cfg.write(f"rt ipv4 dst {net} port {port}\n")
            for port in (LAN_PORT, WAN_PORT):
                cfg.write(f"neigh port {port} {MAC.format(port=port)}\n")
        vdevs = [word for port in self.ports for word in ("--vdev", port)] + self.device_words()
        return [self.program(), "--lcores", f"1@{self.options.core}", "--no-pci", "--in-memory",
                "--file-prefix", self.prefix, "-d", self.driver, *vdevs, "--", "-P", "-p", "0x3",
                "-u", f"{1 << WAN_PORT:#x}", f"--config=({LAN_PORT},0,1),({WAN_PORT},0,1)", "-l",
                "--mtu", str(self.mtu), "-f", f"{self.work}/cfg"]

