# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how fast each processor is at the moment. Processors of a virtual machine are often
hyperthreads, which are half as fast while another machine uses the other thread of the core."""
import contextlib
import hashlib
import multiprocessing
import os
import time

BLOCK = bytes(16384)  # fits into the L1 cache


def speed(processor, begin, seconds, speeds):
    """Measure how many blocks a processor hashes per second."""
    os.sched_setaffinity(0, {processor})
    while time.monotonic() < begin:
        pass
    count, end = 0, begin + seconds
    while time.monotonic() < end:
        hashlib.sha1(BLOCK).digest()
        count += 1
    speeds[processor] = count / seconds


def measure(seconds=0.25):
    """Measure all processors at the same time. @return speed of each, blocks per second"""
    every = sorted(os.sched_getaffinity(0))
    speeds = multiprocessing.Array("d", every[-1] + 1)
    begin = time.monotonic() + 0.1
    children = [multiprocessing.Process(target=speed, args=(each, begin, seconds, speeds)) for each in every]
    for child in children:
        child.start()
    for child in children:
        child.join()
    return [speeds[each] for each in every]


def siblings():
    """@return the processors that share a core, as far as the machine says so"""
    lists = set()
    for each in os.sched_getaffinity(0):
        with contextlib.suppress(OSError), open(f"/sys/devices/system/cpu/cpu{each}/topology/thread_siblings_list") as file:
            lists.add(file.read().strip())
    shared = sorted(each for each in lists if not each.isdigit())
    return " ".join(shared) or "none"


def fact():
    """@return a line with the slowest, fastest and median speed, and which processors share a core"""
    speeds = sorted(measure())
    return (f"processors, thousand blocks of {len(BLOCK)} B hashed per second by each: "
            f"{speeds[0] / 1e3:.0f} to {speeds[-1] / 1e3:.0f}, median {speeds[len(speeds) // 2] / 1e3:.0f}; siblings: {siblings()}")
