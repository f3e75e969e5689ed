# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures two workers beside one, with packets that reach the worker of their SA, and with packets that are distributed by a
hash of their addresses, as by a network card."""
import os

from gateways import Cygnetd
from measure import quartiles
from rfc2544 import Trials
from traffic import write_pcap
from whole_frames import DIRECTIONS, in_order

TOLERATED = 0.001  # share of lost packets
SETTLE = 2  # seconds in which SAs may move between workers
WARMUP, DRAIN = 0.1, 0.05  # seconds
SIDES = {"one": "hash", "steered": "turn", "hashed": "hash"}  # how each gateway's packets are distributed
NUMBERS = [f"{side}_{what}" for side in SIDES for what in ("polled_gbps", "polled_lost", "gbps", "low", "high")]
COLUMNS = ["suite", "direction", "frame", "rounds", *NUMBERS, "steered_slowest_share", "hashed_slowest_share",
           "hashed_to_steered", "hashed_to_one"]


class AtRate(Trials):
    """Trials at given rates, in which all workers share a port's packets."""

    def run(self, rate):
        return self.gateway.run(self.number, self.seconds, rate=rate, warmup=WARMUP, drain=DRAIN, timed=False)


def both_rates(trials):
    """Measure the polled rate, where each worker gets packets as fast as it takes them, and the rate by the clock, where
    the slowest worker determines the loss.
    @return Counted of both; None instead of the second: all rates lose more than is tolerated"""
    polled = trials.run(0)
    point = trials.highest(polled.pps, TOLERATED)
    return polled, point.counted if point else None


class One(Cygnetd):
    name = "one"


class Two(Cygnetd):
    """Of two workers; the cores are the last ones."""

    def cores(self):
        return [self.options.core - 1, self.options.core]


class Steered(Two):
    name = "steered"


class Hashed(Two):
    name = "hashed"


KINDS = One, Steered, Hashed


def write_sets(folder, tunnels, mixes, directions, _kept):
    """@return path of the list of sets, and {(direction, mix, how it is distributed): index of the set}"""
    path, number = os.path.join(folder, "sets"), {}
    with open(path, "w") as sets:
        for direction in directions:
            port, frames = DIRECTIONS[direction]
            for mix in mixes:
                pcap = os.path.join(folder, f"{direction}-{mix}.pcap")
                write_pcap(pcap, frames(in_order(tunnels, mix)))
                for how in ("turn", "hash"):
                    number[direction, mix, how] = len(number)
                    sets.write(f"{port} {pcap}{' turn' if how == 'turn' else ''}\n")
    return path, number


def side(name, runs):
    """Columns of a gateway. @param runs  of each round: Counted, polled and by the clock"""
    rates = [clocked.gbps if clocked else 0.0 for _, clocked in runs]
    return {f"{name}_polled_gbps": quartiles([polled.gbps for polled, _ in runs])[0],
            f"{name}_polled_lost": max(polled.lost for polled, _ in runs),
            **dict(zip((f"{name}_gbps", f"{name}_low", f"{name}_high"), quartiles(rates)))}


def row(gateways, number, direction, mix, seconds, rounds):
    """Measure the gateways in turn. @return a row of the table, but for the suite"""
    found = {name: [] for name in SIDES}
    for gateway in gateways:
        gateway.run(number[direction, mix, SIDES[gateway.name]], SETTLE, drain=DRAIN)
    for _ in range(rounds):
        for gateway in gateways:
            trials = AtRate(gateway, number[direction, mix, SIDES[gateway.name]], seconds)
            found[gateway.name].append(both_rates(trials))
    columns = {name: value for each in SIDES for name, value in side(each, found[each]).items()}
    for each in ("steered", "hashed"):
        columns[f"{each}_slowest_share"] = quartiles([min(polled.shares()) for polled, _ in found[each]])[0]
    for each in ("steered", "one"):
        columns[f"hashed_to_{each}"] = columns["hashed_gbps"] / columns[f"{each}_gbps"] if columns[f"{each}_gbps"] else ""
    return {"direction": direction, "frame": mix, "rounds": rounds} | columns
