# SPDX-License-Identifier: GPL-2.0-or-later
"""RFC 2544: throughput (26.1), the highest rate without loss, and latency at shares of it (26.2)."""
import dataclasses
import itertools

from control import Counted
from measure import DRAIN, WARMUP, quartiles, throughput

PRECISION = 0.02  # of the highest rate, as a share of it
FULL = 0.1  # seconds of the measurement at full rate, whose rate is the first trial's
LOWEST = 0.005  # share of the first trial's rate at which the search ends without a result
STALL = 0.01  # loss below which a trial is repeated: other load on the machine may have caused it
LOADS = (0.1, 0.5, 0.9)  # shares of the highest rate; 1 is the trial that found the rate
LATENCIES = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1))
SIDES = ("cygnetd", "peer")
COLUMNS = ["suite", "device", "peer_device", "direction", "frame", "rounds", "tolerated", "load",
           "cygnetd_mpps", "cygnetd_gbps", "peer_mpps", "ratio", "ratio_low", "ratio_high",
           *(f"{side}_{what}" for side in SIDES for what in (*(f"{name}_us" for name, _ in LATENCIES), "lost"))]


@dataclasses.dataclass(frozen=True)
class Point:
    """Measurements of a gateway at a rate, packets per second."""
    rate: float
    counted: Counted


class Trials:
    """Trials of a gateway with a set of frames."""

    def __init__(self, gateway, number, seconds):
        self.gateway, self.number, self.seconds = gateway, number, seconds
        self.done = {}

    def run(self, rate):
        return self.gateway.run(self.number, self.seconds, lead=WARMUP, rate=rate, drain=DRAIN)

    def holds(self, rate, tolerated):
        """Whether at most the tolerated share of packets is lost at a rate, in one of two trials"""
        if rate not in self.done:
            self.done[rate] = self.run(rate)
        if tolerated < self.done[rate].lost < STALL:
            self.done[rate] = min(self.done[rate], self.run(rate), key=lambda counted: counted.lost)
        return self.done[rate].lost <= tolerated

    def highest(self, start, tolerated):
        """Search the highest rate: from a first rate up or down in growing steps, and then by bisection.
        @return its Point, None if more is lost at all rates"""
        low, high, rate, step = 0.0, float("inf"), start, PRECISION
        while low < high * (1 - PRECISION):
            if rate < start * LOWEST:
                return None
            if self.holds(rate, tolerated):
                low = rate
            else:
                high = rate
            if low and high < float("inf"):
                rate = (low + high) / 2
            else:
                rate = low * (1 + step) if low else high * (1 - step)
            step = min(2 * step, 0.5)
        return Point(low, self.done[low])


def one_round(trials, full, tolerances, starts):
    """Search the highest rate for each tolerated loss, and measure latencies.
    @param starts  {tolerated loss: rate found in the last round}, updated
    @return        {(tolerated loss, load): Point}"""
    points, near = {}, full
    for tolerated in sorted(tolerances, reverse=True):
        points[tolerated, 1] = found = trials.highest(starts.get(tolerated, near), tolerated)
        if found:
            starts[tolerated] = near = found.rate
    # A short loss may end a search below the rate that another search with less tolerance has found.
    for less, more in itertools.pairwise(sorted(tolerances)):
        points[more, 1] = max(points[less, 1], points[more, 1], key=lambda point: point.rate if point else 0)
    best = points[tolerances[0], 1]
    for load in LOADS if best else ():
        points[tolerances[0], load] = Point(best.rate * load, trials.run(best.rate * load))
    return points


def rounds_of(gateways, number, seconds, tolerances, rounds):
    """Measure the gateways in turn (A B A B ...). @return for each gateway the Points of each round"""
    full = [throughput(gateway, number, FULL) for gateway in gateways]
    starts, found = [{} for _ in gateways], [[] for _ in gateways]
    for _ in range(rounds):
        for gateway, counted, start, mine in zip(gateways, full, starts, found):
            trials = Trials(gateway, number, seconds)
            mine.append(one_round(trials, counted.hz / counted.cycles, tolerances, start))
    return found


def side(name, points):
    """Columns of a gateway: the median of the rounds for percentiles, and the worst round for maximum and
    loss."""
    row = {f"{name}_mpps": quartiles([point.rate for point in points])[0] / 1e6}
    for what, share in LATENCIES:
        each = [point.counted.latency_us(share) for point in points]
        row[f"{name}_{what}_us"] = max(each) if share == 1 else quartiles(each)[0]
    return row | {f"{name}_lost": max(point.counted.lost for point in points)}


def rows(gateways, number, seconds, tolerances, rounds):
    """@param tolerances  tolerated shares of lost packets; latency is measured at shares of the highest
                       rate for the first one
    @return rows of the table, to which the caller adds the columns that are the same in all; without
            numbers if a gateway loses too much at all rates"""
    found = rounds_of(gateways, number, seconds, tolerances, rounds)
    loads = [(tolerances[0], load) for load in (*LOADS, 1)] + [(tolerated, 1) for tolerated in tolerances[1:]]
    for tolerated, load in loads:
        row = dict.fromkeys(COLUMNS, "") | {"rounds": rounds, "tolerated": tolerated, "load": load}
        ours, theirs = ([points.get((tolerated, load)) for points in mine] for mine in found)
        if all(ours) and all(theirs):
            median, low, high = quartiles([a.rate / b.rate for a, b in zip(ours, theirs)])
            row |= side("cygnetd", ours) | side("peer", theirs)
            row |= {"cygnetd_gbps": row["cygnetd_mpps"] * ours[0].counted.mean_size * 8 / 1000,
                    "ratio": median, "ratio_low": low, "ratio_high": high}
        yield row
