# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws pictures of CSV files with gnuplot."""
import csv
import dataclasses
import subprocess

HEAD = """\
set terminal svg size {width},{height} font "sans,13" background "#ffffff"
set output "{out}"
set datafile missing "NaN"
set xlabel "{picture.xlabel}" offset 0,0.6
set ylabel "{picture.ylabel}"
set yrange [0:*]
set xtics font ",10"
set grid ytics
set key {key}
"""
STYLES = {"bars": "set style data histogram\nset style histogram errorbars gap 1 lw 1\n"
                  "set style fill solid 0.8 border -1\nset offsets 0,0,graph 0.05,0\n",
          "lines": "set style data linespoints\n",
          "steps": "set style data lines\n"}


@dataclasses.dataclass(frozen=True)
class Picture:
    """Description of a picture: the columns of a CSV file for x, y, series and panels. There is a
    panel for each value of the column `panel`. Titles are formatted with the values of columns."""
    title: str
    kind: str
    x: str
    y: str
    series: str
    xlabel: str
    ylabel: str
    panel: str = ""
    series_title: str = "{}"
    panel_title: str = ""
    logx: bool = False


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def values(rows, column):
    """The distinct values of a column: numbers sorted, words in the order of the rows."""
    found = list(dict.fromkeys(row[column] for row in rows))
    try:
        return sorted(found, key=float)
    except ValueError:
        return found


def block(picture, name, rows, series):
    """The data of a series: x, y, and the quartiles of y if there are several rounds. In pictures of
    bars each x has a line, also if nothing was measured."""
    at = {row[picture.x]: [row[picture.y], *(row.get(name) or row[picture.y] for name in ("low", "high"))]
          for row in rows if row[picture.series] == series}
    keys = [x for x in values(rows, picture.x) if picture.kind == "bars" or x in at]
    return f"{name} << EOD\n" + "".join(f"{x} {' '.join(at.get(x, ['NaN'] * 3))}\n" for x in keys) + "EOD\n"


def panel(picture, number, rows, title):
    blocks, plots = "", []
    for i, series in enumerate(values(rows, picture.series)):
        name = f"$p{number}s{i}"
        blocks += block(picture, name, rows, series)
        columns = "2:3:4:xtic(1)" if picture.kind == "bars" else "1:2"
        plots.append(f'{name} using {columns} title "{picture.series_title.format(series)}"')
    return f'{blocks}set title "{title}"\nplot {", ".join(plots)}\n'


def draw(picture, path, out):
    """@param path  the CSV file @param out  the SVG file"""
    rows = read(path)
    panels = values(rows, picture.panel) if picture.panel else [None]
    across = 1 if len(panels) == 1 else 2
    down = -(-len(panels) // across)
    script = HEAD.format(picture=picture, out=out, width=560 * across + 300 * (across == 1), height=340 * down + 40,
                         key="outside" if across == 1 else "outside bottom center horizontal")
    script += STYLES[picture.kind] + ("set logscale x\nset xrange [*:*] noextend\n" if picture.logx else "")
    if len(panels) > 1:
        script += f'set multiplot layout {down},{across} title "{picture.title}"\n'
    for number, of in enumerate(panels):
        mine = [row for row in rows if of is None or row[picture.panel] == of]
        script += panel(picture, number, mine, picture.title if of is None else picture.panel_title.format(of))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
