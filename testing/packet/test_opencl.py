# SPDX-License-Identifier: GPL-2.0-or-later
"""engine = opencl: an OpenCL device that fails."""
from gateway import OPENCL
from test_auto import FAULTS, engine_fails, give_arguments, memory_path
from test_health import OK, WARNING, expect
from test_watch import watching

ENGINE = "opencl"


def restart(gateway, opencl):
    assert gateway.stop() == 0
    give_arguments(gateway, opencl)
    gateway.start()


@FAULTS
def test_opencl_engine_fails(bench, case):
    """The CPU takes over; otherwise it has only the algorithms that OpenCL does not support."""
    gateway = bench.gateway
    restart(gateway, f"memory={memory_path(case)}")  # with the default timeout: some cases wait for it
    try:
        with gateway.charon(), watching(gateway) as watch:
            expect(gateway, OK)
            engine_fails(bench, case, gateway.mark)
            watch.expect("engine", device="crypto_opencl0", state="failed")
            expect(gateway, WARNING, "WARNING: crypto device crypto_opencl0 has failed")
    finally:
        restart(gateway, OPENCL)
