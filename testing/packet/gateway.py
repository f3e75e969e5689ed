# SPDX-License-Identifier: GPL-2.0-or-later
"""One cygnetd without charon: sadb-fill takes charon's place."""
import contextlib
import glob
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import time

from network import PATIENCE, ip_batch, wait_until

CONFIG = """\
[cygnetd]
sadb = {work}/sadb
sadb_on_disk = yes
state = {work}/state
{user}
engine = {engine}
workers = {workers}
cores = {cores}
{crypto_cores}
idle = {idle}
{flows}
eal = --no-pci --in-memory --file-prefix={prefix} -m 192
driver_path = {build}/root/lib/dpdk
opencl = {opencl}
[port lan]
device = {driver}0,iface=lan-veth
[port wan]
device = {driver}1,iface=wan-veth
"""

# Nobody's. Its processes have no entry in a database of users.
USER = 64199

# PoCL has as many threads as there are processors, and other programs run on them: it is given up only if it hangs.
OPENCL = "memory=staged,timeout_ms=60000"

SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lsan.supp")

RTMGRP_NEIGH = 4
LAN, HOST, LAN_NET = "10.1.0.1", "10.1.0.10", "10.1.0.0-10.1.0.255"
WAN, PEER = "192.0.2.1", "192.0.2.2"
FAR_HOST, FAR_NET = "10.2.0.10", "10.2.0.0-10.2.0.255"
LAN6, HOST6, LAN_NET6 = "2001:db8:1::1", "2001:db8:1::10", "2001:db8:1::-2001:db8:1::ffff"
WAN6, PEER6 = "2001:db8:f::1", "2001:db8:f::2"
FAR_HOST6, FAR_NET6 = "2001:db8:2::10", "2001:db8:2::-2001:db8:2::ffff"


def user_lines():
    """@return what makes cygnetd another user: its threads can lock memory where root can lift the limit"""
    try:
        resource.prlimit(os.getpid(), resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (PermissionError, ValueError):
        return f"user = {USER}\nlock_memory = no\n"
    return f"user = {USER}\n"


def stays_root(conf):
    """@return the configuration of a cygnetd that stays root"""
    return conf.replace(user_lines(), "user = root\n")


def inside_lan(conf):
    """@return the configuration with a side for the LAN: the other ports are outside"""
    return conf.replace("[port lan]\n", "[port lan]\nside = inside\n")


def crypto_cores(options):
    """Cores are assigned from the last CPU down."""
    cpus = [str(-1 - core % os.cpu_count() + os.cpu_count()) for core in range(options.crypto_cores)]
    return f"crypto_cores = {','.join(cpus)}" if cpus else ""


class Gateway:
    """cygnetd between two ports, and the SAD/SPD it reads."""

    def __init__(self, network, build, work, options):
        self.network, self.build, self.work = network, build, work
        self.prefix = f"cyg-{os.getpid()}"
        self.log = f"{work}/cygnetd.log"
        # A copy, because cygnetd may not read where the tests are.
        self.suppressions = shutil.copy(SUPPRESSIONS, work)
        self.engine, self.driver = options.engine, options.driver
        self.workers, self.crypto_cores, self.flows = options.workers, options.crypto_cores, not options.without_flows
        self.fault = f"{work}/cl-fault"  # once this file exists, OpenCL fails
        self.process = None
        self.conf = f"{work}/cygnetd.conf"
        self.write_conf(CONFIG.format(work=work, user=user_lines().rstrip(), engine=options.engine, build=build, prefix=self.prefix,
                                      workers=options.workers, driver=options.driver, idle=options.idle,
                                      flows="" if self.flows else "flows = 0", opencl=OPENCL,
                                      cores=",".join(str(core) for core in range(options.workers)),
                                      crypto_cores=crypto_cores(options)))

    def read_conf(self):
        with open(self.conf) as conf:
            return conf.read()

    def write_conf(self, text):
        with open(self.conf, "w") as conf:
            conf.write(text)

    def in_gw(self, *words, **options):
        return subprocess.run(["ip", "netns", "exec", self.network.gw, *words], check=True, **options)

    def start(self):
        begun, mark = time.monotonic(), self.launch()
        try:
            wait_until(lambda: self.process.poll() is not None or self.logged("cygnetd: ready", mark),
                       "cygnetd: ready", 2 * PATIENCE)
            assert self.process.poll() is None, f"exit status {self.process.returncode}"
        except (AssertionError, TimeoutError) as error:
            raise type(error)(f"cygnetd does not start: {error}, after {time.monotonic() - begun:.1f} s, "
                              f"and has logged:\n{self.log_since(mark)}") from None
        self.set_up_taps()

    def launch(self):
        """Start cygnetd, and do not wait for it. @return where its log begins"""
        log = open(self.log, "a")
        self.mark = mark = os.path.getsize(self.log)
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.network.gw, f"{self.build}/root/sbin/cygnetd",
             "-c", self.conf], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, **self.faults(),
                 "LSAN_OPTIONS": f"suppressions={self.suppressions}:print_suppressions=0"})
        return mark

    def faults(self):
        """Environment of a cygnetd whose OpenCL can be made to fail."""
        if self.engine == "cpu":
            return {}
        return {"LD_PRELOAD": f"{self.build}/testing/packet/.libs/cl-faults.so", "CL_FAULT": self.fault,
                "ASAN_OPTIONS": "verify_asan_link_order=0"}  # otherwise ASan insists on being loaded first

    def set_up_taps(self):
        """Configure addresses, routes and neighbours as the administrator, charon and ARP do on a gateway."""
        lines = [line for device, address, address6 in (("lan", LAN, LAN6), ("wan", WAN, WAN6)) for line in (
            f"address replace {address}/24 dev {device}",
            f"address replace {address6}/64 dev {device} nodad",
            f"link set {device} up")]
        ip_batch(self.network.gw, lines + [f"route replace 10.2.0.0/16 via {PEER} dev wan",
                                           f"route replace 2001:db8:2::/48 via {PEER6} dev wan"])
        self.learn_neighbours()
        self.mac = {device: self.mac_of(device) for device in ("lan", "wan")}
        # The kernel's own IPv6 addresses become usable later.
        wanted = {f"{LAN6}/128", f"{WAN6}/128", "2001:db8:2::/48"}
        wait_until(lambda: wanted <= {row["prefix"] for row in self.ask("/cygnet/routes").values()},
                   "cygnetd knows the routes")
        self.hear()

    def hear(self):
        """Wait until cygnetd has read and applied all netlink messages: its socket is empty, and the messages read
        from it have been applied."""
        wait_until(lambda: self.untold() == 0, "cygnetd hears by netlink")
        wait_until(lambda: not self.dump_is_due(), "cygnetd has begun to dump the kernel's tables")
        self.ask("/cygnet/routes")

    def dump_is_due(self):
        """Whether cygnetd still has to dump the kernel's tables, which it does with pauses."""
        self.ask("/cygnet/routes")  # is answered once all messages that were read have been applied
        return self.ask("/cygnet/info")["0"]["routes_due"]

    def untold(self):
        """Bytes queued in cygnetd's netlink socket, the one that receives neighbours; None if there is no such socket."""
        sockets = self.in_gw("cat", "/proc/net/netlink", capture_output=True, text=True).stdout
        rows = [line.split() for line in sockets.splitlines()[1:]]
        waiting = [int(row[4]) for row in rows if row[1] == "0" and int(row[3], 16) & RTMGRP_NEIGH]
        return sum(waiting) if waiting else None

    def learn_neighbours(self):
        ip_batch(self.network.gw, [
            f"neigh replace {address} dev {device} lladdr {port.mac.hex(':')} nud permanent"
            for device, port, addresses in (("lan", self.network.lan, (HOST, HOST6)), ("wan", self.network.wan, (PEER, PEER6)))
            for address in addresses])

    def mac_of(self, device):
        links = self.in_gw("ip", "-j", "link", "show", "dev", device, capture_output=True)
        return json.loads(links.stdout)[0]["address"]

    def log_since(self, mark):
        with open(self.log, errors="replace") as log:
            log.seek(mark)
            return log.read()

    def logged(self, text, mark=0):
        return text in self.log_since(mark)

    def fill(self, *lines):
        """Commands for sadb-fill."""
        subprocess.run([f"{self.build}/testing/packet/sadb-fill", f"{self.work}/sadb"],
                       input="\n".join(lines) + "\n", text=True, check=True)

    @contextlib.contextmanager
    def charon(self):
        """sadb-fill holds charon's role in the body, and is killed at its end.
        @return a function that gives it one of the commands that it answers"""
        holder = subprocess.Popen([f"{self.build}/testing/packet/sadb-fill", f"{self.work}/sadb"], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def tell(line):
            holder.stdin.write(f"{line}\n")
            holder.stdin.flush()
            return holder.stdout.readline()
        try:
            assert tell("charon") == "charon\n", "nobody is charon"
            yield tell
        finally:
            holder.kill()
            holder.communicate()

    def query(self, line):
        """One of sadb-fill's queries. @return its numbers"""
        answer = subprocess.run([f"{self.build}/testing/packet/sadb-fill", f"{self.work}/sadb"],
                                input=line + "\n", text=True, check=True, stdout=subprocess.PIPE)
        return {key: int(value) for key, _, value in (word.partition("=") for word in answer.stdout.split())}

    def ask(self, what):
        """Ask cygnetd's telemetry socket as cygnetctl does, which takes longer to start than most tests run.
        @return the rows by their number, and where the next page begins"""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as telemetry:
            telemetry.settimeout(PATIENCE)
            telemetry.connect(f"/run/dpdk/{self.prefix}/dpdk_telemetry.v2")
            telemetry.recv(16384)  # the server's greeting
            telemetry.send(what.encode())
            answer = json.loads(telemetry.recv(16384))[what.partition(",")[0]]
        if isinstance(answer, dict) and "rows" in answer:
            number = answer.pop("rows")
            assert "error" not in answer and number == sum(isinstance(row, dict) for row in answer.values()), answer
        return answer

    def drops(self):
        """Packets dropped so far, by reason; reasons with a count of zero are left out, and so is what the kernel says by
        itself to those on a link."""
        rows = self.ask("/cygnet/drops").values()
        return {row["reason"]: row["packets"] for row in rows if row["packets"] and row["reason"] != "tunnel-link"}

    def ike(self):
        """UDP ports that bypass the policies; the same in both families."""
        rows = self.ask("/cygnet/ike").values()
        passes = {row["family"]: {} for row in rows}
        for row in rows:
            passes[row["family"]][row["port"]] = row["passes"]
        assert passes["ipv4"] == passes["ipv6"]
        return passes["ipv4"]

    def received(self, port):
        """Frames counted at a port."""
        return next(row["rx_packets"] for row in self.ask("/cygnet/ports").values() if row["name"] == port)

    def counted(self, what):
        """One of the workers' counters, summed over all workers."""
        return sum(row[what] for row in self.ask("/cygnet/stats").values())

    def configured(self, line):
        """Run a gateway with another line in its configuration."""
        return self.rewritten(lambda usual: usual.replace("[cygnetd]\n", f"[cygnetd]\n{line}\n"))

    def drops_no_policy(self, *lines):
        """Run a gateway with no_policy = drop, which needs sides, and other lines."""
        lines = "\n".join(["[cygnetd]", "no_policy = drop", *lines, ""])
        return self.rewritten(lambda usual: inside_lan(usual.replace("[cygnetd]\n", lines)))

    @contextlib.contextmanager
    def without_flows(self):
        """Run a gateway that knows no flows."""
        usual, self.flows = self.flows, False
        try:
            with self.configured("flows = 0") if usual else contextlib.nullcontext():
                yield
        finally:
            self.flows = usual

    def took_fast_path(self, before, least=1):
        """Whether packets have taken the fast path since `shortcut` was counted as `before`. Of a gateway that knows no
        flows: whether none has."""
        taken = self.counted("shortcut") - before
        return taken >= least if self.flows else taken == 0

    @contextlib.contextmanager
    def rewritten(self, change):
        """Run a gateway with another configuration. @param change  makes it from the usual text"""
        usual = self.read_conf()
        try:
            self.reconfigure(change(usual))
            yield
        finally:
            self.reconfigure(usual)

    def reconfigure(self, text):
        self.kill()
        self.write_conf(text)
        self.start()

    @contextlib.contextmanager
    def preloaded(self, library, **environment):
        """Run a gateway with a library of testing/lib before all others."""
        usual = self.faults
        library = f"{self.build}/testing/lib/.libs/{library}.so"

        def more():
            faults = usual()
            preload = ":".join(filter(None, (faults.get("LD_PRELOAD"), library)))
            return faults | {"ASAN_OPTIONS": "verify_asan_link_order=0", "LD_PRELOAD": preload} | environment
        self.faults = more
        try:
            self.reconfigure(self.read_conf())
            yield
        finally:
            self.faults = usual
            self.reconfigure(self.read_conf())

    @contextlib.contextmanager
    def paused(self):
        """cygnetd is stopped meanwhile, so that frames sent in the body arrive in one burst."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """@return exit status after SIGTERM"""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            return "none: it ignores SIGTERM"

    def clean_up(self):
        """End cygnetd in any state, and remove EAL's files of a killed process."""
        if self.process and self.process.poll() is None:
            self.kill()
        for folder in (f"/run/dpdk/{self.prefix}", f"/run/dpdk/{self.prefix}-readers", *glob.glob(f"/run/dpdk/{self.prefix}-[0-9]*")):
            shutil.rmtree(folder, ignore_errors=True)
