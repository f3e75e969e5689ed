# SPDX-License-Identifier: GPL-2.0-or-later
# Dead peer detection: the wire to the peer, which has Debian's kernel, is cut. There are two connections. For
# the first, the left removes SAs and policies (clear), and the right tries to restart the tunnel until the wire
# is mended. For the second, with IPv6 inside, the left restarts it, and the right clears. A peer counts as dead
# after ten seconds of silence, so that a busy one does not. Packets that the left's host sends meanwhile, for
# which there is a route, do not leave in plaintext.
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
