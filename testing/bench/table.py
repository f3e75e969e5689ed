# SPDX-License-Identifier: GPL-2.0-or-later
"""CSV files of results, with machine, date and command, and pictures of them."""
import csv
import datetime
import os
import platform
import re
import subprocess
import sys


def machine():
    with open("/proc/cpuinfo") as info:
        model = re.search(r"model name\s*: (.*)", info.read())[1]
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}"


def commit():
    top = os.path.dirname(os.path.abspath(__file__))
    if os.path.exists(f"{top}/commit"):  # written by on-device pack
        with open(f"{top}/commit") as file:
            return file.read().strip()
    named = subprocess.run(["git", "-C", top, "describe", "--always", "--dirty"], check=False,
                           capture_output=True, text=True)
    return named.stdout.strip() or "not from git"


def words():
    """The arguments of the command, without folders of this machine"""
    own = ("--build", "--programs", "--out", "--work", "--secgw", "--vpp")
    return [word for before, word in zip(sys.argv, sys.argv[1:]) if before not in own and word not in own]


def facts(more=()):
    """Where, when and how, as comment lines. @param more  lines about what was measured"""
    top = os.path.dirname(os.path.abspath(__file__))
    command = os.environ.get("CYGNET_COMMAND") or " ".join(
        [os.path.relpath(os.path.realpath(sys.argv[0]), os.path.dirname(os.path.dirname(top))), *words()])
    return (f"# machine: {machine()}; load when it began: {os.getloadavg()[0]:.1f}\n"
            f"# date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; commit: {commit()}\n"
            f"# command: {command}\n" + "".join(f"# {line}\n" for line in more))


faults = []  # lines about what is wrong with the results


def fault(text):
    faults.append(text)
    print(f"!! {text}", flush=True)


class Table:
    """A CSV file. Rows are also printed when they are added.
    @param shown  print only rows in which the value of one of these columns changes; default: all rows"""

    def __init__(self, path, columns, more=(), shown=()):
        self.columns, self.shown, self.last = columns, shown, None
        self.file = open(path, "w", newline="")
        self.file.write(facts(more))
        self.writer = csv.DictWriter(self.file, columns, lineterminator="\n")
        self.writer.writeheader()
        print(" ".join(columns), flush=True)

    def add(self, row):
        row = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
        self.writer.writerow(row)
        self.file.flush()
        now = [row[name] for name in self.shown]
        if not now or now != self.last:
            print(*row.values(), flush=True)
        self.last = now

    def close(self):
        self.file.close()


RATIO_PLOT = """\
set terminal svg size 1100,560 font "sans,13" background "#ffffff"
set output "{out}"
set title "{title}"
set ylabel "times ipsec-secgw's packets per second"
set xlabel "frame, bytes"
set yrange [0:*]
set grid ytics
set key below maxcols 2
set style data histogram
set style histogram errorbars gap 1 lw 1.5
set style fill solid 0.8 border -1
set arrow from graph 0, first 1 to graph 1, first 1 nohead dashtype 2
plot {series}
"""


def by_kind(rows):
    """@return {(suite, device, peer's device, direction, tunnels): rows} of the groups with ratios of
    several sizes"""
    kinds = {}
    for row in rows:
        if row["ratio"]:
            kind = row["suite"], row["device"], row["peer_device"], row["direction"], row["tunnels"]
            kinds.setdefault(kind, []).append(row)
    return {kind: mine for kind, mine in sorted(kinds.items()) if len(mine) > 1}


def target_lines(kinds, targets):
    """@return x, y and length of a line across each bar that has a target"""
    width = 1 / (len(kinds) + 1)
    for bar, ((suite, _, _, direction, _), mine) in enumerate(kinds.items()):
        for cluster, row in enumerate(mine):
            target = targets.get((suite, direction, row["frame"]))
            if target:
                yield cluster + (bar - len(kinds) / 2) * width, target, width


def plot_ratios(path, out, title, targets):
    """Draw bars of the ratio at each size with its quartiles, for each suite, pair of drivers and direction.
    Groups with a single size are left out.
    @param targets  {(suite, direction, size): ratio}, drawn as lines"""
    with open(path) as file:
        kinds = by_kind(csv.DictReader(line for line in file if not line.startswith("#")))
    if not kinds:
        return
    several = len({kind[:3] for kind in kinds}) > len({kind[0] for kind in kinds})
    series, data = [], []
    for (suite, device, peers, direction, _), mine in kinds.items():
        name = f"{suite} {direction}" + (f", {device}:{peers}".replace("crypto_", "") if several else "")
        block = f"$d{len(data)}"
        lines = "".join("{frame} {ratio} {ratio_low} {ratio_high}\n".format(**row) for row in mine)
        data.append(f"{block} << EOD\n{lines}EOD\n")
        series.append(f'{block} using 2:3:4:xtic(1) title "{name}" noenhanced')
    lines = "".join(f"{x:.4f} {y} {length:.4f}\n" for x, y, length in target_lines(kinds, targets))
    if lines:
        data.append(f"$t << EOD\n{lines}EOD\n")
        series.append('$t using 1:2:3:(0) with vectors nohead lw 3 lc "black" title "target"')
    script = "".join(data) + RATIO_PLOT.format(out=out, title=title, series=", ".join(series))
    draw(script, out)


def draw(script, out):
    """Run gnuplot, and check that it has written a file."""
    try:
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as failure:
        fault(f"{out}: no picture: {failure}")
    else:
        if not os.path.exists(out) or not os.path.getsize(out):
            fault(f"{out}: no picture")
