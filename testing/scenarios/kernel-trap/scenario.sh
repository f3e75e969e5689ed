# SPDX-License-Identifier: GPL-2.0-or-later
# Trap policies on both sides, Debian's kernel on the right. Traffic from the right
# brings the tunnel up, and after it was taken down, traffic from the left, whose first
# ping is answered. No packet leaves in plaintext meanwhile.
right=kernel

steps() {
	start_capture wire wire br0
	expect "traffic from the right brings the tunnel up" wait_for 60 reaches right
	expect_pings
	expect "it goes down" tunnel_down left
	expect "the first ping from the left brings it up, and is answered" first_ping_from left
	expect_pings
	expect "it goes down" tunnel_down right
	expect "and so does the next one" first_ping_from left
	expect_ciphertext
	expect "packets waited for it" test "$(stats_of left held)" -ge 2
}
