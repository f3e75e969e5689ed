# SPDX-License-Identifier: GPL-2.0-or-later
"""Rights that cygnetd gives up by itself, however it is started."""
import contextlib
import glob
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile

from gateway import USER, stays_root
from network import PATIENCE, wait_until
from test_metrics import command as exporter
from test_takeover import begin, finish, on_af_packet

# CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK
KEPT = 1 << 12 | 1 << 13 | 1 << 14
SYS_ADMIN = 1 << 21
# CAP_KILL, CAP_SETUID
CHANGE_USER = 1 << 5 | 1 << 7

# Nobody's: a user, and the group that reads telemetry.
READER, READERS = 64197, 64198


def status_of(path):
    with open(f"{path}/status") as status:
        return dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)


def threads_of(pid):
    """The status of each thread. DPDK's telemetry has one for each client, which may end meanwhile."""
    threads = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            threads.append(status_of(f"/proc/{pid}/task/{thread}"))
    assert threads
    return threads


def has_sanitizers(bench):
    """@return whether cygnetd keeps all rights, because LeakSanitizer needs them"""
    with open(f"{bench.gateway.build}/config.h") as config:
        return "#define CYGNET_SANITIZERS 1" in config.read()


def test_rights(bench):
    """All threads are another user's, and but for the main thread none has a capability. That one has three, with
    net_af_xdp a fourth. Each has no_new_privs and both filters of system calls."""
    kept = KEPT | (SYS_ADMIN if bench.gateway.driver == "net_af_xdp" else 0)
    sanitizers = has_sanitizers(bench)
    own, process = status_of("/proc/self"), bench.gateway.process.pid
    for rights in threads_of(process):
        assert rights["NoNewPrivs"] == "1", rights
        assert int(rights["Seccomp_filters"]) == int(own["Seccomp_filters"]) + 2, rights
        if sanitizers:
            continue
        assert int(rights["CapInh"], 16) == 0, rights
        assert rights["Uid"].split() == rights["Gid"].split() == [str(USER)] * 4 and not rights["Groups"].strip(), rights
        for kind in "CapPrm", "CapEff":
            assert int(rights[kind], 16) == (kept if int(rights["Pid"]) == process else 0), rights
        assert int(rights["CapAmb"], 16) == 0 and int(rights["CapBnd"], 16) == kept | CHANGE_USER, rights


def test_rights_root(bench):
    """Without another user each thread has these capabilities, and none that would change the user."""
    with bench.gateway.rewritten(stays_root):
        for rights in threads_of(bench.gateway.process.pid):
            assert rights["Uid"].split() == ["0"] * 4, rights
            if has_sanitizers(bench):
                continue
            for kind in "CapPrm", "CapEff", "CapBnd":
                assert not int(rights[kind], 16) & CHANGE_USER, rights


def test_thread_names(bench):
    """Workers can be told apart by top(1) and in the kernel's log."""
    names = {rights["Name"] for rights in threads_of(bench.gateway.process.pid)}
    assert {f"worker-{w}" for w in range(bench.gateway.workers)} <= names, names


def test_starter(bench):
    """The starter, which is root, has no more capabilities than cygnetd but those that change the user and end a process of
    that user; no_new_privs, and the filter of what nothing needs."""
    pid = bench.gateway.process.pid
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        starters = [status_of(f"/proc/{child}") for child in children.read().split()]
    own, gateway = status_of("/proc/self"), status_of(f"/proc/{pid}")
    assert [starter["Name"] for starter in starters] == ["cygnet-starter"], starters
    assert starters[0]["NoNewPrivs"] == "1"
    assert int(starters[0]["Seccomp_filters"]) == int(own["Seccomp_filters"]) + 1
    assert starters[0]["CapBnd"] == gateway["CapBnd"]
    if has_sanitizers(bench):
        return
    assert int(starters[0]["CapPrm"], 16) & ~CHANGE_USER == int(gateway["CapPrm"], 16)


def test_files(bench):
    """A file that is not the configuration's cannot be read, though root owns it. Links that are there at the start can
    be followed."""
    gateway, folder = bench.gateway, f"{bench.gateway.conf}.d"
    with tempfile.TemporaryDirectory() as outside:
        os.chmod(outside, 0o755)
        for name in "known", "new":
            os.mkdir(f"{outside}/{name}")
            with open(f"{outside}/{name}/{name}.conf", "w") as file:
                file.write("[cygnetd]\nlog = debug\n")
        os.mkdir(folder)
        try:
            os.symlink(f"{outside}/known/known.conf", f"{folder}/known.conf")
            gateway.kill()
            gateway.start()
            reload(gateway, ": reloaded\n")
            os.symlink(f"{outside}/new/new.conf", f"{folder}/new.conf")
            reload(gateway, "new.conf: Permission denied")
        finally:
            shutil.rmtree(folder)
            gateway.kill()
            gateway.start()


def reload(gateway, says):
    mark = os.path.getsize(gateway.log)
    gateway.process.send_signal(signal.SIGHUP)
    wait_until(lambda: gateway.logged(says, mark), f"the log says {says}")


def test_system_calls(bench):
    """Forbidden by default where all devices have been run under the filter, as PoCL has; not at all if configured so."""
    assert bench.gateway.logged("cygnetd: seccomp: system calls that cygnetd does not need end it from now on\n")
    with bench.gateway.configured("seccomp = no"):
        process = bench.gateway.process.pid
        assert status_of(f"/proc/{process}")["Seccomp_filters"] == status_of("/proc/self")["Seccomp_filters"]


def test_shared_file(bench):
    """In a set-group-ID folder the file has its group, though cygnetd has no CAP_CHOWN, and is opened again."""
    folder, group = f"{bench.gateway.work}/shared", 60001
    os.mkdir(folder)
    os.chown(folder, 0, group)
    os.chmod(folder, 0o2750)
    with bench.gateway.rewritten(lambda usual: usual.replace("/sadb\n", "/shared/sadb\n")):
        made = os.stat(f"{folder}/sadb")
        assert (made.st_uid, made.st_gid, stat.S_IMODE(made.st_mode)) == (0, group, 0o660), made
        bench.gateway.kill()
        bench.gateway.start()
        assert os.stat(f"{folder}/sadb").st_ino == made.st_ino


def reads(gateway, *groups):
    """Whether cygnet-exporter of another user with these groups has an answer of cygnetd."""
    words = exporter(gateway, "--once")
    groups = f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups"
    done = subprocess.run([*words[:4], "setpriv", f"--reuid={READER}", f"--regid={READER}", groups, *words[4:]],
                          check=True, text=True, stdout=subprocess.PIPE, timeout=PATIENCE)
    return re.search("^cygnet_up (.)$", done.stdout, re.M)[1] == "1"


def is_closed(folder):
    """Whether other users can do nothing with what is in the folder; connecting takes the right to write."""
    modes = [entry.stat(follow_symlinks=False).st_mode for entry in os.scandir(folder)]
    return not any(mode & (0o022 if stat.S_ISSOCK(mode) else 0o077) for mode in modes if not stat.S_ISLNK(mode))


@on_af_packet
def test_rights_telemetry(bench):
    """Members of telemetry_group read telemetry, and get to nothing else of cygnetd; other users read nothing. Also of a cygnetd
    that has taken over, and of one that stays root."""
    gateway = bench.gateway
    folder, readers = f"/run/dpdk/{gateway.prefix}", f"/run/dpdk/{gateway.prefix}-readers"
    assert not reads(gateway) and not reads(gateway, USER)
    # Of event devices, whose counters can be cleared, cygnetd has none.
    names = [name for name in gateway.ask("/") if not name.startswith("/eventdev/")]
    writing = [name for name in names if re.search("reset|clear|set$|save|enable|disable|start|stop|write|delete", name)]
    assert not writing, f"{writing}: these may change something, and are for the group, too"
    with gateway.configured(f"telemetry_group = {READERS}"):
        for taken_over in False, True:
            if taken_over:
                finish(gateway, *begin(gateway))
            assert gateway.ask("/cygnet/info")["0"]["taken_over"] == taken_over
            assert reads(gateway, READERS) and not reads(gateway) and not reads(gateway, USER), taken_over
            made = os.stat(readers)
            assert (made.st_uid, made.st_gid, stat.S_IMODE(made.st_mode)) == (0, READERS, 0o710), made
            assert all(map(is_closed, [folder, *glob.glob(f"{folder}-[0-9]*")])), taken_over
    with gateway.rewritten(lambda usual: stays_root(usual).replace("[cygnetd]\n", f"[cygnetd]\ntelemetry_group = {READERS}\n")):
        assert reads(gateway, READERS) and not reads(gateway)
        assert os.listdir(readers) == [str(gateway.process.pid)], "those of before have been removed"
