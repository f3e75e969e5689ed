# SPDX-License-Identifier: GPL-2.0-or-later
# A CHILD_SA that closes when it has not been used for four seconds. Traffic, in
# either direction, keeps it. When it has gone, what is sent does not leave in plaintext.
no_policy=drop
may_drop=([left]=no-policy [right]=no-policy)

steps() {
	expect "the tunnel comes up" tunnel_up left
	local child side
	child=$(child_id left)
	expect_sas
	expect_output "pings lost in five seconds" 0 slow_pings
	expect_counted 10 $((10 * ping_bytes))
	expect_output "CHILD_SA in use" "$child" child_id left
	expect "it closes when nothing is sent" wait_for 60 closed
	expect_empty
	for side in left right; do
		[ "${!side}" = kernel ] || { add_route "$side"; expect_silence no-policy "$side"; }
	done
}

slow_pings() { pings right 10 0.5 | lost; }
closed() { ! established left; }
