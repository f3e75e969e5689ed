# SPDX-License-Identifier: GPL-2.0-or-later
# What README.md and the book say of measurements, and from which CSV files: read by testing/bench/numbers, which gives
# rows(FILE, COLUMN=VALUE...). In PAGES {expression:format} is a number; each line is some text of the page, in which
# all blanks are alike, and lines that begin with a blank continue the one before.
import statistics
from math import ceil

RESULTS = "testing/bench/results/"
KERNELS = "kernels/bench/results/opencl-"
THROUGHPUT, TUNNELS, LIBIPSEC, ONE_SA = (RESULTS + name + ".csv" for name in "throughput tunnels libipsec one-sa".split())
H200, OTHER_HOST, BUSY, AUTO, SPREAD = (RESULTS + name + ".csv" for name in
                                       "h200 h200-other-host h200-busy h200-auto spread-h200".split())
ONE_SA_NOW, SHARED = RESULTS + "one-sa-other-host.csv", RESULTS + "shared-h200.csv"
SHARED_GPU = RESULTS + "shared-h200-gpu.csv"
MILLION = RESULTS + "tunnels-million.csv"
FACTS, SADB, SCHEDULER = RESULTS + "facts.csv", "lib/bench/sadb.csv", RESULTS + "figures/h200/fig9.csv"
FLOOD, LOADS = RESULTS + "flood.csv", RESULTS + "figures/h200/sslshader"
DROPS = RESULTS + "drops.csv"


def commit(path, **where):
    return rows(path, **where)[0]["commit"]


def column(path, name, **where):
    return [float(row[name]) for row in rows(path, **where)]


def median(path, name, **where):
    return statistics.median(column(path, name, **where))


# cygnetd beside ipsec-secgw, one worker
DRIVERS = {"aes128gcm16": {"device": "crypto_ipsec_mb_gcm", "peer_device": "crypto_aesni_gcm"},
           "aes128-sha1": {"device": "crypto_ipsec_mb_chain", "peer_device": "crypto_aesni_mb"}}


def one_worker(suite, direction, frame, name="ratio"):
    return median(THROUGHPUT, name, suite=suite, direction=direction, frame=frame, **DRIVERS[suite])


def gcm_out(frame, name="ratio"):
    return one_worker("aes128gcm16", "encap", frame, name)


def gcm_in(frame, name="ratio"):
    return one_worker("aes128gcm16", "decap", frame, name)


def cbc_out(frame, name="ratio"):
    return one_worker("aes128-sha1", "encap", frame, name)


def cbc_in(frame, name="ratio"):
    return one_worker("aes128-sha1", "decap", frame, name)


def same_drivers():
    return [float(row["ratio"]) for row in rows(THROUGHPUT) if row["device"] == row["peer_device"]]


def gcm_over_cbc():
    return [one_worker("aes128gcm16", direction, frame, "cygnetd_mpps") / one_worker("aes128-sha1", direction, frame, "cygnetd_mpps")
            for direction in ("encap", "decap") for frame in (512, 1408)]


def tunnels(direction, count, name="cygnetd_mpps"):
    return median(MILLION if count == 500000 else TUNNELS, name, suite="aes128gcm16", direction=direction, tunnels=count, frame=64)


# cygnetd beside VPP, one worker
def vpp(build, suite, direction, frame, name="ratio", count=1):
    return median(f"{RESULTS}vpp-{build}.csv", name, suite=suite, direction=direction, frame=frame, tunnels=count)


def beside_vpp(build, suite, direction, name="ratio"):
    """The text of four numbers: at 64, 512 and 1,408 B and IMIX"""
    return ", ".join(f"{{vpp({build!r}, {suite!r}, {direction!r}, {frame!r}, {name!r}):.2f}}" for frame in (64, 512, 1408, "imix"))


def many_beside_vpp(count, name="ratio"):
    return column(f"{RESULTS}vpp-native.csv", name, tunnels=count)


def libipsec(ports, name="ratio"):
    return median(LIBIPSEC, name, ports=ports)


def af_xdp_saves():
    return 100 * (1 - libipsec("net_af_xdp", "cygnet_ms_per_mb") / libipsec("net_af_packet", "cygnet_ms_per_mb"))


def nftables_saves():
    before, after = (statistics.median(fact("nftables drops the kernel's copy, " + when)) for when in ("before", "after"))
    return 100 * (1 - after / before)


# several workers, an H200
def whole(path, engine, workers, name="gbps", suite="aes128-sha1", direction="encap", frame=1024, spread="turn", cores=0):
    return median(path, name, engine=engine, workers=workers, suite=suite, direction=direction, frame=frame,
                  spread=spread, crypto_cores=cores)


def hashed(engine, frame, suite="aes128-sha1"):
    return whole(SPREAD, engine, 8, name="clock_gbps", suite=suite, frame=frame, spread="hash")


def shared(suite, workers, name="clock_gbps"):
    """One SA of many flows, shared by workers"""
    return whole(SHARED, "cpu", workers, name=name, suite=suite, spread="one SA")


def shared_gpu(suite, workers, name="clock_gbps", frame=1024):
    return whole(SHARED_GPU, "opencl", workers, name=name, suite=suite, frame=frame, spread="one SA")


def delays(path):
    return [whole(path, "opencl", workers, "mean_us_target") / 1000 for workers in (8, 10, 12)]


def lost(path, workers):
    return 100 * whole(path, "opencl", workers, "lost_target")


def sizes(engine, frame, suite="aes128-sha1"):
    return whole(AUTO, engine, 8, suite=suite, frame=frame)


def auto_over_best():
    kinds = {(row["suite"], row["direction"], row["frame"]) for row in rows(AUTO, engine="auto")}
    rate = lambda engine, kind: whole(AUTO, engine, 8, suite=kind[0], direction=kind[1], frame=kind[2])
    return [rate("auto", kind) / max(rate("cpu", kind), rate("opencl", kind)) for kind in kinds]


def one_sa(suite, frame, cores=0, engine="cpu"):
    return whole(ONE_SA, engine, 1, suite=suite, frame=frame, spread="one SA", cores=cores)


def light(engine):
    return [median(LOADS + file, "us", load="light", engine=engine, share="0.5") for file in (".csv", "-8-workers.csv")]


def flood_most(kind, workers):
    return median(FLOOD, "most_mpps", workers=workers, flood=kind)


def flood_losses(workers):
    kinds = {row["flood"] for row in rows(FLOOD)}
    return [100 * median(FLOOD, "lost", workers=workers, flood=kind) for kind in kinds]


def flood_lost(workers):
    return max(flood_losses(workers))


def dropped(kind, name="cygnetd_cycles"):
    return median(DROPS, name, flood=kind)


def drop_lost(kind, of="cygnetd"):
    return 100 * dropped(kind, f"{of}_lost")


# crypto_opencl
ALL, THREAD = ("cbc-sha1", "gcm", "chacha"), "crypto_opencl,launches=auto"


def bench(file, device, name="gbps", **where):
    return column(KERNELS + file + ".csv", name, device=device, **where)


def four_lcores(device, name, *algorithms):
    """1,024 to 4,096 bytes"""
    return [float(row[name]) for row in rows(KERNELS + "h200.csv", device=device, lcores=4, packets=4096)
            if row["algorithm"] in algorithms and int(row["bytes"]) <= 4096]


def one_lcore(device, *algorithms, files=("h200", "h200-other-host")):
    """On both hosts, 1,024 bytes"""
    return [value for file in files for algorithm in algorithms
            for value in bench(file, device, algorithm=algorithm, bytes=1024, lcores=1)]


def opencl_lcore():
    """launches=auto was the default of the second host's commit."""
    return one_lcore(THREAD, *ALL, files=["h200"]) + one_lcore("crypto_opencl", *ALL, files=["h200-other-host"])


def pocl(algorithm):
    return [statistics.median(mine / theirs for mine, theirs in zip(
        bench("pocl", "crypto_opencl,memory=" + memory, algorithm=algorithm, bytes=1024),
        bench("pocl", "crypto_openssl", algorithm=algorithm, bytes=1024))) for memory in ("svm", "persistent", "staged")]


def launch(memory):
    return statistics.median(bench("pocl", f"crypto_opencl,memory={memory},wait_us=0", "us", algorithm="launch"))


def scheduler(layer):
    return median(SCHEDULER, "over_none", layer=layer, lengths="random", level="all")


# the shared file, charon
def sadb(what, entries, name="lookup_ns"):
    return median(SADB, name, what=what, entries=entries)


def most(name, what=None):
    return max(float(row[name]) for row in rows(SADB) if row[name] and row["what"].startswith(what))


def fact(what):
    return column(FACTS, "value", what=what)


def whose(what):
    return commit(FACTS, what=what)


CHILD_SAS, SHARE = "10000 CHILD_SAs: established", "plugin's share of charon's CPU time"
RESTARTED, CHARON, TAKEOVER = "silence: cygnetd restarted", "silence: charon restarted", "silence: takeover"
BESIDE, FILTER, PART = "silence: restart, beside the takeover", "filter of system calls: a call", "filter of system calls: share of a packet"
FOUR_NOW, ONE_NOW = "crypto_opencl, 1,024 B, a thread launches, 4 lcores", "crypto_opencl, 1,024 B, a thread launches, 1 lcore"
PKEYS, HAND_OFF, OTHERS = "pkeys: open and close, cycles", "a worker's time to hand off a packet's crypto", "crypto_opencl, 1,024 B, other hosts"


GCM, CBC, MPPS, GBPS = "aes128gcm16", "aes128-sha1", "cygnetd_mpps", "cygnetd_gbps"
HUGE, OWN, LOST = "memory: default huge pages", "hostile IPv4: its own flow", "lost pings of 920 on Debian 13"


def own_time():
    return 1024 * 8 / one_sa("aes128gcm16", 1024)


def balance():
    with_, without = fact("uneven traffic with balance"), fact("uneven traffic without balance")
    return [a / b for a, b in zip(with_, without)]


def libipsec_range():
    rates = column(LIBIPSEC, "cygnet_mbps")
    return min(rates) / 1000, max(rates) / 1000


# All rows with digits of the tables of these pages are measurements.
TABLES = ["README.md", "docs/measurements.md", "docs/sizing.md"]
PAGES = {}
PAGES["README.md"] = """
| packets per second beside VPP compiled for the machine, one worker, AES-128-GCM, 64, 512, 1,408 B, out; in |
 {vpp("native", GCM, "encap", 64):.2f}, {vpp("native", GCM, "encap", 512):.2f}, {vpp("native", GCM, "encap", 1408):.2f};
 {vpp("native", GCM, "decap", 64):.2f}, {vpp("native", GCM, "decap", 512):.2f}, {vpp("native", GCM, "decap", 1408):.2f} times |
| packets per second beside DPDK's `ipsec-secgw`, one lcore, AES-128-GCM, outbound, 64, 512, 1,408 B |
 {gcm_out(64):.2f}, {gcm_out(512):.2f}, {gcm_out(1408):.2f} times |
| TCP through two gateways, beside strongSwan's kernel-libipsec | {libipsec("net_af_xdp"):.1f} times with AF_XDP ports |
| `cygnetd` with an NVIDIA H200, 8 workers, AES-128-CBC+HMAC-SHA1, 1,024 B, outbound |
 {whole(BUSY, "opencl", 8):.0f} Gbps on a busy host, {whole(H200, "opencl", 8):.0f} on a quiet one, of an earlier commit |
| SAD lookup with 1,000 and 1,000,000 SAs | {sadb("SAs", 1000):.0f} and {sadb("SAs", 1000000):.0f} ns |
| 10,000 CHILD_SAs of one charon, both gateways on two cores | up in {min(fact(CHILD_SAS)):.1f} to {max(fact(CHILD_SAS)):.1f} s |
"""
PAGES["docs/measurements.md"] = """
| packets per second, times DPDK's `ipsec-secgw` on one lcore; 64, 512, 1,408 B; `cygnetd` with its own crypto drivers,
 the peer with DPDK's. AES-128-GCM out | {gcm_out(64):.2f}, {gcm_out(512):.2f}, {gcm_out(1408):.2f} | EPYC, [results](../testing/bench/results/README.md) | {commit(THROUGHPUT)} |
| AES-128-GCM in | {gcm_in(64):.2f}, {gcm_in(512):.2f}, {gcm_in(1408):.2f} | | |
| AES-128-CBC+HMAC-SHA1 out | {cbc_out(64):.2f}, {cbc_out(512):.2f}, {cbc_out(1408):.2f} | | |
| AES-128-CBC+HMAC-SHA1 in | {cbc_in(64):.2f}, {cbc_in(512):.2f}, {cbc_in(1408):.2f} | | |
| the same with one crypto driver for both, every size, mix and direction | {min(same_drivers()):.2f} to {max(same_drivers()):.2f} | | |
| 1,000 SAs, AES-128-GCM out, 64 B, times `ipsec-secgw` | {tunnels("encap", 1000, "ratio"):.2f} | EPYC, the same page | {commit(TUNNELS)} |
""" + f"""\
| packets per second, times VPP's (26.10-rc0, b575ec2c, compiled for the machine), one worker, one tunnel; 64, 512, 1,408 B, IMIX.
 AES-128-GCM out | {beside_vpp("native", "aes128gcm16", "encap")} | EPYC, the same page | {{commit(RESULTS + "vpp-native.csv")}} |
| AES-128-GCM in | {beside_vpp("native", "aes128gcm16", "decap")} | | |
| without what makes and frees packets, in both programs: AES-128-GCM out; in | {beside_vpp("native", "aes128gcm16", "encap", "ratio_without")};
 {beside_vpp("native", "aes128gcm16", "decap", "ratio_without")} | | |
| without VPP's alone: AES-128-GCM out; in | {beside_vpp("native", "aes128gcm16", "encap", "ratio_without_peers")};
 {beside_vpp("native", "aes128gcm16", "decap", "ratio_without_peers")} | | |
| AES-128-CBC+HMAC-SHA1 out; in | {beside_vpp("native", "aes128-sha1", "encap")}; {beside_vpp("native", "aes128-sha1", "decap")} | | |
| AES-128-CBC+HMAC-SHA256 out; in | {beside_vpp("native", "aes128-sha256", "encap")}; {beside_vpp("native", "aes128-sha256", "decap")} | | |
| 1,000 tunnels, four suites, both directions | {{min(many_beside_vpp(1000)):.2f}} to {{max(many_beside_vpp(1000)):.2f}} | | |
| 10,000 tunnels, the same | {{min(many_beside_vpp(10000)):.2f}} to {{max(many_beside_vpp(10000)):.2f}} | | |
| both without AVX-512, AES-128-GCM out; in | {beside_vpp("without-avx512", "aes128gcm16", "encap")};
 {beside_vpp("without-avx512", "aes128gcm16", "decap")} | | {{commit(RESULTS + "vpp-without-avx512.csv")}} |
| the same VPP on the host of an H200, AES-128-GCM out; in | {beside_vpp("xeon", "aes128gcm16", "encap")};
 {beside_vpp("xeon", "aes128gcm16", "decap")} | H200, the same page | {{commit(RESULTS + "vpp-xeon.csv")}} |
| the same, AES-128-CBC+HMAC-SHA1 out; in | {beside_vpp("xeon", "aes128-sha1", "encap")}; {beside_vpp("xeon", "aes128-sha1", "decap")} | | |
""" + """\
| {libipsec("net_af_xdp"):.1f} with net_af_xdp ports, {libipsec("net_af_packet"):.1f} with net_af_packet |
 EPYC, [libipsec.md](../testing/bench/results/libipsec.md) | {commit(LIBIPSEC)} |
| one SA, one worker, 1,408 B: AES-128-CBC+HMAC-SHA1 | {one_sa("aes128-sha1", 1408):.0f} Gbps; {one_sa("aes128-sha1", 1408, 8):.0f}
 with 8 crypto cores; {one_sa("aes128-sha1", 1408, 0, "opencl"):.0f} with the GPU | H200, [one-sa.md](../testing/bench/results/one-sa.md) | {commit(ONE_SA)} |
| one SA, one worker, 1,408 B: AES-128-GCM, without crypto cores | {one_sa("aes128gcm16", 1408):.0f} Gbps | | |
| one SA shared by 8 workers, 1,024 B, polled; by the clock: AES-128-GCM; AES-128-CBC+HMAC-SHA1 |
 {shared(GCM, 8, "polled_gbps"):.0f}, {shared(GCM, 8):.0f} Gbps; {shared(CBC, 8, "polled_gbps"):.0f}, {shared(CBC, 8):.0f} | H200, busy host, [spread.md](../testing/bench/results/spread.md) | {commit(SHARED)} |
| the same with the GPU |
 {shared_gpu(GCM, 8, "polled_gbps"):.0f}, {shared_gpu(GCM, 8):.0f} Gbps; {shared_gpu(CBC, 8, "polled_gbps"):.0f}, {shared_gpu(CBC, 8):.0f} | | {commit(SHARED_GPU)} |
| one SA on a busy host, one worker: AES-128-CBC+HMAC-SHA1, with 4 crypto cores, with the GPU; AES-128-GCM | {whole(ONE_SA_NOW, "cpu", 1, frame=1408, spread="one SA"):.0f}, {whole(ONE_SA_NOW, "cpu", 1, frame=1408, spread="one SA", cores=4):.0f},
 {whole(ONE_SA_NOW, "opencl", 1, frame=1408, spread="one SA"):.0f}; {whole(ONE_SA_NOW, "cpu", 1, suite=GCM, frame=1408, spread="one SA"):.0f} Gbps | | {commit(ONE_SA_NOW)} |
| SAD lookup, 1,000 and 1,000,000 SAs, random order | {sadb("SAs", 1000):.0f} and {sadb("SAs", 1000000):.0f} ns | Xeon, [bench-sadb](../lib/bench/results.md) | {commit(SADB)} |
| SPD lookup, 1,000 and 1,000,000 disjoint policies, random order | {sadb("policies /24", 1000):.0f} and {sadb("policies /24", 1000000):.0f} ns | | |
| SPD lookup of other peers' flows, beside a peer that has chosen 49,152 policies to make lookups slow |
 {sadb("hostile IPv4: other peers", 65536)/1000:.1f} µs; IPv6 {sadb("hostile IPv6: other peers", 65536)/1000:.1f} µs | | |
| of that peer's own flow | {sadb("hostile IPv4: its own flow", 65536)/1e6:.1f} ms: {sadb("hostile IPv4: its own flow", 65536)/16384:.0f}
 ns for each of its 16,384 policies of the direction | | |
| installing an SA; a policy | at most {most("install_us", "SAs"):.1f} µs; {most("install_us", "policies"):.1f} µs | | |
| shared file for 65,536 SAs and as many policies | {fact("memory: a file for 65536 SAs and policies")[0]:.0f} MiB | | |
| 10,000 CHILD_SAs of one charon, both gateways on two cores | up in {min(fact(CHILD_SAS)):.1f} to {max(fact(CHILD_SAS)):.1f} s |
 EPYC, [child-sas.md](../testing/bench/results/child-sas.md) | {whose(CHILD_SAS)} |
| the plugin's share of charon's CPU time meanwhile | {min(fact(SHARE)):.1f} to {max(fact(SHARE)):.1f} percent | | {whose(SHARE)} |
| GPU with 8, 10, 12 workers and a thread that launches, ports polled, quiet host | {whole(H200, "opencl", 8):.0f}, {whole(H200, "opencl", 10):.0f},
 {whole(H200, "opencl", 12):.0f} Gbps | H200, [h200.md](../testing/bench/results/h200.md) | {commit(H200)} |
| the same, another host | {whole(OTHER_HOST, "opencl", 8):.0f}, {whole(OTHER_HOST, "opencl", 10):.0f}, {whole(OTHER_HOST, "opencl", 12):.0f} Gbps | | {commit(OTHER_HOST)} |
| the same, busy host | {whole(BUSY, "opencl", 8):.0f}, {whole(BUSY, "opencl", 10):.0f}, {whole(BUSY, "opencl", 12):.0f} Gbps | | {commit(BUSY)} |
| CPU engine (`crypto_ipsec_mb_chain`) with 8 and 14 workers, busy host | {whole(BUSY, "cpu", 8):.0f} and {whole(BUSY, "cpu", 14):.0f} Gbps | | |
| offered by the clock at 200 Gbps, GPU with 8, 10, 12 workers, quiet host | {min(delays(H200)):.2f} to {max(delays(H200)):.2f} ms on average;
 {lost(H200, 8):.2g}, {lost(H200, 10):.2g}, {lost(H200, 12):.2g} percent lost | | {commit(H200)} |
| offered by the clock, another host | {min(delays(OTHER_HOST)):.2f} to {max(delays(OTHER_HOST)):.2f} ms; {lost(OTHER_HOST, 8):.2g}, {lost(OTHER_HOST, 10):.2g}, {lost(OTHER_HOST, 12):.2g} percent lost | | {commit(OTHER_HOST)} |
| 8 workers, AES-128-CBC+HMAC-SHA1 out, packets spread by a hash of their addresses, by the clock: GPU, 1,024 B; CPU, 1,408 B |
 {hashed("opencl", 1024):.0f} Gbps; {hashed("cpu", 1408):.0f} | H200, [spread.md](../testing/bench/results/spread.md) | {commit(SPREAD)} |
| `engine = auto`, 8 workers, by size, mix and direction of AES-CBC+HMAC-SHA1 and AES-GCM, times the better of CPU and GPU alone |
 {min(auto_over_best()):.2f} to {max(auto_over_best()):.2f} | | {commit(AUTO)} |
| mbuf to mbuf, 4 lcores, all defaults, AES-128-CBC+HMAC-SHA1, 1,024 to 4,096 B | {min(four_lcores("crypto_opencl", "gbps", "cbc-sha1")):.0f} to {max(four_lcores("crypto_opencl", "gbps", "cbc-sha1")):.0f} Gbps at
 {min(four_lcores("crypto_opencl", "us", "cbc-sha1")):.0f} to {max(four_lcores("crypto_opencl", "us", "cbc-sha1")):.0f} µs on average | H200, quiet host, [results.md](../kernels/bench/results.md) | {commit(KERNELS + "h200.csv")} |
| with a thread that launches, AES-128-GCM and ChaCha20-Poly1305 too | {min(four_lcores(THREAD, "gbps", *ALL)):.0f} to {max(four_lcores(THREAD, "gbps", *ALL)):.0f}
 Gbps at {min(four_lcores(THREAD, "us", *ALL)):.0f} to {max(four_lcores(THREAD, "us", *ALL)):.0f} µs | | |
| one lcore, 1,024 B | {min(opencl_lcore()):.0f} to {max(opencl_lcore()):.0f} Gbps (crypto_aesni_mb without AES-GCM {min(one_lcore("crypto_aesni_mb", "cbc-sha1", "chacha")):.0f} to
 {max(one_lcore("crypto_aesni_mb", "cbc-sha1", "chacha")):.0f}; crypto_ipsec_mb_gcm {min(one_lcore("crypto_ipsec_mb_gcm", "gcm")):.0f} to
 {max(one_lcore("crypto_ipsec_mb_gcm", "gcm")):.0f}) | | {commit(KERNELS + "h200.csv")}, {commit(KERNELS + "h200-other-host.csv")} |
| AES-128-CBC+HMAC-SHA1, 1,024 B, on other hosts | {min(fact(OTHERS)):.0f} to {max(fact(OTHERS)):.0f} Gbps | | {whose(OTHERS)} |
| the same with a thread that launches, busy host: 4 lcores, one lcore | {min(fact(FOUR_NOW)):.0f} to {max(fact(FOUR_NOW)):.0f}, {min(fact(ONE_NOW)):.0f} to {max(fact(ONE_NOW)):.0f} Gbps | | {whose(FOUR_NOW)} |
| the kernel alone, AES-128-CBC+HMAC-SHA1, 16,384 packets of 1,024 B |
 {bench("h200-kernel", "kernel", algorithm="AES-CBC+HMAC-SHA1 encrypt")[0]:,.0f} Gbps | | {commit(KERNELS + "h200-kernel.csv")} |
| PIPSEA's scheduler, times no scheduling, six algorithms and lengths at random | kernel alone {scheduler("kernel"):.1f}; through the driver {scheduler("driver"):.2f} | | {commit(SCHEDULER)} |
| on PoCL, times crypto_openssl, 1,024 B, one lcore, all ways to memory | AES-128-CBC+HMAC-SHA1 {min(pocl("cbc-sha1")):.2f} to {max(pocl("cbc-sha1")):.2f},
 AES-128-GCM {statistics.median(pocl("gcm")):.2f} | EPYC, the same page | {commit(KERNELS + "pocl.csv")} |
| on PoCL, one packet of 64 B: SVM, persistent, staged | {launch("svm"):.0f}, {launch("persistent"):.0f} and {launch("staged"):.0f} µs | | |
"""
PAGES["docs/sizing.md"] = """
tunnel (`throughput.csv`, {commit(THROUGHPUT)}; million packets per second
| AES-128-GCM, out | {gcm_out(64, MPPS):.1f}, {gcm_out(64, GBPS):.1f} | {gcm_out(512, MPPS):.1f}, {gcm_out(512, GBPS):.0f} |
 {gcm_out(1408, MPPS):.1f}, {gcm_out(1408, GBPS):.0f} | {gcm_out("imix", MPPS):.1f}, {gcm_out("imix", GBPS):.0f} |
| AES-128-GCM, in | {gcm_in(64, MPPS):.1f}, {gcm_in(64, GBPS):.1f} | {gcm_in(512, MPPS):.1f}, {gcm_in(512, GBPS):.0f} |
 {gcm_in(1408, MPPS):.1f}, {gcm_in(1408, GBPS):.0f} | {gcm_in("imix", MPPS):.1f}, {gcm_in("imix", GBPS):.0f} |
| AES-128-CBC with HMAC-SHA1, out | {cbc_out(64, MPPS):.1f}, {cbc_out(64, GBPS):.1f} | {cbc_out(512, MPPS):.1f}, {cbc_out(512, GBPS):.0f} |
 {cbc_out(1408, MPPS):.1f}, {cbc_out(1408, GBPS):.0f} | {cbc_out("imix", MPPS):.1f}, {cbc_out("imix", GBPS):.0f} |
| AES-128-CBC with HMAC-SHA1, in | {cbc_in(64, MPPS):.1f}, {cbc_in(64, GBPS):.1f} | {cbc_in(512, MPPS):.1f}, {cbc_in(512, GBPS):.0f} |
 {cbc_in(1408, MPPS):.1f}, {cbc_in(1408, GBPS):.0f} | {cbc_in("imix", MPPS):.1f}, {cbc_in("imix", GBPS):.0f} |
for minutes at a time packets took {fact("other guests of the host: more cycles per packet")[0]:.0f} percent more cycles
TCP reached {libipsec_range()[0]:.1f} to {libipsec_range()[1]:.1f} Gbps with `net_af_packet` and `net_af_xdp` (`libipsec.csv`, {commit(LIBIPSEC)})
- AES-128-GCM has {min(gcm_over_cbc()):.1f} to {max(gcm_over_cbc()):.1f} times the rate of AES-128-CBC with HMAC-SHA1 at 512 and 1,408 bytes.
one SA of 64 flows, 1,024 B, has {shared(GCM, 8):.0f} Gbps with 8 workers by the clock, AES-GCM, and {shared(GCM, 1):.0f} with one;
 with AES-CBC and HMAC-SHA1 {shared(CBC, 8):.0f} and {shared(CBC, 1):.0f} (`shared-h200.csv`, {commit(SHARED)}
With its GPU it has {shared_gpu(GCM, 8):.0f} and {shared_gpu(GCM, 1):.0f}; {shared_gpu(CBC, 8):.0f} and {shared_gpu(CBC, 1):.0f} (`shared-h200-gpu.csv`, {commit(SHARED_GPU)}
outbound, Gbps (`one-sa.csv`, {commit(ONE_SA)}
| AES-128-CBC with HMAC-SHA1, 1,024 B | {one_sa(CBC, 1024):.1f} | {one_sa(CBC, 1024, 1):.1f} | {one_sa(CBC, 1024, 2):.1f} | {one_sa(CBC, 1024, 4):.1f} | {one_sa(CBC, 1024, 8):.1f} |
| the same, 1,408 B | {one_sa(CBC, 1408):.1f} | {one_sa(CBC, 1408, 1):.1f} | {one_sa(CBC, 1408, 2):.1f} | {one_sa(CBC, 1408, 4):.1f} | {one_sa(CBC, 1408, 8):.1f} |
| AES-128-GCM, 1,024 B | {one_sa(GCM, 1024):.1f} | {one_sa(GCM, 1024, 1):.1f} | {one_sa(GCM, 1024, 2):.1f} | {one_sa(GCM, 1024, 4):.1f} | {one_sa(GCM, 1024, 8):.1f} |
| AES-128-GCM, 1,408 B | {one_sa(GCM, 1408):.1f} | {one_sa(GCM, 1408, 1):.1f} | {one_sa(GCM, 1408, 2):.1f} | {one_sa(GCM, 1408, 4):.1f} | {one_sa(GCM, 1408, 8):.1f} |
lost (`flood.csv`, {commit(FLOOD)}, 16 virtual cores
| ESP for unknown SPIs | {flood_most("esp", 1):.2g} | {flood_most("esp", 2):.2g} | {flood_most("esp", 4):.2g} | {flood_most("esp", 8):.2g} | {flood_most("esp", 12):.2g} |
| IKE_SA_INIT | {flood_most("ike", 1):.2g} | {flood_most("ike", 2):.2g} | {flood_most("ike", 4):.2g} | {flood_most("ike", 8):.2g} | {flood_most("ike", 12):.2g} |
| fragments | {flood_most("fragments", 1):.2g} | {flood_most("fragments", 2):.2g} | {flood_most("fragments", 4):.2g} | {flood_most("fragments", 8):.2g} | {flood_most("fragments", 12):.2g} |
| ARP | {flood_most("arp", 1):.2g} | {flood_most("arp", 2):.2g} | {flood_most("arp", 4):.2g} | {flood_most("arp", 8):.2g} | {flood_most("arp", 12):.2g} |
lose while {dropped("esp", "flood_mpps"):.0f} million such frames a second come (`drops.csv`, {commit(DROPS)}, one core of an
 AMD EPYC, 2.6 GHz, which other programs used as well; medians of {dropped("esp", "rounds"):.0f} rounds in turn)
| a packet of ESP for an unknown SPI | {dropped("esp", "other_cycles"):.0f} | {dropped("esp"):.0f} | {drop_lost("esp", "other"):.2g} | {drop_lost("esp"):.2g} |
| the same in UDP | {dropped("natt", "other_cycles"):.0f} | {dropped("natt"):.0f} | {drop_lost("natt", "other"):.2g} | {drop_lost("natt"):.2g} |
| a message IKE_SA_INIT | {dropped("ike", "other_cycles"):.0f} | {dropped("ike"):.0f} | {drop_lost("ike", "other"):.2g} | {drop_lost("ike"):.2g} |
| a first fragment | {dropped("fragments", "other_cycles"):.0f} | {dropped("fragments"):.0f} | {drop_lost("fragments", "other"):.2g} | {drop_lost("fragments"):.2g} |
| an ARP request | {dropped("arp", "other_cycles"):.0f} | {dropped("arp"):.0f} | {drop_lost("arp", "other"):.2g} | {drop_lost("arp"):.2g} |
| a packet of plaintext that policy drops | {dropped("plaintext", "other_cycles"):.0f} | {dropped("plaintext"):.0f} | {drop_lost("plaintext", "other"):.2g} | {drop_lost("plaintext"):.2g} |
| a frame without IP | {dropped("junk", "other_cycles"):.0f} | {dropped("junk"):.0f} | {drop_lost("junk", "other"):.2g} | {drop_lost("junk"):.2g} |
drops {3000 / dropped("esp"):.0f} million frames a second of ESP for unknown SPIs, and {3000 / dropped("ike"):.0f} million of IKE_SA_INIT.
with 10 million its tunnels lose {min(flood_losses(1)):.0f} to {max(flood_losses(1)):.0f} percent
million packets per second (`tunnels.csv`, {commit(TUNNELS)})
| out | {tunnels("encap", 2):.1f} | {tunnels("encap", 64):.1f} | {tunnels("encap", 1000):.1f} | {tunnels("encap", 10000):.1f} | {tunnels("encap", 100000):.1f} | {tunnels("encap", 500000):.1f} |
| in | {tunnels("decap", 2):.1f} | {tunnels("decap", 64):.1f} | {tunnels("decap", 1000):.1f} | {tunnels("decap", 10000):.1f} | {tunnels("decap", 100000):.1f} | {tunnels("decap", 500000):.1f} |
charon sets up a CHILD_SA in {fact("10000 CHILD_SAs: each")[0]:.2f} ms, with both gateways on two cores: 10,000 in {fact(CHILD_SAS)[0]:.1f} s
 ([child-sas.md](../testing/bench/results/child-sas.md), {whose(CHILD_SAS)}).
| an SA in the shared file; a policy | {fact("memory: an SA")[0]:.0f}; {fact("memory: a policy")[0]:.0f} | `child-sas.md`, {whose("memory: an SA")} |
| shared file for 65,536 SAs and as many policies | {fact("memory: a file for 65536 SAs and policies")[0]:.0f} MiB | `lib/bench/results.md`, {whose("memory: a file for 65536 SAs and policies")} |
| charon's heap, per CHILD_SA | {fact("memory: a CHILD_SA in charon")[0]:,.0f} | `child-sas.md`, {whose("memory: a CHILD_SA in charon")} |
| huge pages: sessions of an SA on all devices, allocated at the start | {fact("memory: sessions of an SA")[0]:,.0f} for each of `sessions` | `child-sas.md`, {whose("memory: sessions of an SA")} |
| huge pages: a flow | {fact("memory: a flow")[0]:.0f} for each of `flows`, per worker | `cygnetd.conf(5)`, {whose("memory: a flow")} |
| huge pages: the default configuration | about {fact(HUGE)[0]:.0f} MiB | `cygnetd(8)`, {whose(HUGE)} |
| huge pages: an MTU of 9000 | about {fact("memory: MTU 9000, a queue or TAP")[0]:.0f} MB for each queue and TAP, {fact("memory: MTU 9000, a worker")[0]:.0f} MB for each worker |
 `cygnetd.conf(5)`, {whose("memory: MTU 9000, a worker")} |
polled, Gbps (`h200-auto.csv`, {commit(AUTO)}):
| AES-128-CBC with HMAC-SHA1: CPU | {sizes("cpu", 64):.1f} | {sizes("cpu", 512):.0f} | {sizes("cpu", 1024):.0f} | {sizes("cpu", 1408):.0f} | {sizes("cpu", "imix"):.0f} |
| AES-128-CBC with HMAC-SHA1: GPU | {sizes("opencl", 64):.1f} | {sizes("opencl", 512):.0f} | {sizes("opencl", 1024):.0f} | {sizes("opencl", 1408):.0f} | {sizes("opencl", "imix"):.0f} |
| `engine = auto` | {sizes("auto", 64):.1f} | {sizes("auto", 512):.0f} | {sizes("auto", 1024):.0f} | {sizes("auto", 1408):.0f} | {sizes("auto", "imix"):.0f} |
| AES-128-GCM: CPU | {sizes("cpu", 64, GCM):.1f} | {sizes("cpu", 512, GCM):.0f} | {sizes("cpu", 1024, GCM):.0f} | {sizes("cpu", 1408, GCM):.0f} | {sizes("cpu", "imix", GCM):.0f} |
| AES-128-GCM: GPU | {sizes("opencl", 64, GCM):.1f} | {sizes("opencl", 512, GCM):.0f} | {sizes("opencl", 1024, GCM):.0f} | {sizes("opencl", 1408, GCM):.0f} | {sizes("opencl", "imix", GCM):.0f} |
at light load {min(light("opencl")):.0f} to {max(light("opencl")):.0f} µs at the median, where the CPU has {min(light("cpu")):.0f} to {max(light("cpu")):.0f} µs;
 `auto` has {min(light("auto")):.0f} to {max(light("auto")):.0f} µs there ([h200.md](../testing/bench/results/h200.md), {commit(LOADS + ".csv")}).
"""
PAGES["docs/tuning.md"] = """
- `net_af_xdp` takes {af_xdp_saves():.0f} percent less CPU time than `net_af_packet`
It saves {nftables_saves():.0f} percent of the CPU time.
"""
PAGES["docs/status.md"] = """
kernel-algorithms lost {min(fact(LOST)):.0f} to {max(fact(LOST)):.0f} of 920 pings
silence of {min(fact(RESTARTED)):.1f} to {max(fact(RESTARTED)):.1f} s between two loaded hosts
silence of {min(fact(TAKEOVER)):.0f} to {max(fact(TAKEOVER)):.0f} ms on two loaded cores
silence of {min(fact(CHARON)):.1f} to {max(fact(CHARON)):.1f} s until the tunnel is up again
| 10,000 CHILD_SAs of one charon | up in {min(fact(CHILD_SAS)):.1f} to {max(fact(CHILD_SAS)):.1f} s on two cores; the plugin takes {min(fact(SHARE)):.1f} to {max(fact(SHARE)):.1f}
 percent of charon's CPU time ([measurements.md](measurements.md)) |
{min(balance()):.1f} to {max(balance()):.1f} times with uneven traffic
a flood of frames that are dropped, {dropped("esp", "flood_mpps"):.0f} million a second at one worker of 2.6 GHz
the tunnels lose {drop_lost("esp"):.2g} percent of their packets with ESP for unknown SPIs, {drop_lost("plaintext"):.2g} with plaintext that policy drops;
 {drop_lost("ike"):.2g} with IKE_SA_INIT and {drop_lost("arp"):.2g} with ARP
of pings 10 ms apart none was answered for {fact("silence: upgrade of the packages")[0]:.0f} ms
"""
PAGES["docs/operations.md"] = """
Packets are lost until it forwards again: {min(fact(RESTARTED)):.1f} to {max(fact(RESTARTED)):.1f} s between two loaded hosts
{min(fact(TAKEOVER)):.0f} to {max(fact(TAKEOVER)):.0f} ms without a packet on two loaded cores, where a restart took {min(fact(BESIDE)):.1f} to {max(fact(BESIDE)):.0f} s.
"""
PAGES["docs/migration.md"] = f"""
Beside VPP compiled for the machine one worker reached {beside_vpp("native", "aes128gcm16", "encap")} times its packets per second outbound and
 {beside_vpp("native", "aes128gcm16", "decap")} times inbound
""" + """\
The same machine reached {libipsec("net_af_xdp"):.1f} times the rate of kernel-libipsec with `net_af_xdp` ports, and {libipsec("net_af_packet"):.1f} times with `net_af_packet`
"""
PAGES["docs/install.md"] = """
`cygnetd` needs about {fact(HUGE)[0]:.0f} MiB of huge pages with the default configuration.
"""
PAGES["docs/security.md"] = """
those for its own addresses take about {sadb(OWN, 65536)/16384:.0f} ns for each of its policies of the direction whose prefixes cover them,
 {sadb(OWN, 65536)/1e6:.1f} ms if a peer
stay below {ceil(sadb("hostile IPv6: other peers", 65536)/1000):.0f} µs
at most {flood_lost(12):.1f} percent with twelve workers, up to {flood_lost(1):.0f} percent with one.
costs charon an IKE_SA ({fact("memory: an IKE_SA of charon that is being negotiated")[0]:.0f} kB, measured)
The filter costs {min(fact(FILTER)):.0f} to {max(fact(FILTER)):.0f} ns per system call: {min(fact(PART)):.0f} to {max(fact(PART)):.0f} percent of a packet sent by AF_PACKET
 ({fact("a packet sent by AF_PACKET")[0]:.1f} µs on a machine
a worker that hands off crypto takes {fact(HAND_OFF)[0]:.0f} ns per packet, where with AES-GCM it does all work in {own_time():.0f} ns, crypto included
 (1,024 B, {one_sa(GCM, 1024):.1f} Gbps;
So a worker would have at most {own_time() / fact(HAND_OFF)[0]:.2f} of its rate with AES-GCM
Opening and closing them takes {min(fact(PKEYS)):.0f} to {max(fact(PKEYS)):.0f} cycles (2.1 GHz, {min(fact(PKEYS))/2.1:.0f} to {max(fact(PKEYS))/2.1:.0f} ns; an Intel
about {min(fact(PKEYS))/2.1/32:.0f} ns per packet in a burst of 32, but a quarter of the {own_time():.0f} ns if packets
"""

# Text with units that is no measurement: settings, limits, conditions.
OTHER = {
    "docs/quickstart.md": ["192 huge pages of 2 MiB"],
    "docs/security.md": ["5 million times", "in 52 million packets"],
    "docs/sizing.md": ["at most 0.1 percent of the tunnels' packets", "10 Gbps with small frames, 14.9 million a second"],
    "docs/tuning.md": ["more than 90 percent busy", "sleeps for some 50 µs", "at 100 Gbps", "at 10 million packets per second"],
}
