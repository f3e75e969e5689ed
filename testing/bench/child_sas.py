#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples and report of child-sas.

child_sas.py sample NAME FILE {CHARON-PID KERNEL-TIMES CYGNETD-PID FILE-PREFIX}...
    write a sample to FILE: CPU time, memory and calls of charon and cygnetd, for each side
child_sas.py calls KERNEL-TIMES METHOD
    print the number of calls of a method of the plugin
child_sas.py share FILE FILE
    print the plugin's share of charon's CPU time between two samples, percent
child_sas.py report COUNT EACH LISTED SIDE FILE...
    print the page of the samples; SIDE is left, right, or empty for both
"""
import json
import os
import socket
import struct
import sys
import time

ROW = struct.Struct("16s4Q")  # struct method of kernel-times.c
SA, POLICY = 512, 192  # bytes in the file (cygnet.h)
SHARE = 10  # maximum share of the plugin in charon's CPU time while SAs are set up, percent


def methods(path):
    with open(path, "rb") as file:
        rows = ROW.iter_unpack(file.read())
        return {name.rstrip(b"\0").decode(): {"calls": calls, "cpu": cpu / 1e9,
                                              "elapsed": elapsed / 1e9, "longest": longest / 1e9}
                for name, calls, cpu, elapsed, longest in rows}


def process(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        anon = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
    # The clock ID of clock_getcpuclockid(3), which Python does not have.
    return {"cpu": time.clock_gettime(~int(pid) << 3 | 2), "memory": anon * 1024}


def telemetry(prefix, *commands):
    """Send commands to the telemetry socket of a DPDK process. @return the values of the answers"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.connect(f"/run/dpdk/{prefix}/dpdk_telemetry.v2")
        sock.recv(65536)
        for command in commands:
            sock.send(command.encode())
            yield from json.loads(sock.recv(65536)).values()


def crypto_session(prefix):
    """@return size of an SA's crypto sessions on all devices, bytes"""
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


def read(path, side=""):
    """Read a sample. @param side  left, right, or empty for both"""
    with open(path, encoding="ascii") as file:
        one = json.load(file)
    if side:
        one["sides"] = [one["sides"][("left", "right").index(side)]]
    return one


def grown(before, after, side, *keys):
    a, b = before["sides"][side], after["sides"][side]
    for key in keys:
        a, b = a[key], b[key]
    return b - a


def total(before, after, *keys):
    """The growth of a counter between two samples, summed over all sides."""
    return sum(grown(before, after, side, *keys) for side in range(len(after["sides"])))


def charon_cpu(before, after):
    """CPU time of charon between two samples, without that of measuring, seconds"""
    return (total(before, after, "charon", "cpu") -
            total(before, after, "methods", "measuring", "cpu"))


def of_net(name):
    """Whether a row is about the plugin's calls to charon's kernel-net interface"""
    return name.startswith("net: ")


def plugins(sample_):
    return [name for name in sample_["sides"][0]["methods"]
            if name != "measuring" and not of_net(name)]


def nets(sample_):
    return [name for name in sample_["sides"][0]["methods"] if of_net(name)]


def spent(before, after, names, what="cpu"):
    return sum(total(before, after, "methods", name, what) for name in names)


def share(before, after):
    """The plugin's share of charon's CPU time, percent"""
    return 100 * spent(before, after, plugins(after)) / charon_cpu(before, after)


def row(before, after, name):
    calls, cpu = spent(before, after, [name], "calls"), spent(before, after, [name])
    longest = max(side["methods"][name]["longest"] for side in after["sides"])
    if calls:
        print(f"| {name} | {calls:,} | {1e6 * cpu / calls:.1f} | {1e3 * longest:.1f} | "
              f"{cpu:.3f} | {100 * cpu / charon_cpu(before, after):.2f} % |")


def sum_row(before, after, what, names):
    cpu = spent(before, after, names)
    print(f"| **{what}** | | | | **{cpu:.3f}** | "
          f"**{100 * cpu / charon_cpu(before, after):.2f} %** |")


def table(before, after):
    """Print a table of the plugin's methods and jobs between two samples, summed over all sides."""
    own, net = plugins(after), nets(after)
    print("| method or job | calls | µs each | longest, ms | CPU, s | of charon's CPU |")
    print("|---|---|---|---|---|---|")
    for name in own:
        row(before, after, name)
    sum_row(before, after, "all", own)
    if spent(before, after, net, "calls"):
        for name in net:
            row(before, after, name)
        sum_row(before, after, "with kernel-net", own + net)
    print(f"\n{'Both charons together' if len(after['sides']) > 1 else 'This charon'} took "
          f"{charon_cpu(before, after):.1f} s of CPU, without the "
          f"{total(before, after, 'methods', 'measuring', 'cpu'):.2f} s that measuring took. "
          "By the clock, waiting included, the plugin took "
          f"{spent(before, after, own, 'elapsed'):.2f} s.")


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next(line.partition(":")[2].strip() for line in file
                     if line.startswith("model name"))
    load = os.getloadavg()
    return f"{os.cpu_count()} cores of {model}, load {load[0]:.0f}"


def report(count, each, listed, side, *paths):
    count, each, at = int(count), int(each), {}
    for path in paths:
        one = read(path, side)
        at[one["name"]] = one
    sides = range(len(at["idle"]["sides"]))

    def span(a, b):
        return at[b]["time"] - at[a]["time"]

    def memory(who):
        return sum(grown(at["idle"], at["counted"], side, who, "memory")
                   for side in sides) / len(sides)

    setup = span("idle", "set up")
    print(f"Both gateways on one machine: {machine()}.\n")
    print(f"- {count:,} CHILD_SAs in {-(-count // each):,} IKE_SAs, {2 * count:,} SAs and "
          f"{3 * count:,} policies per gateway: established in {setup:.1f} s, "
          f"{1e3 * setup / count:.2f} ms each.")
    print(f"- A ping through each CHILD_SA: all answered, in {span('listed', 'pinged'):.1f} s; "
          "every SA counts one packet.")
    print(f"- `cygnetctl --json show sad` lists the SAs in {listed} s (with jq to count them).")
    print(f"- All CHILD_SAs deleted in {span('counted', 'down'):.1f} s; both databases are empty.\n")
    print("## Set-up: the plugin's share of charon's CPU time\n")
    table(at["idle"], at["set up"])
    print("\n## Deletion: the plugin's share of charon's CPU time\n")
    table(at["counted"], at["down"])
    print("\n## Memory\n")
    print("| what | bytes |\n|---|---|")
    print(f"| an SA in the shared file | {SA} |\n| a policy in it | {POLICY} |")
    print(f"| a CHILD_SA in it: two SAs, three policies | {2 * SA + 3 * POLICY} |")
    print(f"| charon's heap, per CHILD_SA | {memory('charon') / count:.0f} |")
    print(f"| cygnetd's heap, per SA in use | {memory('cygnetd') / count / 2:.0f} |")
    print("| cygnetd's huge pages, sessions of an SA on all devices (allocated at the start) | "
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
