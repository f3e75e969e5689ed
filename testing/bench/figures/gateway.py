# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the whole gateway: cygnetd with the bench's ports. As root."""
import argparse
import contextlib
import os
import shutil
import subprocess
import tempfile

from hugepages import huge_pages
from measure import quartiles
from picture import Picture

ENGINES = ("cpu", "opencl", "auto")
SUITE, FRAME = "aes128-sha1", "1024"
LIGHT, HEAVY = 0.1, 0.9
SHARES = [percent / 100 for percent in range(1, 100)] + [0.995, 0.999, 1]


def copy_with(options, **changes):
    return argparse.Namespace(**vars(options) | changes)


@contextlib.contextmanager
def engines(options):
    """Start a cygnetd with each engine; all are stopped by a signal except while they are measured.
    @return the gateways and the index of the set of frames"""
    # Frames are made with python3-cryptography, which machines with packed programs do not have.
    from gateways import Cygnetd
    from traffic import SUITES, Tunnel, write_sets
    work = tempfile.mkdtemp(prefix="figures-", dir="/dev/shm")
    running = []
    try:
        tunnels = [Tunnel(SUITES[SUITE], 0)]
        sets, number = write_sets(work, tunnels, [FRAME], ["encap"])
        for engine in ENGINES[:2] if options.quick else ENGINES:
            kind = type(engine, (Cygnetd,), {"name": engine})
            gateway = kind(copy_with(options, engine=engine), work, sets, tunnels, "crypto_aesni_mb")
            running.append(gateway)
            gateway.start()
            gateway.hold_core()
            gateway.pause()
        yield running, number["encap", FRAME]
    finally:
        for gateway in running:
            gateway.stop()
        shutil.rmtree(work)


def distribution(rounds):
    for share in SHARES:
        us, low, high = quartiles([counted.latency_us(share) for counted in rounds])
        yield {"share": share, "us": us, "low": low, "high": high}


def sslshader(programs):
    """SSLShader's figure 9: latency at light and heavy load, with and without opportunistic offload"""
    options = copy_with(programs.options, build=programs.options.programs, realtime=not programs.options.quick,
                        core=(os.cpu_count() or 1) - 1)
    subprocess.run([f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/prepare", options.build],
                   check=True, stdin=subprocess.DEVNULL)
    with huge_pages(), engines(options) as (gateways, number):
        full = {gateway.name: gateway.run(number, 2 * options.seconds, warmup=options.seconds).pps
                for gateway in gateways}
        loads = {"light": LIGHT * min(full.values()), "heavy": HEAVY * max(full.values())}
        for load, rate in loads.items():
            found = {gateway.name: [] for gateway in gateways}
            for turn in range(1, options.rounds + 1):
                print(f"   {turn}/{options.rounds} {load} load", flush=True)
                for gateway in gateways:
                    found[gateway.name].append(gateway.run(number, 4 * options.seconds, rate=rate,
                                                           warmup=options.seconds))
            for name, rounds in found.items():
                facts = {"load": load, "engine": name, "offered_kpps": rate / 1e3, "full_kpps": full[name] / 1e3,
                         "lost": max(quartiles([counted.lost for counted in rounds])[0], 0)}
                yield from (facts | point for point in distribution(rounds))


sslshader.columns = "load engine offered_kpps full_kpps lost share us low high".split()
sslshader.shown = "load", "engine"
sslshader.picture = Picture("Latency with and without opportunistic offload, AES-128-CBC+HMAC-SHA1, 1,024 B", "steps",
                            x="us", y="share", series="engine", series_title="engine = {}", panel="load",
                            panel_title="{} load", xlabel="us", ylabel="share of the packets", logx=True)
