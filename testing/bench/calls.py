# SPDX-License-Identifier: GPL-2.0-or-later
"""The system calls of cygnetd with a GPU, for whole.py calls: what testing/system-calls records from the start of packets
to the end of the process, and whether cygnetd does the same with the filter in force."""
import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time

SECONDS, PAUSE = 2, 3  # of a run of each set of frames; between two runs, so that the device becomes idle
ATTACH, STOP = 30, 60
RECORD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "system-calls")


def traffic(cygnetd, what):
    """Frames of each set, twice, with a pause; new sessions all the time, as there are fewer than SAs; what an operator
    asks for."""
    forwarded = 0
    for turn in range(2):
        for number, name in enumerate(what):
            counted = cygnetd.control.run(number, SECONDS, drain=0.05)
            forwarded += counted.arrived
            print(f"{counted.arrived} packets forwarded of", *name, flush=True)
        cygnetd.process.send_signal(signal.SIGHUP)
        for thing in ("stats", "engines", "drops"):
            shown = cygnetd.show(thing)
            if turn == 0 and thing == "engines":
                print(shown, flush=True)
        time.sleep(PAUSE)
    return forwarded


@contextlib.contextmanager
def recorded(pid, path):
    """testing/system-calls runs during the body, and until the process ends."""
    with open(path, "w") as out, subprocess.Popen([RECORD, "record", "600", str(pid)], stdout=out) as strace:
        end = time.monotonic() + ATTACH
        while not traced(pid) and strace.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        print("strace is attached" if traced(pid) else "strace is NOT attached", flush=True)
        yield
        strace.wait(STOP)


def traced(pid):
    """@return whether each thread of the process has a tracer"""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/status") as status:
                if "TracerPid:\t0\n" in status.read():
                    return False
        return True
    return False


def stopped(cygnetd):
    """@return exit status; a negative one is a signal"""
    cygnetd.process.terminate()
    return cygnetd.process.wait(STOP)


def calls(options, gateway):
    """@param gateway  whole.gateway"""
    for engine in dict.fromkeys(combination.split(":")[0] for combination in options.combinations):
        for seccomp in ("log", "enforce"):
            print(f"== engine = {engine}, seccomp = {seccomp}", flush=True)
            attempt = argparse.Namespace(**vars(options))
            attempt.set = [f"seccomp = {seccomp}", "sessions = 128", *options.set]
            try:
                one(attempt, gateway, engine, seccomp)
            except Exception as error:  # pylint: disable=broad-except  # the others are worth trying
                print(f"FAILED: {error}", flush=True)
    subprocess.run("dmesg | grep 'type=1326.*cygnetd' | tail -n 20", shell=True, check=False)


def one(options, gateway, engine, seccomp):
    with gateway(options, engine, 2, 0) as (cygnetd, what), contextlib.ExitStack() as stack:
        try:
            if seccomp == "log":
                stack.enter_context(recorded(cygnetd.process.pid, f"{options.out}/calls-{engine}"))
            forwarded = traffic(cygnetd, what)
            print(f"{forwarded} packets forwarded; exit status {stopped(cygnetd)}", flush=True)
        except BaseException:
            print(f"exit status {cygnetd.process.poll()}", flush=True)
            cygnetd.process.kill()
            raise
        finally:
            with open(cygnetd.log, errors="replace") as log:
                sys.stdout.writelines(log)
