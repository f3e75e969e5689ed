# SPDX-License-Identifier: GPL-2.0-or-later
"""Reserves huge pages while the gateways run."""
import contextlib
import re

PAGES = "/proc/sys/vm/nr_hugepages"
ENOUGH_PAGES = 1024  # pages of 2 MiB for two gateways with many SAs


def number_in(path, pattern=r"(\d+)"):
    with open(path) as file:
        return int(re.search(pattern, file.read())[1])


@contextlib.contextmanager
def huge_pages(enough=ENOUGH_PAGES):
    """Reserve so many free pages. Afterwards restore the number of pages, unless another program
    has changed it."""
    before = number_in(PAGES)
    want = before + max(0, enough - number_in("/proc/meminfo", r"HugePages_Free:\s+(\d+)"))
    set_pages(want)
    try:
        yield
    finally:
        if number_in(PAGES) == want != before:
            set_pages(before)


def set_pages(number):
    with open(PAGES, "w") as pages:
        pages.write(str(number))
