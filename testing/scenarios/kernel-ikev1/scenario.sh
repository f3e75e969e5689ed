# SPDX-License-Identifier: GPL-2.0-or-later
# IKEv1, main mode with a pre-shared key, Debian's kernel on the right. Initiated
# from either side, and rekeyed.
right=kernel

steps() {
	local side before
	for side in left right; do
		expect "the tunnel comes up from $side" tunnel_up "$side"
		expect "the responder has it, too" wait_for 30 reaches left
		expect_tunnel
		before=$(child_id left)
		expect "rekeyed from $side" rekey "$side"
		expect "another CHILD_SA is in use" wait_for 60 eval '[ "$(child_id left)" -gt "$before" ]'
		expect_pings
		expect "the connection goes down" connection_down "$side"
		expect_empty
	done
}
