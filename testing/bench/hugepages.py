# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds huge pages while the gateways run, as testing/lib/hugepages.sh does."""
import contextlib
import fcntl
import os

PAGES = "/proc/sys/vm/nr_hugepages"
ENOUGH_PAGES = 1024  # pages of 2 MiB for two gateways with many SAs


@contextlib.contextmanager
def huge_pages(enough=ENOUGH_PAGES):
    """The machine has that many more pages during the body."""
    add_pages(enough)
    try:
        yield
    finally:
        add_pages(-enough)


def add_pages(number):
    """Other programs change the number of pages, too. The pages are in a file that testing/lib/hugepages.sh reads."""
    mine = f"/run/cyg-{os.getpid()}-hugepages"
    with open(PAGES) as now:
        fcntl.flock(now, fcntl.LOCK_EX)
        wanted = max(0, int(now.read()) + number)
        with open(PAGES, "w") as pages:
            pages.write(str(wanted))
        if number > 0:
            with open(mine, "w") as file:
                file.write(str(number))
        else:
            os.unlink(mine)
