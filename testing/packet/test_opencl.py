# SPDX-License-Identifier: GPL-2.0-or-later
"""engine = opencl: an OpenCL device that fails."""
import os

from test_auto import FAULTS, engine_fails, give_arguments, memory_path

ENGINE = "opencl"


def restart(gateway, opencl):
    assert gateway.stop() == 0
    give_arguments(gateway, opencl)
    gateway.start()


@FAULTS
def test_opencl_engine_fails(bench, case):
    """The CPU takes over, which else has only what OpenCL does not do."""
    gateway = bench.gateway
    mark = os.path.getsize(gateway.log)
    restart(gateway, f"memory={memory_path(case)}")
    try:
        engine_fails(bench, case, mark)
    finally:
        restart(gateway, "memory=staged")
