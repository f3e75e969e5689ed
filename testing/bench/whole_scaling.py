#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws whole.py's results of one SA: a bar for each number of crypto cores and one for the GPU, with the
median, lowest and highest of the rounds. whole_scaling.py FILE.csv writes FILE.svg."""
import csv
import os
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/figures")
# pylint: disable=wrong-import-position
from picture import Picture, draw, read

PICTURE = Picture("One SA, one worker", "bars", x="by", y="gbps", series="traffic",
                  xlabel="crypto cores beside the worker", ylabel="Gbps")
SUITES = {"aes128-sha1": "AES-128-CBC+HMAC-SHA1", "aes128gcm16": "AES-128-GCM"}


def medians(rows):
    groups = {}
    for row in rows:
        by = row["crypto_cores"] if row["engine"] == "cpu" else "GPU"
        traffic = f"{SUITES[row['suite']]}, {row['direction']}, {row['frame']} B"
        groups.setdefault((by, traffic), []).append(float(row["gbps"]))
    for (by, traffic), gbps in groups.items():
        yield {"by": by, "traffic": traffic, "gbps": statistics.median(gbps), "low": min(gbps), "high": max(gbps)}


def main(path):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        writer = csv.DictWriter(file, "by traffic gbps low high".split())
        writer.writeheader()
        writer.writerows(medians(read(path)))
        file.flush()
        draw(PICTURE, file.name, f"{os.path.splitext(path)[0]}.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
