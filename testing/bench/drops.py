# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what a frame costs that is dropped, for each kind of flood, and what tunnels lose meanwhile."""
import os

from measure import DRAIN, pairs, quartiles, ratios
from traffic import WAN_PORT, write_pcap
from whole_frames import FLOOD_SHARE, FLOODS, TUNNELS, ciphertext, flooded

ALONE, SIZE = "none", 1024  # the tunnels without a flood; size of their plaintext frames, bytes
AT_RATE, SETTLED = 0.5, 0.3  # seconds at a given rate; before that, in which meters spend what they have saved up
ROUNDS = 16  # of the tunnels in a set: so many frames of a flood that flow table and SAD are not in the first cache
COLUMNS = ("flood rounds cygnetd_cycles other_cycles ratio ratio_low ratio_high flood_mpps tunnels_mpps "
           "cygnetd_lost other_lost").split()


def write_sets(folder, tunnels, kinds, *_):
    """Write the sets of frames and their list. @return its path, and {("decap", kind): index of the set}"""
    path, number = os.path.join(folder, "sets"), {}
    with open(path, "w") as sets:
        for kind in kinds:
            pcap = os.path.join(folder, f"{kind}.pcap")
            write_pcap(pcap, flooded(kind, tunnels, ROUNDS) if kind in FLOODS else
                       ciphertext([(tunnel, tunnel.far_host, SIZE) for tunnel in tunnels]))
            number["decap", kind] = len(number)
            sets.write(f"{WAN_PORT} {pcap}\n")
    return path, number


class Dropped:
    """Cycles of a frame of the flood: what is between two packets of tunnels more than without it"""

    def __init__(self, run, alone):
        self.cycles = (run.cycles - alone) / FLOOD_SHARE


def lost(gateway, index, rounds, mpps):
    """The share of the tunnels' packets that are lost while so many frames of the flood come, median of the rounds"""
    def once():
        run = gateway.run(index, AT_RATE, rate=mpps * 1e6 * (FLOOD_SHARE + 1) / FLOOD_SHARE, warmup=SETTLED, drain=DRAIN)
        return max(1 - run.arrived * (FLOOD_SHARE + 1) / run.offered, 0.0)
    return quartiles([once() for _ in range(rounds)])[0]


def rows(gateways, number, seconds, rounds, mpps):
    """@return rows of the table"""
    alone = [quartiles([run.cycles for run in runs])[0]
             for runs in pairs(gateways, number["decap", ALONE], seconds, rounds, TUNNELS)]
    for (_, kind), index in number.items():
        if kind == ALONE:
            continue
        each = [[Dropped(run, without) for run in runs]
                for runs, without in zip(pairs(gateways, index, seconds, rounds, TUNNELS), alone)]
        row = dict.fromkeys(COLUMNS, "") | {"flood": kind, "rounds": rounds, "flood_mpps": mpps,
                                            "tunnels_mpps": mpps / FLOOD_SHARE}
        for gateway, runs in zip(gateways, each):
            row[f"{gateway.name}_cycles"] = quartiles([run.cycles for run in runs])[0]
            row[f"{gateway.name}_lost"] = lost(gateway, index, rounds, mpps)
        if len(each) > 1:
            row |= dict(zip(("ratio", "ratio_low", "ratio_high"), quartiles(ratios(*each))))
        yield row
