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
    with open(PAGES) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = read_pages()
        write(PAGES, max(0, before + number))
        if number < 0:
            os.unlink(mine)
            return
        if read_pages() < before + number:
            write(PAGES, before)
            raise RuntimeError(f"no {number} more huge pages of 2 MiB to be had")
        write(mine + ".new", number)
        os.rename(mine + ".new", mine)


def read_pages():
    with open(PAGES) as pages:
        return int(pages.read())


def write(path, number):
    with open(path, "w") as file:
        file.write(str(number))
