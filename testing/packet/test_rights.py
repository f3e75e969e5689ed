# SPDX-License-Identifier: GPL-2.0-or-later
"""Rights that cygnetd gives up by itself, however it is started."""
import os

# CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK, CAP_SYS_ADMIN
KEPT = 1 << 12 | 1 << 13 | 1 << 14 | 1 << 21


def test_rights(bench):
    """Of each thread: four capabilities, none that a program could inherit, no_new_privs."""
    with open(f"{bench.gateway.build}/config.h") as config:
        sanitizers = "#define CYGNET_SANITIZERS 1" in config.read()
    tasks = f"/proc/{bench.gateway.process.pid}/task"
    for thread in os.listdir(tasks):
        with open(f"{tasks}/{thread}/status") as status:
            rights = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
        assert rights["NoNewPrivs"] == "1", rights
        if sanitizers:
            continue  # LeakSanitizer needs more
        assert int(rights["CapInh"], 16) == 0, rights
        for kind in "CapPrm", "CapEff", "CapBnd":
            assert not int(rights[kind], 16) & ~KEPT, rights
