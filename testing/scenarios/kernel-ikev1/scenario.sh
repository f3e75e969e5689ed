# SPDX-License-Identifier: GPL-2.0-or-later
# IKEv1, main mode with a pre-shared key, Debian's kernel on the right. Initiated
# from either side, and rekeyed; the old CHILD_SAs stay until they expire.
right=kernel old_sas=stay
may_drop=([right]=XfrmAcquireError) # what comes before it has the keys

steps() {
	local side
	for side in left right; do
		expect "the tunnel comes up from $side" tunnel_up "$side"
		expect "the responder has it, too" wait_for 30 reaches left
		expect_tunnel
		expect_rekey "$side"
		expect_pings
		expect "the connection goes down" connection_down "$side"
		expect_empty
	done
}
