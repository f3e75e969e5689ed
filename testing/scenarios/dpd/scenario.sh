# SPDX-License-Identifier: GPL-2.0-or-later
# The peer vanishes: the wire between them is cut. Dead peer detection on the left takes the
# SAs away and tries to restart them; when the wire is mended the tunnel comes back
# by itself. A peer is dead when it has been silent for ten seconds: one that is
# merely busy answers sooner. The hosts talk on, and nothing of that leaves in plaintext
# though it has a route.
no_policy=drop
may_drop=([left]=no-policy [right]=no-policy)
charon_options="retransmit_tries = 9
  retransmit_base = 1"

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_pings
	local child
	child=$(child_id left)
	add_route left
	add_route right
	cut_wire
	expect "left finds its peer dead" wait_for 60 gone_from left
	expect "right finds its peer dead" wait_for 60 gone_from right
	expect_output "SAs that could carry traffic" 0 sad left 'map(select(.state == "live")) | length'
	expect_silence no-policy left right
	mend_wire
	expect "the tunnel comes back" wait_for 60 established left
	expect "it is another" test "$(child_id left)" != "$child"
	expect_tunnel
}

# In the middle: what a gateway sends is captured as ever.
cut_wire() {
	in_ns wire nft "table bridge cut { chain forward { type filter hook forward priority 0; policy drop; }; }"
}

mend_wire() { in_ns wire nft "delete table bridge cut"; }
gone_from() { ! established "$@"; }
