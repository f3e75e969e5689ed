# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures gateways in turn, and summarises the rounds."""
import statistics

# Times are in seconds. A slice is shorter than a scheduler's time slices, so that on a core with
# other load the gateway runs alone in most slices.
WARMUP, SLICE = 0.02, 0.0001
DRAIN = 0.001  # longest time that a gateway may hold packets for a batch
# Per tunnel: warm-up in which the gateway's flow cache learns its flow, and shortest measured time.
LEARN, LAST = 2e-5, 3e-5
ENOUGH, TRIES = 100, 20  # minimum number of slices, maximum number of runs
LONGER = 0.5  # seconds, up to which a measurement is made longer if the gateway did not get the core
MANY = 0.1  # share of lost packets above which a run is not repeated: the loss is due to the gateway's own rate


def throughput(gateway, number, seconds, tunnels=1):
    """Measure at full rate. Repeat, for longer, if the gateway got too little of the core, or nothing of it.
    @return Counted"""
    length = max(seconds, tunnels * LAST)
    for _ in range(TRIES):
        counted = gateway.run(number, length, warmup=WARMUP + tunnels * LEARN, slice_s=SLICE, drain=DRAIN)
        if len(counted.slices) >= ENOUGH or (counted.slices and counted.lost > MANY):
            break
        length = max(length, min(2 * length, LONGER))
    return counted


def pairs(gateways, number, seconds, rounds, tunnels=1):
    """Measure the gateways in turn (A B A B ...), each once per round.
    @param seconds  of a measurement; longer with many tunnels
    @return         list of runs for each gateway"""
    runs = [[] for _ in gateways]
    for _ in range(rounds):
        for gateway, mine in zip(gateways, runs):
            mine.append(throughput(gateway, number, seconds, tunnels))
    return runs


def quartiles(values):
    """@return median, lower and upper quartile"""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def ratios(ours, theirs):
    """Ratios of packets per cycle, ours to theirs, of each round"""
    return [b.cycles / a.cycles for a, b in zip(ours, theirs)]


# What makes and counts packets: net_bench and VPP's packet generator. Ratios are without both, and without VPP's alone.
GENERATORS = ["cygnetd_generator", "peer_generator", "ratio_without", "ratio_without_peers"]


def without_generators(ours, peers):
    """@return values of the columns GENERATORS, of the runs of cygnetd and VPP"""
    alone = [peer.cycles - peer.generator for peer in peers]
    values = ([run.generator for run in ours], [run.generator for run in peers],
              [peer / (mine.cycles - mine.generator) for mine, peer in zip(ours, alone)],
              [peer / mine.cycles for mine, peer in zip(ours, alone)])
    return {name: quartiles(each)[0] for name, each in zip(GENERATORS, values)}
