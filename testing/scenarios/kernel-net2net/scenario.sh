# SPDX-License-Identifier: GPL-2.0-or-later
# The gateway on the right is stock strongSwan with the ESP of Debian's kernel, in a virtual machine. Either
# side initiates, and either side terminates CHILD_SA and IKE_SA: then neither side has an SA or policy left, and
# nothing leaves in plaintext. The same holds when trap policies are uninstalled. While they are installed,
# traffic from either side starts the tunnel, and the first ping from the left is answered.
right=kernel no_policy=drop
may_drop=([left]=no-policy [right]=XfrmOutNoStates) # the kernel drops packets for which it has sent an acquire

steps() {
	local side
	add_route left
	expect_nothing
	for side in left right; do
		expect "the tunnel comes up from $side" tunnel_up "$side"
		expect_output "SAs" 2 sad left length
		expect_output "policies" 3 spd left length
		expect_tunnel
		expect "the CHILD_SA goes down from $side" tunnel_down "$side"
		expect_nothing
		expect "it comes up again from $(other "$side")" tunnel_up "$(other "$side")"
		expect_pings
		expect "the IKE_SA goes down from $side" connection_down "$side"
		expect_nothing
	done
	trap_policies
}

expect_nothing() {
	expect_empty
	expect_silence no-policy left
}

trap_policies() {
	local side
	for side in left right; do expect "$side sets a trap" trap_is "$side" --install; done
	expect_output "policies" 3 spd left length
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
	expect "right takes its trap away" trap_is right --uninstall
	expect "the IKE_SA goes down" connection_down left
	expect_output "policies" 3 spd left length
	expect "left takes its trap away" trap_is left --uninstall
	expect_nothing
}

trap_is() { quiet "$work/$1/trap.out" swanctl_on "$1" "$2" --child trap; }
