# SPDX-License-Identifier: GPL-2.0-or-later
# Reauthentication, make before break, from both sides while the hosts talk: the
# new IKE_SA and its CHILD_SA are there before the old go. A responder uses the
# new SA when it answers, and the initiator has it when it has read the answer:
# what arrives in between is for an unknown SPI, for which IKEv2 has no remedy.
# Nothing else is lost.
charon_options="make_before_break = yes"
may_drop=([left]=bad-spi [right]=bad-spi)

steps() {
	local side lost
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	start_pings reauth left 2000 0.004
	for side in left right left; do
		sleep 1.5
		expect_rekey "$side" rekey_ike --reauth
	done
	lost=$(end_pings reauth)
	expect_output "pings lost, and what came for an unknown SPI" "$lost" unknown_spis
	expect "most were answered" test "$lost" -lt 200
	expect_output "CHILD_SAs at last" 1 installed left
	expect_pings
	expect "the connection goes down" connection_down left
	expect_empty
}

# Not in the SAD, or there without keys: the SPI has been allocated.
kernel_unknown_spis() {
	guest_do right 'cat /proc/net/xfrm_stat' |
		awk '/^XfrmInNoStates|^XfrmInStateInvalid|^XfrmAcquireError/ { sum += $2 } END { print sum }'
}

# On both sides together.
unknown_spis() {
	local left_drops right_drops
	left_drops=$(drops left bad-spi)
	if [ "$right" = kernel ]; then
		right_drops=$(kernel_unknown_spis)
	else
		right_drops=$(drops right bad-spi)
	fi
	echo $((left_drops + right_drops))
}

installed() { swanctl_on "$1" --list-sas | grep -c 'net:.*INSTALLED'; }
