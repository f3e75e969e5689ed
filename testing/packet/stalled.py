#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stalled.py PID THREAD SECONDS: one thread of a process stands still for so long, the others go on, as if its CPU were
taken away."""
import contextlib
import ctypes
import os
import sys
import time

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000  # __WALL: threads, too
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, thread):
    if libc.ptrace(request, thread, None, None):
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x} of thread {thread}")


def threads(pid):
    """@return {name: number}"""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            with open(f"/proc/{pid}/task/{thread}/comm") as name:
                found[name.read().strip()] = int(thread)
    return found


@contextlib.contextmanager
def stalled(pid, *names):
    """Threads with these names stand still during the body."""
    with contextlib.ExitStack() as stack:
        for name in names:
            thread = threads(pid)[name]
            ptrace(PTRACE_SEIZE, thread)
            ptrace(PTRACE_INTERRUPT, thread)
            os.waitpid(thread, WALL)
            stack.callback(ptrace, PTRACE_DETACH, thread)
        yield


if __name__ == "__main__":
    with stalled(int(sys.argv[1]), sys.argv[2]):
        time.sleep(float(sys.argv[3]))
