# SPDX-License-Identifier: GPL-2.0-or-later
# The peer, with Debian's kernel, vanishes: its wire is cut. There are two connections. Of one
# dead peer detection on the left clears its databases; the right goes on trying to restart
# the tunnel and has it when the wire is mended. Of the other one, with IPv6 inside, the
# left restarts the tunnel, and the right clears it. A peer is dead when it has been silent for ten
# seconds: one that is merely busy answers sooner. The left's host talks on, and nothing of that leaves
# in plaintext though it has a route.
right=kernel no_policy=drop
may_drop=([left]=no-policy)
charon_options="retransmit_tries = 9
  retransmit_base = 1"

steps() {
	local child side
	add_ipv6
	expect "the tunnel comes up" tunnel_up right
	expect "the other one comes up" tunnel_up left net6
	expect_pings_between 4 6
	child=$(child_id left net6)
	add_route left
	cut_wire
	for side in left right; do
		expect "$side finds its peer dead" wait_for 60 gone_from "$side"
		expect "that of the other one, too" wait_for 60 gone_from "$side" net6
	done
	expect "left's databases are empty" wait_for 30 databases_empty left
	expect_output "SAs that could carry traffic" 0 sad left 'map(select(.state == "live")) | length'
	expect_silence no-policy left
	mend_wire
	expect "the right brings the tunnel back" wait_for 60 established left
	expect "the left brings the other one back" wait_for 60 established right net6
	expect "it is another" test "$(child_id left net6)" -gt "$child"
	expect_pings_between 4 6
	expect_tunnel
}
