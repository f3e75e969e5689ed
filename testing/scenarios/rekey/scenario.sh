# SPDX-License-Identifier: GPL-2.0-or-later
# CHILD_SAs and the IKE_SA are rekeyed from both sides while the hosts talk. No
# packet is lost and no sequence number of any SA is used twice.
auth=cert

steps() {
	local side ike child
	bring_up
	child=$(child_id left)
	expect "hosts reach each other" reaches left
	start_capture wire wire br0
	start_pings rekey left 30000 0.004
	for side in left right left right; do
		sleep 0.5
		expect "CHILD_SA rekeyed from $side" rekey "$side"
		expect "another CHILD_SA" wait_for 30 eval "[ \$(child_id left) = $((++child)) ]"
	done
	for side in left right; do
		sleep 0.5
		ike=$(ike_id left)
		expect "IKE_SA rekeyed from $side" rekey_ike "$side"
		expect "another IKE_SA" wait_for 30 eval "[ \$(ike_id left) != $ike ]"
	done
	expect "the old SAs go" wait_for 30 only_newest
	expect "the hosts have been talking all the time" alive pings-rekey
	reap pings-rekey INT || true
	expect_output "pings lost across the rekeys" 0 lost < "$work/pings-rekey.out"
	stop_capture wire
	expect "the last CHILD_SA is in use" test "$(child_id left)" -eq "$child"
	expect "only ciphertext on the wire" only_ciphertext wire
	expect "no ESP sequence number twice" "$lib/esp-sequence" "$work/wire.pcap"
	expect "ten SPIs were used" ten_spis
	expect_output "pings lost afterwards" 0 lost_of right
}

bring_up() { expect "the tunnel comes up" tunnel_up left; }
only_newest() { [ "$(sad left length) $(spd left length)" = "2 3" ]; }
ten_spis() { [ "$("$lib/esp-sequence" "$work/wire.pcap" | grep -c '^SPI')" -eq 10 ]; }
