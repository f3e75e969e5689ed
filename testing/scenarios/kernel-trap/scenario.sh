# SPDX-License-Identifier: GPL-2.0-or-later
# Trap policies on both sides, Debian's kernel on the right. Traffic from the right
# brings the tunnel up, and after it was taken down, traffic from the left. No
# packet leaves in plaintext meanwhile.
right=kernel

steps() {
	start_capture wire wire br0
	expect "traffic from the right brings the tunnel up" wait_for 60 reaches right
	expect_pings
	expect "it goes down" tunnel_down left
	expect "traffic from the left brings it up" wait_for 60 reaches left
	expect_pings
	expect "it goes down" tunnel_down right
	expect "traffic from the left brings it up again" wait_for 60 reaches left
	expect_ciphertext
	expect "packets for want of an SA were dropped" test "$(drops left no-sa)" -gt 0
}
