# SPDX-License-Identifier: GPL-2.0-or-later
"""Rights that cygnetd gives up by itself, however it is started."""
import os
import re
import stat

# CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK, CAP_SYS_ADMIN
KEPT = 1 << 12 | 1 << 13 | 1 << 14 | 1 << 21


def test_rights(bench):
    """Of each thread: four capabilities, none that a program could inherit, no_new_privs, a filter of system calls."""
    with open(f"{bench.gateway.build}/config.h") as config:
        sanitizers = "#define CYGNET_SANITIZERS 1" in config.read()
    with open("/proc/self/status") as status:
        own = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
    tasks = f"/proc/{bench.gateway.process.pid}/task"
    for thread in os.listdir(tasks):
        with open(f"{tasks}/{thread}/status") as status:
            rights = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
        assert rights["NoNewPrivs"] == "1", rights
        assert int(rights["Seccomp_filters"]) == int(own["Seccomp_filters"]) + 1, rights
        if sanitizers:
            continue  # LeakSanitizer needs more
        assert int(rights["CapInh"], 16) == 0, rights
        for kind in "CapPrm", "CapEff", "CapBnd":
            assert not int(rights[kind], 16) & ~KEPT, rights


def test_system_calls(bench):
    """Forbidden by default where all devices have been run under the filter, otherwise logged; not at all if configured so."""
    does = "end it" if bench.gateway.engine == "cpu" else "are in the kernel's log"
    assert bench.gateway.logged(f"cygnetd: seccomp: system calls that cygnetd does not need {does} from now on\n")
    with open("/proc/self/status") as status:
        own = re.search(r"Seccomp_filters:\t(\d+)", status.read())[1]
    with bench.gateway.configured("seccomp = no"), open(f"/proc/{bench.gateway.process.pid}/status") as status:
        assert f"Seccomp_filters:\t{own}\n" in status.read()


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
