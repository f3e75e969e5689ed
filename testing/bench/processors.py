# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast each processor is at the moment. Those of a virtual machine are often threads of cores
whose other thread somebody else has, and then do half of what they would."""
import hashlib
import multiprocessing
import os
import time

BLOCK = bytes(16384)  # stays in the first cache


def speed(processor, begin, seconds, speeds):
    """Blocks that it hashes in a second."""
    os.sched_setaffinity(0, {processor})
    while time.monotonic() < begin:
        pass
    count, end = 0, begin + seconds
    while time.monotonic() < end:
        hashlib.sha1(BLOCK).digest()
        count += 1
    speeds[processor] = count / seconds


def measure(seconds=0.25):
    """All at the same time. @return the speed of each"""
    every = sorted(os.sched_getaffinity(0))
    speeds = multiprocessing.Array("d", every[-1] + 1)
    begin = time.monotonic() + 0.1
    children = [multiprocessing.Process(target=speed, args=(each, begin, seconds, speeds)) for each in every]
    for child in children:
        child.start()
    for child in children:
        child.join()
    return [speeds[each] for each in every]


def fact():
    """A line about them."""
    speeds = sorted(measure())
    return (f"processors, thousand blocks of {len(BLOCK)} B that each hashes in a second: "
            f"{speeds[0] / 1e3:.0f} to {speeds[-1] / 1e3:.0f}, median {speeds[len(speeds) // 2] / 1e3:.0f}")
