# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the kernel alone: packets are in the device's memory, times are by the device's clock."""
from picture import Picture
from programs import ALGORITHM, MIX

CHUNK, BINS, GRANULARITY = 4096, 64, 256  # as in the paper
TOGETHER = 8  # number of configurations for one start of bench-kernel
LEVELS = ("none", "algorithm", "length", "all")
SIX = {"AES-CBC+HMAC-SHA1 encrypt": "AES-CBC+HMAC-SHA1 (ENC)", "AES-CBC+HMAC-SHA1 decrypt": "AES-CBC+HMAC-SHA1 (DEC)",
       "AES-CBC encrypt": "AES-CBC (ENC)", "AES-CBC decrypt": "AES-CBC (DEC)",
       "HMAC-SHA1": "HMAC-SHA1 (ENC)", "HMAC-SHA1 verify": "HMAC-SHA1 (DEC)"}


def lengths(options, *, mixes=True):
    """Packet lengths of PIPSEA's figures, with or without mixes."""
    if options.quick:
        return ["64", "imix"] if mixes else ["64", "256"]
    return [name for name in options.lengths if mixes or name.isdigit()]


def algorithms(programs, packets, sizes, by):
    """Measure each algorithm. @param by  column of the median launch: time or rate"""
    runs = [["-l", ",".join(sizes), "algorithms"]]
    for row in programs.kernel_rounds(ALGORITHM, ["-n", packets], runs, by):
        if row["algorithm"] in SIX:
            bits = 8 * row["packets"] * row["bytes"]
            yield row | {"algorithm": SIX[row["algorithm"]], "best_gbps": bits / row["best_us"] / 1e3,
                         "median_gbps": bits / row["median_us"] / 1e3}


ALGORITHM_COLUMNS = "algorithm packets bytes group best_us median_us best_gbps median_gbps low high".split()


def fig7(programs):
    """time of a launch of 2,048 packets, by size and algorithm"""
    sizes = ["64", "128"] if programs.options.quick else ["64", "128", "256", "384", "512", "640", "768", "896",
                                                          "1024"]
    yield from algorithms(programs, 256 if programs.options.quick else 2048, sizes, "median_us")


fig7.columns = ALGORITHM_COLUMNS
fig7.picture = Picture("Kernel time for 2,048 packets", "lines", x="bytes", y="median_us", series="algorithm",
                       xlabel="payload, bytes", ylabel="median launch, us")


def fig8(programs):
    """crypto alone: rate of the kernel, by algorithm and size"""
    for packets in (256,) if programs.options.quick else (4096, 16384):
        yield from algorithms(programs, packets, lengths(programs.options, mixes=False), "median_gbps")


fig8.columns = ALGORITHM_COLUMNS
fig8.picture = Picture("Crypto alone, packets in the device's memory", "bars", x="bytes", y="median_gbps",
                       series="algorithm", panel="packets", panel_title="launches of {} packets",
                       xlabel="payload, bytes", ylabel="Gbps")


def mixes(programs, configurations):
    """Measure the kernel with a random mix of the six algorithms through the scheduler. Configurations
    are grouped by the size of work-groups, for which the kernel is built. Sizes that the device
    does not support are left out.
    @param configurations  tuples of chunk, bins, granularity, level, lengths"""
    groups = {}
    for chunk, bins, *others in configurations:
        groups.setdefault(chunk // bins, []).append(",".join(map(str, (chunk, bins, *others))))
    runs = [specs[first:first + TOGETHER] for _, specs in sorted(groups.items())
            for first in range(0, len(specs), TOGETHER)]
    for row in programs.kernel_rounds(MIX, [], runs, "gbps"):
        yield {"layer": "kernel"} | row


MIX_COLUMNS = ("layer lengths level chunk bins granularity gbps low high launch_us left_over_percent mean_us "
               "p99_us").split()


def small(options):
    """@return chunk and bins: those of the paper, or small ones with --quick"""
    return (256, 8) if options.quick else (CHUNK, BINS)


def fig9(programs):
    chunk, bins = small(programs.options)
    yield from mixes(programs, [(chunk, bins, GRANULARITY, level, size)
                                for size in lengths(programs.options) for level in LEVELS])


def fig10(programs):
    """chunk size and number of bins"""
    quick = programs.options.quick
    yield from mixes(programs, [(chunk, bins, GRANULARITY, "all", size)
                                for size in (["imix"] if quick else ["64", "1280", "random", "imix"])
                                for chunk in ([256] if quick else [1024, 2048, 4096, 8192])
                                for bins in ([4, 8] if quick else [4, 8, 16, 32, 64, 128])])


fig10.columns = MIX_COLUMNS
fig10.picture = Picture("Chunk size and bins, six algorithms, kernel alone", "lines", x="chunk", y="gbps", series="bins",
                        series_title="{} bins", panel="lengths", panel_title="{} B", xlabel="packets of a launch",
                        ylabel="Gbps")


def fig11(programs):
    chunk, bins = small(programs.options)
    yield from mixes(programs, [(chunk, bins, granularity, "all", size)
                                for size in lengths(programs.options) for granularity in granularities(programs)])


def granularities(programs):
    return [256, 1536] if programs.options.quick else [64, 256, 512, 1536]
