# SPDX-License-Identifier: GPL-2.0-or-later
"""engine = opencl: packets are in memory that the device can access, if the ports can
receive into it."""

ENGINE = "opencl"


def test_outbound_memory(bench):
    gateway = bench.gateway
    rows = {row["device"]: row["packets_in"] for row in gateway.ask("/cygnet/engines").values()}
    shares = gateway.driver == "net_af_xdp"  # its pool with the kernel
    assert rows.pop("crypto_opencl0") == ("hugepages" if shares else "device")
    assert set(rows.values()) == {"hugepages"}, rows
    assert gateway.logged("port lan cannot receive into its memory") == shares
