#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What child-sas measures.

child_sas.py sample NAME FILE {CHARON-PID KERNEL-TIMES CYGNETD-PID FILE-PREFIX}...: of each side
child_sas.py calls KERNEL-TIMES METHOD
child_sas.py share FILE FILE: the plugin's of charon's CPU time between two samples, percent
child_sas.py report COUNT EACH LISTED FILE...
"""
import json
import os
import socket
import struct
import sys
import time

ROW = struct.Struct("16s4Q")  # struct method of kernel-times.c
SA, POLICY = 512, 192  # bytes in the file (cygnet.h)
SHARE = 5  # percent of charon's CPU time that setting up SAs may cost in the plugin


def methods(path):
    with open(path, "rb") as file:
        rows = ROW.iter_unpack(file.read())
        return {name.rstrip(b"\0").decode(): {"calls": calls, "cpu": cpu / 1e9,
                                              "elapsed": elapsed / 1e9, "longest": longest / 1e9}
                for name, calls, cpu, elapsed, longest in rows}


def process(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        anon = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
    # clock_getcpuclockid(3), which Python does not have.
    return {"cpu": time.clock_gettime(~int(pid) << 3 | 2), "memory": anon * 1024}


def telemetry(prefix, *commands):
    """What DPDK's own telemetry of a process answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.connect(f"/run/dpdk/{prefix}/dpdk_telemetry.v2")
        sock.recv(65536)
        for command in commands:
            sock.send(command.encode())
            yield from json.loads(sock.recv(65536)).values()


def crypto_session(prefix):
    """Bytes that a session takes, of the devices together."""
    names = next(telemetry(prefix, "/mempool/list"))
    pools = telemetry(prefix, *(f"/mempool/info,{name}" for name in names
                                if name.startswith("sessions")))
    return sum(pool["header_size"] + pool["elt_size"] + pool["trailer_size"] for pool in pools)


def sample(name, path, *sides):
    now = {"name": name, "time": time.monotonic(), "sides": []}
    for charon, times, cygnetd, prefix in zip(*[iter(sides)] * 4):
        now["sides"].append({"charon": process(charon), "cygnetd": process(cygnetd),
                             "methods": methods(times), "session": crypto_session(prefix)})
    with open(path, "w", encoding="ascii") as file:
        json.dump(now, file)


def read(path):
    with open(path, encoding="ascii") as file:
        return json.load(file)


def grown(before, after, side, *keys):
    a, b = before["sides"][side], after["sides"][side]
    for key in keys:
        a, b = a[key], b[key]
    return b - a


def total(before, after, *keys):
    """Of both sides."""
    return sum(grown(before, after, side, *keys) for side in range(len(after["sides"])))


def charon_cpu(before, after):
    """Without what measuring adds."""
    return (total(before, after, "charon", "cpu") -
            total(before, after, "methods", "measuring", "cpu"))


def plugins(sample_):
    return [name for name in sample_["sides"][0]["methods"] if name != "measuring"]


def share(before, after):
    """The plugin's of charon's CPU time, in percent."""
    cpu = sum(total(before, after, "methods", name, "cpu") for name in plugins(after))
    return 100 * cpu / charon_cpu(before, after)


def table(before, after):
    """The plugin's methods and jobs between two samples, of both sides together."""
    charon, cpus, waits = charon_cpu(before, after), 0, 0
    print("| method or job | calls | µs each | longest, ms | CPU, s | of charon's CPU |")
    print("|---|---|---|---|---|---|")
    for name in plugins(after):
        calls, cpu, elapsed = (total(before, after, "methods", name, what)
                               for what in ("calls", "cpu", "elapsed"))
        if not calls:
            continue
        longest = max(side["methods"][name]["longest"] for side in after["sides"])
        cpus += cpu
        waits += elapsed
        print(f"| {name} | {calls:,} | {1e6 * cpu / calls:.1f} | {1e3 * longest:.1f} | "
              f"{cpu:.3f} | {100 * cpu / charon:.2f} % |")
    print(f"| **all** | | | | **{cpus:.3f}** | **{100 * cpus / charon:.2f} %** |")
    print(f"\nBoth charons together took {charon:.1f} s of CPU, without the "
          f"{total(before, after, 'methods', 'measuring', 'cpu'):.2f} s that measuring took. "
          f"By the clock, waiting included, the plugin took {waits:.2f} s.")


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next(line.partition(":")[2].strip() for line in file
                     if line.startswith("model name"))
    load = os.getloadavg()
    return f"{os.cpu_count()} cores of {model}, load {load[0]:.0f}"


def report(count, each, listed, *paths):
    count, each, at = int(count), int(each), {}
    for path in paths:
        one = read(path)
        at[one["name"]] = one

    def span(a, b):
        return at[b]["time"] - at[a]["time"]

    def memory(who):
        return sum(grown(at["idle"], at["counted"], side, who, "memory") for side in (0, 1)) / 2

    setup = span("idle", "set up")
    print(f"Both gateways on one machine: {machine()}.\n")
    print(f"- {count:,} CHILD_SAs in {-(-count // each):,} IKE_SAs, {2 * count:,} SAs and "
          f"{3 * count:,} policies a gateway: up in {setup:.1f} s, "
          f"{1e3 * setup / count:.2f} ms each.")
    print(f"- A ping through each of them: all answered, in {span('listed', 'pinged'):.1f} s; "
          "every SA counts one packet.")
    print(f"- `cygnetctl --json show sad` lists them in {listed} s (with jq to count them).")
    print(f"- Down again in {span('counted', 'down'):.1f} s, both databases empty.\n")
    print("## Set-up: the plugin's share of charon's CPU time\n")
    table(at["idle"], at["set up"])
    print("\n## Taking down, of CPU time too\n")
    table(at["counted"], at["down"])
    print("\n## Memory\n")
    print("| what | bytes |\n|---|---|")
    print(f"| an SA in the shared file | {SA} |\n| a policy in it | {POLICY} |")
    print(f"| a CHILD_SA in it: two SAs, three policies | {2 * SA + 3 * POLICY} |")
    print(f"| charon's heap, a CHILD_SA | {memory('charon') / count:.0f} |")
    print(f"| cygnetd's heap, what an SA in use adds | {memory('cygnetd') / count / 2:.0f} |")
    print("| cygnetd's huge pages, an SA's session on each of its devices (taken at the start) | "
          f"{at['idle']['sides'][0]['session']} |")
    plugin = share(at["idle"], at["set up"])
    if plugin > SHARE:
        sys.exit(f"the plugin takes {plugin:.2f} percent of charon's CPU time, more than {SHARE}")


def main(command, *args):
    if command == "calls":
        print(methods(args[0])[args[1]]["calls"])
    elif command == "share":
        print(f"{share(*map(read, args)):.2f}")
    else:
        {"sample": sample, "report": report}[command](*args)


main(*sys.argv[1:])
