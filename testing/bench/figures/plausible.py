# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the rows of a figure are plausible and complete."""
import itertools
import math

from picture import values
from programs import Failed

# Columns whose numbers must be above zero. They may be empty if a row has no such measurement.
POSITIVE = ("gbps low high mops us p50_us mean_us median_us best_us median_gbps best_gbps launch_us cycles over_none "
            "full_kpps offered_kpps share operations").split()


def check_row(function, row):
    needed = (function.picture.x, function.picture.y, *getattr(function, "needed", ()))
    for name in needed:
        if row.get(name, "") == "":
            raise Failed(f"no {name}: {row}")
    for name in POSITIVE:
        value = row.get(name, "")
        if value != "" and not (math.isfinite(float(value)) and float(value) > 0):
            raise Failed(f"{name} is {value}: {row}")


def check_bars(picture, rows):
    """Check that each panel has a bar of each series at each x."""
    for panel in values(rows, picture.panel) if picture.panel else [None]:
        mine = [row for row in rows if panel is None or row[picture.panel] == panel]
        have = {(row[picture.x], row[picture.series]) for row in mine}
        for bar in itertools.product(values(mine, picture.x), values(mine, picture.series)):
            if bar not in have:
                raise Failed(f"no row for {panel or ''} {bar[0]} {bar[1]}")


def check(function, rows):
    """@param rows  of the figure's function @raise Failed"""
    if not rows:
        raise Failed("no rows")
    for row in rows:
        check_row(function, row)
    if function.picture.kind == "bars":
        check_bars(function.picture, rows)
    have = {(row.get(function.picture.panel), row[function.picture.series]) for row in rows}
    for least in getattr(function, "least", ()):
        if least not in have:
            raise Failed(f"no row for {' '.join(least)}")
