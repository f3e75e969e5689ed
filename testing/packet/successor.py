# SPDX-License-Identifier: GPL-2.0-or-later
"""A cygnetd started by the running one to take over: it becomes a child of the tests when that one ends."""
import ctypes
import os
import signal
import subprocess
import time

from network import Limit

PR_SET_CHILD_SUBREAPER = 36


def adopt():
    """Make this process a subreaper, so that it learns the exit status of orphaned processes."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


class Successor:
    """The part of subprocess.Popen that tests need, for a process that they have not started."""

    def __init__(self, pid):
        self.pid, self.returncode = pid, None

    def poll(self):
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
            except ChildProcessError:  # still a child of the other cygnetd, or was one until it ended
                if not os.path.exists(f"/proc/{self.pid}"):
                    self.returncode = "of no child of this process"
        return self.returncode

    def wait(self, timeout=None):
        limit = Limit(timeout) if timeout else None
        while self.poll() is None:
            if limit and limit.over():
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.01)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)
