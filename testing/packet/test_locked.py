# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory with keys is neither swapped out (lock_memory) nor in a core dump."""
import contextlib
import os
import resource
import signal
import subprocess

from gateway import USER, stays_root
from network import PATIENCE
from test_rights import has_sanitizers


def locked(gateway):
    """@return by name, whether all mappings of that name are locked"""
    found, name = {}, ""
    with open(f"/proc/{gateway.process.pid}/smaps") as smaps:
        for words in (line.split() for line in smaps):
            if words[0] == "VmFlags:":
                found[name] = found.get(name, True) and "lo" in words
            elif not words[0].endswith(":"):
                name = words[5] if len(words) > 5 else ""
    return found


def test_locked_memory(bench):
    """The shared file and the heap by default, nothing with lock_memory = no. Not with ASan, which makes
    mlockall() do nothing."""
    names = f"{bench.gateway.work}/sadb", "[heap]"
    with bench.gateway.rewritten(stays_root):
        found = locked(bench.gateway)
        assert all(found[name] for name in names), found
        with bench.gateway.configured("lock_memory = no"):
            found = locked(bench.gateway)
            assert not any(found[name] for name in names), found


def start_limited(bench, conf, lost):
    """Start another cygnetd with a limit of locked memory and without a capability. @return what it says"""
    path = f"{bench.gateway.work}/locked.conf"
    with open(path, "w") as file:
        file.write(conf)
    answer = subprocess.run(
        ["ip", "netns", "exec", bench.gateway.network.gw, "prlimit", "--memlock=65536", "setpriv",
         f"--bounding-set=-{lost}", f"--inh-caps=-{lost}", f"{bench.gateway.build}/root/sbin/cygnetd",
         "-c", path], capture_output=True, text=True, timeout=PATIENCE)
    assert answer.returncode == 1, answer
    return answer.stderr


def test_locked_refused(bench):
    """Without the right to lock unlimited memory cygnetd logs that and does not start. Root's capability is of no use to the
    threads of another user."""
    usual = bench.gateway.read_conf()
    said = start_limited(bench, stays_root(usual), "ipc_lock")
    assert "[cygnetd] lock_memory: keys cannot be kept out of swap: " in said, said
    if not has_sanitizers(bench):  # which stay root
        said = start_limited(bench, usual.replace("lock_memory = no\n", ""), "sys_resource")
        assert f"[cygnetd] user: cannot become user '{USER}': lock_memory needs" in said, said


@contextlib.contextmanager
def core_dumps():
    """Processes that are started in the body may dump their memory."""
    usual = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (usual[1], usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, usual)


def aborted(process):
    """@return how the kernel says that it has ended: CLD_DUMPED or CLD_KILLED"""
    process.send_signal(signal.SIGABRT)
    code = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT).si_code
    process.wait()
    return code


def test_no_core_dump(bench):
    """Of a process as any other there is a core dump here, of cygnetd, whatever memory a key is in, there is none."""
    with core_dumps():
        other = subprocess.Popen(["sleep", "infinity"], cwd=bench.gateway.work)
        assert aborted(other) == os.CLD_DUMPED
        bench.gateway.kill()
        bench.gateway.start()
    bench.tunnel()
    assert aborted(bench.gateway.process) == os.CLD_KILLED
    bench.gateway.start()
