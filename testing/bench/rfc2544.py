# SPDX-License-Identifier: GPL-2.0-or-later
"""RFC 2544: the highest rate without loss (26.1), and latency at shares of it (26.2)."""
import dataclasses
import itertools

from control import Counted
from measure import DRAIN, WARMUP, spread, throughput

PRECISION = 0.02  # of the highest rate
FULL = 0.1  # seconds, of the measurement that tells where to begin
LOWEST = 0.005  # share of the rate to begin with: below that the search is given up
# A share that a moment in which the machine does something else can cost, so it is tried again.
STALL = 0.01
LOADS = (0.1, 0.5, 0.9)  # and 1, which is the trial that found the rate
LATENCIES = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1))
SIDES = ("cygnetd", "peer")
COLUMNS = ["suite", "device", "peer_device", "direction", "frame", "rounds", "tolerated", "load",
           "cygnetd_mpps", "cygnetd_gbps", "peer_mpps", "ratio", "ratio_low", "ratio_high",
           *(f"{side}_{what}" for side in SIDES for what in (*(f"{name}_us" for name, _ in LATENCIES), "lost"))]


@dataclasses.dataclass(frozen=True)
class Point:
    """What a gateway did at a rate, packets per second."""
    rate: float
    counted: Counted


class Trials:
    """One gateway's, with one set of frames."""

    def __init__(self, gateway, number, seconds):
        self.gateway, self.number, self.seconds = gateway, number, seconds
        self.done = {}

    def run(self, rate):
        return self.gateway.run(self.number, self.seconds, lead=WARMUP, rate=rate, drain=DRAIN)

    def holds(self, rate, tolerated):
        """@return whether no more than that share is lost at the rate, once of two trials"""
        if rate not in self.done:
            self.done[rate] = self.run(rate)
        if tolerated < self.done[rate].lost < STALL:
            self.done[rate] = min(self.done[rate], self.run(rate), key=lambda counted: counted.lost)
        return self.done[rate].lost <= tolerated

    def highest(self, start, tolerated):
        """From a rate to begin with up or down, in steps that grow, then halving.
        @return the Point of the highest rate, None if even the lowest loses more"""
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
    """@param starts  by tolerance the rate found before, to begin with; that found now takes its place
    @return Points by tolerated loss and load"""
    points, near = {}, full
    for tolerated in sorted(tolerances, reverse=True):
        points[tolerated, 1] = found = trials.highest(starts.get(tolerated, near), tolerated)
        if found:
            starts[tolerated] = near = found.rate
    # A moment's loss in one search may have ended below what another found to hold.
    for less, more in itertools.pairwise(sorted(tolerances)):
        points[more, 1] = max(points[less, 1], points[more, 1], key=lambda point: point.rate if point else 0)
    best = points[tolerances[0], 1]
    for load in LOADS if best else ():
        points[tolerances[0], load] = Point(best.rate * load, trials.run(best.rate * load))
    return points


def rounds_of(gateways, number, seconds, tolerances, rounds):
    """A B A B ... @return per gateway the Points of each round"""
    full = [throughput(gateway, number, FULL) for gateway in gateways]
    starts, found = [{} for _ in gateways], [[] for _ in gateways]
    for _ in range(rounds):
        for gateway, counted, start, mine in zip(gateways, full, starts, found):
            trials = Trials(gateway, number, seconds)
            mine.append(one_round(trials, counted.hz / counted.cycles, tolerances, start))
    return found


def side(name, points):
    """A gateway's columns: of shares of its packets the median of the rounds, of the rest the worst."""
    row = {f"{name}_mpps": spread([point.rate for point in points])[0] / 1e6}
    for what, share in LATENCIES:
        each = [point.counted.latency_us(share) for point in points]
        row[f"{name}_{what}_us"] = max(each) if share == 1 else spread(each)[0]
    return row | {f"{name}_lost": max(point.counted.lost for point in points)}


def rows(gateways, number, seconds, tolerances, rounds):
    """@param tolerances  shares that may be lost; latency is at shares of the rate for the first
    @return rows of a table, with what is the same in all to be added; without numbers where a
    gateway loses too much at any rate"""
    found = rounds_of(gateways, number, seconds, tolerances, rounds)
    loads = [(tolerances[0], load) for load in (*LOADS, 1)] + [(tolerated, 1) for tolerated in tolerances[1:]]
    for tolerated, load in loads:
        row = dict.fromkeys(COLUMNS, "") | {"rounds": rounds, "tolerated": tolerated, "load": load}
        ours, theirs = ([points.get((tolerated, load)) for points in mine] for mine in found)
        if all(ours) and all(theirs):
            median, low, high = spread([a.rate / b.rate for a, b in zip(ours, theirs)])
            row |= side("cygnetd", ours) | side("peer", theirs)
            row |= {"cygnetd_gbps": row["cygnetd_mpps"] * ours[0].counted.mean_size * 8 / 1000,
                    "ratio": median, "ratio_low": low, "ratio_high": high}
        yield row
