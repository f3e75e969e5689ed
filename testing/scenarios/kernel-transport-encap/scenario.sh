# SPDX-License-Identifier: GPL-2.0-or-later
# As kernel-transport, in UDP: the left asks for it, as if there were a NAT.
. "$top/testing/scenarios/kernel-transport/scenario.sh"
encap=udp

expect_wire() {
	stop_capture wire
	expect_output "ESP outside UDP" 0 frames wire esp
	expect "ESP in UDP" test "$(frames wire udp port 4500)" -gt 50
	expect "the pattern is not on the wire" lacks_pattern
	expect "no ESP sequence number twice" "$lib/esp-sequence" "$work/wire.pcap"
}
