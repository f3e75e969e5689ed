# SPDX-License-Identifier: GPL-2.0-or-later
# Trap policies on both sides, Debian's kernel on the right. Traffic from the right
# brings the tunnel up, and after it was taken down, traffic from the left, whose first
# ping is answered. No packet leaves in plaintext meanwhile.
right=kernel
may_drop=([right]=XfrmOutNoStates) # the kernel does not hold what it asks for an SA for

steps() {
	expect "traffic from the right brings the tunnel up" wait_for 60 reaches right
	expect_pings
	expect "it goes down" tunnel_down left
	expect "the first ping from the left brings it up, and is answered" first_ping_from left
	expect_pings
	expect "it goes down" tunnel_down right
	expect "and so does the next one" first_ping_from left
	expect "charon is asked for what a ping needs" asked_for left icmp/8 icmp/8
	expect "it goes down" tunnel_down right
	udp_from left 40000 40009
	expect "charon is asked for what a UDP packet needs" \
		wait_for 30 asked_for left udp/40000 udp/40009
	expect "and the tunnel is up" wait_for 30 established right
	expect "packets waited for it" test "$(stats_of left waited_for_sa)" -ge 2
}
