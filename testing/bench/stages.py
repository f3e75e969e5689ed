# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures in which stages and functions a gateway's lcore spends its time: perf takes
samples by the clock, because a virtual machine may have no hardware counters."""
import collections
import fnmatch
import glob
import os
import re
import subprocess

from table import fault

RATE = 15000  # samples per second
SECONDS = 3
ENOUGH = 2000  # minimum number of samples; it is reached also with other load on the core

# The stage of a function of Cygnet, by its source file: names of functions change more often, and
# LTO renames and clones functions.
FILES = (
    ("port: frame into a buffer", "driver/source.c"),
    ("port: count and free", "driver/*.c"),
    ("crypto: driver and cipher", "ipsec-mb-gcm/*.c kernels/*.c"),
    ("crypto: batches, calls of the driver", "dataplane/crypto/*.c dataplane/crypto/*/*.c"),
    ("SA: state, limits, number or window", "esp/lifetime.c esp/mapping.c replay.c window.h window.c"),
    ("ESP and AH: headers, trailer, IV", "dataplane/esp/*.c"),
    ("known flows", "path/fast/*.c path/fast/*.h path/worker/flow.c"),
    ("stages", "dataplane/path/*.c dataplane/ip/*.c"),
    ("transmit: Ethernet, batch, hand-off", "path/worker/*.c host/neigh.c"),
    ("route lookups", "host/route.c host/fib.c host/local_addr.c"),
    ("SPD lookups", "spd.c selector.c tuple.c"),
    ("SAD lookup", "sad.c"),
    ("the loop", "dataplane/*.c dataplane/host/*.c dataplane/base/*.c"),
    ("SAD and SPD in memory", "lib/*.c"),
)

# Functions that consist mostly of code that the compiler has inlined from another file, and count as that file's.
INLINED = {"poll_wire": "dataplane/path/fast/receive.c", "turn": "dataplane/path/fast/receive.c"}

# The stage of other functions, without source file: the first pattern that matches "library function".
STAGES = (
    ("port: frame into a buffer", r"net_bench.* source"),
    ("port: count and free", r"net_bench|rte_pktmbuf_(free|detach)|mempool|free_pkts| rte_mbuf"),
    ("crypto: driver and cipher", r"libIPSec|ipsec_mb|crypto_|cryptodev|rte_crypto|drain_\w+_crypto|prep_process_group"),
    ("ESP and AH: headers, trailer, IV", r"esp_|librte_ipsec|ipsec_cqp|ipsec_process|ipsec_(in|out)bound|ipip"),
    ("route lookups", r"librte_fib|librte_rib|rte_lpm|librte_lpm|route[46]_|get_route|__rte_jhash|librte_hash"),
    ("SPD lookups", r"librte_acl|spd_lookup|check_sp|classify_pkt"),
    ("SAD lookup", r" sad_| \w*sa_(lookup|check)|librte_ipsec.*sad"),
    ("receive: checks of the frame", r"process_pkts|parse_ptype|raw_cksum|rte_eth_rx|librte_net\b|rx_callback"),
    ("transmit: neighbour, Ethernet, batch", r"rte_eth_tx|send_burst|prepare_tx|prepare_traffic|librte_ethdev"),
    ("TAPs", r"net_tap"),
    ("the loop", r"cygnetd (run|turn|work)[. ]|ipsec_poll_mode_worker|core_stats|main_loop|rte_timer|librte_eal"),
    ("C library", r"^(libc[.-]|ld-linux|libm[.-]|\[vdso)"),
    ("kernel", r"kernel|\[unknown\] "),
)
OTHER = "other"
RARE = 0.01  # share of a function from which it must have a stage
MOST = 0.05  # maximum share of all functions without a stage


def sources(gateway):
    """@return {(file name, function): source file} of functions with debugging information"""
    found = {}
    for program in (f"{gateway.build}/root/sbin/cygnetd", gateway.driver,
                    *glob.glob(f"{gateway.build}/root/lib/libcygnet.so*"),
                    *glob.glob(f"{gateway.build}/root/lib/dpdk/*.so")):
        lines = subprocess.run(["nm", "-l", "--defined-only", program], check=True, capture_output=True,
                               text=True).stdout
        for function, source in re.findall(r" [tTwW] (\S+)\t(\S+):\d+$", lines, re.MULTILINE):
            found[os.path.basename(program), function] = INLINED.get(function.split(".")[0], source)
    return found


def stage_of(library, function, source=None):
    for stage, patterns in FILES if source else ():
        if any(fnmatch.fnmatch(source, f"*/{pattern}") for pattern in patterns.split()):
            return stage
    for stage, pattern in STAGES:
        if re.search(pattern, f"{library} {function} "):
            return stage
    return OTHER


def cpu_times(pid):
    """@return {thread: ticks of user time}"""
    used = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat") as stat:
            used[tid] = int(stat.read().rsplit(")", 1)[1].split()[11])
    return used


def worker_thread(gateway, number):
    """The lcore's thread: the one that uses most CPU time during a run. (The main thread may have used
    more before.)"""
    before = cpu_times(gateway.process.pid)
    gateway.run(number, 0.2)
    after = cpu_times(gateway.process.pid)
    return max(after, key=lambda tid: after[tid] - before.get(tid, 0))


def record(gateway, number, path):
    """Record samples during a run."""
    with subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(RATE), "-g", "-t",
                           worker_thread(gateway, number), "-o", path, "--", "sleep", str(SECONDS)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as perf:
        gateway.run(number, SECONDS + 3)
        perf.wait()


def samples(path):
    """@return for each sample a list of (library, function) of its stack frames, innermost first"""
    script = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym,dso"], check=True,
                            capture_output=True, text=True).stdout
    for block in script.split("\n\n"):
        frames = []
        for line in block.splitlines():
            match = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            if match:
                frames.append((os.path.basename(match[2]), match[1]))
        if frames:
            yield frames


def caller(frames):
    """The innermost function of the gateway's program that called the sampled one."""
    for library, function in frames[1:]:
        if library in ("cygnetd", "ipsec-secgw") and not function.startswith("route_lookup"):
            return function
    return ""


def tally(path, source):
    """@param source  result of sources()
    @return {stage: share} and {(stage, function, caller): share}"""
    stages, functions = collections.Counter(), collections.Counter()
    for frames in samples(path):
        library, function = frames[0]
        stage = stage_of(library, function, source.get(frames[0]))
        if function == "[unknown]":
            function = library
        stages[stage] += 1
        functions[stage, function, caller(frames)] += 1
    total = sum(stages.values())
    if total < ENOUGH:
        fault(f"{total} samples: too few for a profile")
    return ({name: count / total for name, count in stages.items()},
            {name: count / total for name, count in functions.items()})


def unnamed(stages, functions):
    """@return lines about the functions that have no stage in FILES and STAGES"""
    shares = collections.Counter()
    for (stage, function, _), share in functions.items():
        if stage == OTHER:
            shares[function] += share
    missed = [f"{function} {100 * share:.1f} %" for function, share in shares.most_common() if share >= RARE]
    if missed or stages.get(OTHER, 0) >= MOST:
        missed = missed or [f"{function} {100 * share:.1f} %" for function, share in shares.most_common(8)]
        fault(f"without a stage in stages.py: {', '.join(missed)}")
        yield f"**Without a stage in stages.py: {', '.join(missed)}**"
        yield ""


def report(gateway, number, work, cycles):
    """@param cycles  per packet, measured without perf @return lines of Markdown"""
    path = os.path.join(work, "perf.data")
    record(gateway, number, path)
    stages, functions = tally(path, sources(gateway))
    yield f"{gateway.name}: {cycles:.0f} cycles per packet"
    yield ""
    yield from unnamed(stages, functions)
    yield "| stage | function, called by | cycles | share |"
    yield "|---|---|---|---|"
    for stage, share in sorted(stages.items(), key=lambda item: -item[1]):
        if share * cycles < 0.5:
            continue
        yield f"| **{stage}** | | **{share * cycles:.0f}** | **{100 * share:.1f} %** |"
        mine = sorted(((part, key) for key, part in functions.items() if key[0] == stage), reverse=True)
        for part, (_, function, by) in mine[:8]:
            if part * cycles >= 1:
                yield f"| | {function}{', ' + by if by else ''} | {part * cycles:.0f} | {100 * part:.1f} % |"
