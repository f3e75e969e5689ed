# SPDX-License-Identifier: GPL-2.0-or-later
# What is expected of every tunnel. Sourced by scenario.

# Pings, with a pattern in them, from both sides.
expect_pings() {
	expect_output "pings from left lost" 0 lost_of left
	expect_output "pings from right lost" 0 lost_of right
}

# Traffic flows through it both ways, encrypted, and is counted.
expect_tunnel() {
	start_capture wire wire br0
	start_capture lan left eth0
	expect_pings
	expect "TCP flows" tcp_flows
	stop_capture lan wire
	expect "hosts send the pattern in plaintext" has_pattern lan
	expect_ciphertext
	expect "charon sees traffic on the CHILD_SA" charon_counts
	[ "$engine" = auto ] || expect_engine
}

# The capture of the wire, ended if need be: ESP and IKE, no plaintext, no number twice.
expect_ciphertext() {
	! alive capture-wire || stop_capture wire
	expect "only ciphertext on the wire" only_ciphertext wire
	expect "no ESP sequence number twice" "$lib/esp-sequence" "$work/wire.pcap"
}

lost_of() { { pings "$1" 50 0.01 || true; } | lost; }

tcp_flows() {
	local rate
	rate=$(throughput left 2) || return
	say "TCP: $rate Mbit/s"
	[ "${rate%.*}" -gt 0 ]
}

# Bytes in both directions, on both sides.
charon_counts() {
	local side
	for side in left right; do
		[ "$(swanctl_on "$side" --list-sas | grep -cE '^ +(in|out) .* [1-9][0-9]* bytes')" -ge 2 ] ||
			return
	done
}

expect_engine() {
	local side
	for side in left right; do
		[ "${!side}" != cygnet ] ||
			expect "engine $engine carried $side's packets" test "$(engine_packets "$side" "$engine")" -gt 0
	done
}
