# SPDX-License-Identifier: GPL-2.0-or-later
# The peer vanishes: its wire is cut. Dead peer detection on the left takes the SAs
# away and tries to restart them; when the wire is mended the tunnel comes back
# by itself. A peer is dead when it has been silent for ten seconds: one that is
# merely busy answers sooner.
charon_options="retransmit_tries = 9
  retransmit_base = 1"

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_pings
	local child
	child=$(child_id left)
	cut_wire
	expect "left finds its peer dead" wait_for 60 gone_from left
	expect_output "SAs that could carry traffic" 0 sad left 'map(select(.state == "live")) | length'
	mend_wire
	expect "the tunnel comes back" wait_for 60 established left
	expect "it is another" test "$(child_id left)" != "$child"
	expect_tunnel
}

cut_wire() { ip -n "$net_prefix-wire" link set right down; }
mend_wire() { ip -n "$net_prefix-wire" link set right up; }
gone_from() { ! established "$1"; }
