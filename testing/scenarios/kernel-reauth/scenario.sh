# SPDX-License-Identifier: GPL-2.0-or-later
# Reauthentication, make before break, from both sides under traffic, Debian's kernel on the right: the new
# IKE_SA and CHILD_SA are negotiated before the old ones are deleted. The responder sends with the new SA as
# soon as it answers, but the initiator installs it only when it has read the answer: packets that arrive in
# between have an unknown SPI, which IKEv2 cannot avoid. No other packet is lost.
right=kernel charon_options="make_before_break = yes"
may_drop=([left]=bad-spi [right]="XfrmInNoStates XfrmInStateInvalid XfrmAcquireError")

steps() {
	local side lost
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	start_pings reauth left 30000 0.004
	for side in left right left; do
		sleep 0.3
		expect_rekey "$side" rekey_ike --reauth
	done
	expect "the old ones go" wait_for 30 one_installed
	expect "hosts still reach each other" wait_for 30 reaches left
	expect "the hosts have been talking all the time" alive pings-reauth
	reap pings-reauth INT || true
	lost=$(lost < "$work/pings-reauth.out")
	expect_output "pings lost, and what came for an unknown SPI" "$lost" unknown_spis
	expect_pings
	expect "the connection goes down" connection_down left
	expect_empty
}

# Packets whose SA is not in the SAD, or is there without keys (SPI allocated only).
kernel_unknown_spis() {
	guest_do right 'cat /proc/net/xfrm_stat' |
		awk '/^XfrmInNoStates|^XfrmInStateInvalid|^XfrmAcquireError/ { sum += $2 } END { print sum }'
}

# Print the sum for both sides.
unknown_spis() { echo $(($(drops left bad-spi) + $(kernel_unknown_spis))); }

one_installed() { [ "$(swanctl_on left --list-sas | grep -c 'net:.*INSTALLED')" = 1 ]; }
