# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the crypto driver: operations through the cryptodev API, in a closed loop."""
import itertools

import kernel
from kernel import GRANULARITY, LEVELS, lengths
from picture import Picture
from programs import Case, Setting, median_row

WINDOW_OF_CPU = 256  # operations in flight per lcore
DEFAULT_CHUNK = 2304  # default chunk of the driver on a GPU, operations
ALGORITHMS = {"AES-CBC+HMAC-SHA1 (ENC)": "cbc-sha1,{}", "AES-CBC+HMAC-SHA1 (DEC)": "cbc-sha1,{},decrypt",
              "AES-CBC (ENC)": "cbc,{}", "AES-CBC (DEC)": "cbc,{},decrypt",
              "HMAC-SHA1 (ENC)": "sha1,{}", "HMAC-SHA1 (DEC)": "sha1,{},decrypt", "Mix": "mix,{}"}


def scheduled(programs, lcores=None, **arguments):
    """crypto_opencl with the paper's chunk, bins and scheduler, two chunks under way for each lcore"""
    chunk, bins = kernel.small(programs.options)
    arguments = {"chunk": chunk, "bins": bins, "sched": "all"} | arguments
    return Setting(programs.opencl(**arguments), lcores or programs.options.lcores, 2 * arguments["chunk"])


def processor(lcores):
    """intel-ipsec-mb on the CPU"""
    return Setting("crypto_aesni_mb", lcores, WINDOW_OF_CPU)


def by_argument(programs, argument, choices, column):
    """Measure a random mix of the six algorithms, for each value of an argument of the driver."""
    chunk, bins = kernel.small(programs.options)
    facts = {"layer": "driver", "level": "all", "chunk": chunk, "bins": bins, "granularity": GRANULARITY}
    yield from programs.measure([
        Case(facts | {"lengths": size, column: choice}, scheduled(programs, **{argument: choice}), f"mix,{size}")
        for size in (["imix"] if programs.options.quick else ["random", "imix"]) for choice in choices])


def fig9(programs):
    """the scheduler's four levels, six algorithms at random"""
    none = {}  # rows of level "none", which come first
    for row in itertools.chain(kernel.fig9(programs), by_argument(
            programs, "sched", LEVELS[::3] if programs.options.quick else LEVELS, "level")):
        if row["level"] == "none":
            none[row["layer"], row["lengths"]] = row["gbps"]
        base = none.get((row["layer"], row["lengths"]))
        yield row | {"over_none": row["gbps"] / base if base else ""}


fig9.columns = [*kernel.MIX_COLUMNS, "over_none"]
fig9.needed = ("over_none",)
fig9.least = tuple(itertools.product(("kernel", "driver"), ("none", "all")))
fig9.picture = Picture("PIPSEA's scheduler, six algorithms at random", "bars", x="lengths", y="gbps", series="level",
                       series_title="sched={}", panel="layer", panel_title="{}", xlabel="payload, bytes", ylabel="Gbps")


def fig11(programs):
    """granularity of the ranges of lengths"""
    yield from kernel.fig11(programs)
    yield from by_argument(programs, "granularity", kernel.granularities(programs), "granularity")


fig11.columns = kernel.MIX_COLUMNS
fig11.picture = Picture("Granularity of the ranges of lengths", "bars", x="lengths", y="gbps", series="granularity",
                        series_title="{} B", panel="layer", panel_title="{}", xlabel="payload, bytes", ylabel="Gbps")

DRIVER_COLUMNS = "algorithm lengths lcores gbps low high mops mean_us p99_us cycles".split()


def fig12(programs):
    """each of the six algorithms, and all mixed"""
    quick, lcores = programs.options.quick, programs.options.lcores
    yield from programs.measure([
        Case({"algorithm": name, "lengths": size, "lcores": lcores}, scheduled(programs), job.format(size))
        for size in lengths(programs.options) for name, job in ALGORITHMS.items()
        if not quick or (size == "imix" and "CBC (" not in name)])


fig12.columns = DRIVER_COLUMNS
fig12.picture = Picture("Algorithms, from mbuf to mbuf", "bars", x="lengths", y="gbps", series="algorithm",
                        xlabel="payload, bytes", ylabel="Gbps")


def fig13(programs):
    """one or two lcores that enqueue to the device"""
    quick = programs.options.quick
    yield from programs.measure([
        Case({"algorithm": name, "lengths": size, "lcores": n}, scheduled(programs, lcores=n),
             ALGORITHMS[name].format(size))
        for name in (["Mix"] if quick else ["AES-CBC+HMAC-SHA1 (ENC)", "HMAC-SHA1 (ENC)", "Mix"])
        for size in lengths(programs.options) for n in (1, 2) if not quick or size == "64"])


fig13.columns = DRIVER_COLUMNS
fig13.picture = Picture("One or two lcores for input and output", "bars", x="lengths", y="gbps", series="lcores",
                        series_title="lcores: {}", panel="algorithm", panel_title="{}", xlabel="payload, bytes",
                        ylabel="Gbps")


def fig14(programs):
    """distribution of latencies at full rate, by chunk and by length, AES-CBC+HMAC-SHA1"""
    quick, rounds = programs.options.quick, programs.options.rounds
    kinds = [("by chunk", chunk, "1280") for chunk in ([256] if quick else [512, 1024, 2048, 4096, 8192])]
    kinds += [("by length", kernel.CHUNK, size) for size in ([] if quick else lengths(programs.options))]
    found = {kind: [] for kind in kinds}
    for number in range(1, rounds + 1):
        for (what, chunk, size), rows in found.items():
            rows.append(programs.histogram(scheduled(programs, chunk=chunk, bins=chunk // 64), f"cbc-sha1,{size}"))
            print(f"   {number}/{rounds} chunk={chunk} {size}: {rows[-1]['mean_us']} us", flush=True)
    for (what, chunk, size), rows in found.items():
        row = median_row(rows, "mean_us")
        facts = {"figure": what, "series": f"chunk={chunk}" if what == "by chunk" else size}
        seen, total = 0, sum(count for _, count in row["histogram"])
        for us, count in row["histogram"]:
            seen += count
            yield row | facts | {"us": us, "operations": count, "share": seen / total}


fig14.columns = "figure series gbps mean_us low high us operations share".split()
fig14.shown = "figure", "series"
fig14.picture = Picture("Latency in a closed loop, two chunks in flight, AES-CBC+HMAC-SHA1", "steps", x="us", y="share", series="series",
                        panel="figure", panel_title="{}", xlabel="us", ylabel="share of the packets", logx=True)


def fig15(programs):
    """encryption with intel-ipsec-mb on the CPU and with the OpenCL device"""
    quick, cases = programs.options.quick, []
    for name in ["AES-CBC (ENC)"] if quick else ["AES-CBC (ENC)", "AES-CBC+HMAC-SHA1 (ENC)"]:
        for size in ["64"] if quick else lengths(programs.options, mixes=False):
            for n in sorted({1, programs.options.lcores}):
                for engine, setting in ("processor", processor(n)), ("OpenCL", scheduled(programs, lcores=n)):
                    facts = {"algorithm": name, "engine": engine, "lengths": size, "lcores": n,
                             "who": f"{engine}, {n} lcore{'s' * (n > 1)}"}
                    cases.append(Case(facts, setting, ALGORITHMS[name].format(size)))
    yield from programs.measure(cases)


fig15.columns = "algorithm engine who lengths lcores gbps low high mops mean_us p99_us cycles".split()
fig15.picture = Picture("Processor and OpenCL device", "bars", x="lengths", y="gbps", series="who",
                        panel="algorithm", panel_title="{}", xlabel="payload, bytes", ylabel="Gbps")


def fig16(programs):
    """six algorithms at random: on the CPU, and on the device without and with scheduling (figures 16, 17)"""
    many = programs.options.lcores
    settings = {"processor": processor(many),
                "OpenCL, sched=none": scheduled(programs, sched="none"),
                "OpenCL, sched=all": scheduled(programs),
                "OpenCL, defaults": Setting(programs.opencl(), many, 2 * DEFAULT_CHUNK)}
    yield from programs.measure([
        Case({"who": who, "lengths": size, "lcores": many}, setting, f"mix,{size}")
        for size in lengths(programs.options) for who, setting in settings.items()
        if not programs.options.quick or size == "imix"])


fig16.columns = "who lengths lcores gbps low high mops mean_us p99_us cycles".split()
fig16.picture = Picture("Six algorithms at random", "bars", x="lengths", y="gbps", series="who",
                        xlabel="payload, bytes", ylabel="Gbps")

PATHS = {"copy": "staged", "zero copy": "svm", "zero copy, persistent": "persistent"}


def apunet(programs):
    """APUNet's figure 7: latency of 32 packets at a time with copies, shared memory, and a persistent kernel"""
    yield from programs.measure([
        Case({"path": name, "bytes": size},
             Setting(programs.opencl(memory=memory, chunk=32, bins=1, wait_us=0), 1, 32, ("-b", 32)),
             f"cbc-sha1,{size}", by="p50_us")
        for size in (["64"] if programs.options.quick else ["64", "128", "256", "512", "1024", "1451"])
        for name, memory in PATHS.items()])


apunet.columns = "path bytes p50_us low high mean_us p99_us gbps cycles".split()
apunet.picture = Picture("32 packets at a time, AES-CBC+HMAC-SHA1", "bars", x="bytes", y="p50_us", series="path",
                         xlabel="payload, bytes", ylabel="latency (p50), us")
