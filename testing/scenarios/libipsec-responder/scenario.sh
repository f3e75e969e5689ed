# SPDX-License-Identifier: GPL-2.0-or-later
# The gateway on the right is stock strongSwan with kernel-libipsec, which speaks
# ESP in UDP only. Left, a Cygnet gateway, initiates. CHILD_SAs and the IKE_SA are rekeyed
# from both sides under traffic, and no packet is lost. The right terminates the connection, and the left the
# CHILD_SA: no SA and no policy is left. Then the wire is cut: dead peer detection on the left restarts the
# tunnel. At last a trap on the left starts it.
right=libipsec shapes=udp no_policy=drop initiator=left
charon_options="retransmit_tries = 9
  retransmit_base = 1
  delete_rekeyed_delay = 1"

steps() {
	expect "the tunnel comes up" tunnel_up "$initiator"
	expect_tunnel
	expect_rekeys
	expect "the other side takes it down" connection_down "$(other "$initiator")"
	expect_nothing
	expect "it comes up again" tunnel_up "$initiator"
	expect_pings
	expect "the CHILD_SA goes down from $initiator" tunnel_down "$initiator"
	expect_empty
	expect "it comes up again" tunnel_up "$initiator"
	expect_return
	more_steps
	expect "the connection goes down" connection_down "$initiator"
	expect_nothing
}

expect_rekeys() {
	local side child
	child=$(child_id left)
	start_capture wire wire br0
	start_pings rekey left 30000 0.004
	for side in left right; do
		expect_rekey "$side"
		expect_rekey "$side" rekey_ike
	done
	expect "the old SAs go" wait_for 30 only_newest
	expect_none_lost rekey
	expect_ciphertext
	expect_output "packets that have been padded" 0 frames wire "${shape[udp]} and greater 400"
	expect "the last CHILD_SA is in use" test "$(child_id left)" -eq $((child + 2))
	expect_pings
}

# kernel-libipsec has no databases that can be listed, so check that the right has no IKE_SA.
expect_nothing() {
	expect_empty
	expect "the right has no SA" wait_for 30 prints_nothing swanctl_on right --list-sas
}

# The initiator has dpd_action = restart, the responder clear.
expect_return() {
	local side child
	expect_pings
	child=$(child_id left)
	cut_wire
	for side in left right; do
		expect "$side finds its peer dead" wait_for 60 gone_from "$side"
	done
	mend_wire
	expect "the tunnel comes back" wait_for 60 established left
	expect "it is another" test "$(child_id left)" -gt "$child"
	expect_pings
}

more_steps() {
	expect "the connection goes down" connection_down left
	expect "a trap is set" quiet "$work/left/trap.out" swanctl_on left --install --child net
	expect "the first ping is answered" first_ping_from left
	expect_pings
	expect "it goes down from right" tunnel_down right
	expect "the next one is answered, too" first_ping_from left
	expect_pings
	expect "the trap is taken away" quiet "$work/left/trap.out" swanctl_on left --uninstall --child net
}
