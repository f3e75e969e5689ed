# SPDX-License-Identifier: GPL-2.0-or-later
"""Results: CSV that says where, when and how, and pictures of it."""
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
    named = subprocess.run(["git", "-C", top, "describe", "--always", "--dirty"], check=False,
                           capture_output=True, text=True)
    return named.stdout.strip() or "not from git"


def facts():
    return (f"# machine: {machine()}; load when it began: {os.getloadavg()[0]:.1f}\n"
            f"# date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; commit: {commit()}\n"
            f"# command: testing/bench/run {' '.join(sys.argv[1:])}\n")


class Table:
    """A CSV file that grows row by row, and is shown as it does."""

    def __init__(self, path, columns):
        self.file = open(path, "w", newline="")
        self.file.write(facts())
        self.writer = csv.DictWriter(self.file, columns, lineterminator="\n")
        self.writer.writeheader()
        print(" ".join(columns), flush=True)

    def add(self, row):
        row = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
        self.writer.writerow(row)
        self.file.flush()
        print(*row.values(), flush=True)

    def close(self):
        self.file.close()


RATIO_PLOT = """\
set terminal svg size 900,420 font "sans,13"
set output "{out}"
set datafile separator ","
set datafile commentschars "#"
set title "{title}"
set ylabel "times ipsec-secgw's packets per second"
set xlabel "frame, bytes"
set yrange [0:*]
set grid ytics
set key outside
set style data histogram
set style histogram cluster gap 1
set style fill solid 0.8 border -1
set arrow from graph 0, first 1 to graph 1, first 1 nohead dashtype 2
plot {series}
"""


def plot_ratios(path, out, title):
    """Bars: the ratio at each size, for each suite and direction; none of a single size."""
    with open(path) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    kinds = sorted({(row["suite"], row["direction"], row["tunnels"]) for row in rows if row["ratio"]})
    series, data = [], []
    for suite, direction, tunnels in kinds:
        mine = [row for row in rows if (row["suite"], row["direction"], row["tunnels"]) ==
                (suite, direction, tunnels) and row["ratio"]]
        if len(mine) < 2:
            continue
        name = f"$d{len(data)}"
        lines = "".join(f"{row['frame']},{row['ratio']}\n" for row in mine)
        data.append(f"{name} << EOD\n{lines}EOD\n")
        series.append(f'{name} using 2:xtic(1) title "{suite} {direction}"')
    if not series:
        return
    script = "".join(data) + RATIO_PLOT.format(out=out, title=title, series=", ".join(series))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
