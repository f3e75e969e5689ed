# SPDX-License-Identifier: GPL-2.0-or-later
# CHILD_SAs and the IKE_SA are rekeyed from both sides, Debian's kernel on the right, while the hosts talk. No
# packet is lost and no sequence number of any SA is used twice. Either side initiates with its certificate.
right=kernel auth=cert conf=net2net-cert
# With the CPU engine charon keeps rekeyed SAs for its default time (5 seconds), else for one second.
[ "$engine" = cpu ] || charon_options="delete_rekeyed_delay = 1"

steps() {
	local side child spis=2
	expect "the tunnel comes up from right" tunnel_up right
	expect_output "pings from right lost" 0 lost_of right
	expect "the connection goes down" connection_down right
	expect_empty
	expect "the tunnel comes up from left" tunnel_up left
	child=$(child_id left)
	expect "hosts reach each other" wait_for 30 reaches left
	start_capture wire wire br0
	start_pings rekey left 30000 0.004
	for side in left right left right; do
		expect_rekey "$side"
		spis=$((spis + 2))
		expect "the new SAs are used" wait_for 30 spis_are "$spis"
	done
	for side in left right; do
		sleep 0.1
		expect_rekey "$side" rekey_ike
	done
	expect "the old SAs go" wait_for 30 only_newest
	expect_none_lost rekey
	stop_capture wire
	expect "the last CHILD_SA is in use" test "$(child_id left)" -eq $((child + 4))
	expect "ten SPIs were used" spis_are 10
	expect_pings
}

spis_are() { [ "$("$lib/esp-sequence" "$work/wire.pcap" | grep -c '^SPI')" -eq "$1" ]; }
