# SPDX-License-Identifier: GPL-2.0-or-later
"""Huge pages for the gateways, as long as they run."""
import contextlib
import re

PAGES = "/proc/sys/vm/nr_hugepages"
ENOUGH_PAGES = 1024  # of 2 MiB: two gateways with many SAs


def number_in(path, pattern=r"(\d+)"):
    with open(path) as file:
        return int(re.search(pattern, file.read())[1])


@contextlib.contextmanager
def huge_pages():
    """So many free ones, and their number as it was, unless another program has changed it."""
    before = number_in(PAGES)
    want = before + max(0, ENOUGH_PAGES - number_in("/proc/meminfo", r"HugePages_Free:\s+(\d+)"))
    set_pages(want)
    try:
        yield
    finally:
        if number_in(PAGES) == want != before:
            set_pages(before)


def set_pages(number):
    with open(PAGES, "w") as pages:
        pages.write(str(number))
