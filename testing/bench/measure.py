# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements in turn, and what they say together."""
import statistics

# Seconds. A slice is shorter than the turns that a scheduler gives: on a core that
# others use too most slices are still the gateway's alone.
WARMUP, SLICE = 0.02, 0.0001
DRAIN = 0.001  # that a gateway may hold packets, to send them together
# Per tunnel: until what is decided about its flows is decided, and is so again at its own pace.
LEARN, LAST = 2e-5, 3e-5
ENOUGH, TRIES = 100, 20  # slices, runs
MANY = 0.1  # packets that are dropped: then it is the gateway that is slow


def throughput(gateway, number, seconds, tunnels=1):
    """At full rate; again where the gateway hardly got the core.
    @return what was counted"""
    for _ in range(TRIES):
        counted = gateway.run(number, max(seconds, tunnels * LAST), warmup=WARMUP + tunnels * LEARN,
                              slice_s=SLICE, drain=DRAIN)
        if len(counted.slices) >= ENOUGH or counted.lost > MANY:
            break
    return counted


def pairs(gateways, number, seconds, rounds, tunnels=1):
    """A B A B ...: each round measures every gateway once, for so many seconds or, with many
    tunnels, as long as it takes.
    @return per gateway the list of runs"""
    runs = [[] for _ in gateways]
    for _ in range(rounds):
        for gateway, mine in zip(gateways, runs):
            mine.append(throughput(gateway, number, seconds, tunnels))
    return runs


def spread(values):
    """@return median, lower and upper quartile"""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def ratios(ours, theirs):
    """How many times the packets per cycle of theirs, run by run."""
    return [b.cycles / a.cycles for a, b in zip(ours, theirs)]
