# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a gateway's lcore spends its time: perf samples it by the clock (a virtual
machine need not have counters), each sample counts for the function it hit."""
import collections
import os
import re
import subprocess

RATE = 15000  # samples a second
SECONDS = 3

# What a function belongs to: the first pattern that fits "library function".
STAGES = (
    ("port: frame into a buffer", r"net_bench.* source"),
    ("port: count and free", r"net_bench|rte_pktmbuf_free|librte_mempool"),
    ("crypto: driver and cipher", r"libIPSec|crypto_|cryptodev|rte_crypto|drain_\w+_crypto"),
    ("ESP: headers, trailer, IV", r"esp_out|esp_in|esp_aad|librte_ipsec|ipsec_cqp|ipsec_process"),
    ("route lookups", r"librte_fib|route_lookup|fib_lookup|rte_lpm|librte_lpm"),
    ("SPD lookups",
     r"spd_|tuple|hash_addr|hash_mix|selector|policy_find|packet_flow|packet_hides|librte_acl"),
    ("SAD lookup", r"sad_|sa_lookup"),
    ("policy and hand-over", r"plain_|policy|protect_out|hand_over|do_stage"),
    ("receive: checks of the frame",
     r"receive_|frame_check| prepare|packet_check|ttl|process_pkts|parse_ptype|raw_cksum"),
    ("SA: state, limits, number or window",
     r"protect |cygnet_sa|session_|too_long|within|replay|prepare_(in|out)|collect"),
    ("transmit: neighbour, Ethernet, batch", r"transmit|neigh|first_slot|flush|fragment|pending"),
    ("finish", r"protect_poll|crypt_poll|crypt_now|finish|crypt_add| put | release | sample | count "),
    ("TAPs", r"net_tap"),
    ("the loop", r"turn|worker|quiescent|inbox|sweep|main_loop"),
    ("kernel", r"kernel"),
)


def stage_of(library, function):
    for stage, pattern in STAGES:
        if re.search(pattern, f"{library} {function} "):
            return stage
    return "other"


def worker_thread(pid):
    """The lcore's: the one that has used most CPU time."""
    def used(tid):
        with open(f"/proc/{pid}/task/{tid}/stat") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[11])
    return max(os.listdir(f"/proc/{pid}/task"), key=used)


def record(gateway, number, path):
    """Sample while packets flow."""
    gateway.run(number, 0.2)
    with subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(RATE), "-g", "-t",
                           worker_thread(gateway.process.pid), "-o", path, "--", "sleep", str(SECONDS)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as perf:
        gateway.run(number, SECONDS + 3)
        perf.wait()


def samples(path):
    """@return for each sample the (library, function) of its frames, innermost first"""
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
    """Who, of the gateway's own functions, called what was hit."""
    for library, function in frames[1:]:
        if library in ("cygnetd", "ipsec-secgw") and not function.startswith("route_lookup"):
            return function
    return ""


def tally(path):
    """@return shares by stage, and by stage, function and caller"""
    stages, functions = collections.Counter(), collections.Counter()
    for frames in samples(path):
        library, function = frames[0]
        stage = stage_of(library, function)
        if function == "[unknown]":
            function = library
        stages[stage] += 1
        functions[stage, function, caller(frames)] += 1
    total = sum(stages.values())
    return ({name: count / total for name, count in stages.items()},
            {name: count / total for name, count in functions.items()})


def report(gateway, number, work, cycles):
    """@param cycles a packet, without perf @return lines of Markdown"""
    path = os.path.join(work, "perf.data")
    record(gateway, number, path)
    stages, functions = tally(path)
    yield f"{gateway.name}: {cycles:.0f} cycles a packet"
    yield ""
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
