# SPDX-License-Identifier: GPL-2.0-or-later
# The peer, with Debian's kernel, vanishes: its wire is cut. Dead peer detection on
# the left clears its databases; the right goes on trying to restart the tunnel
# and has it when the wire is mended.
. "$top/testing/scenarios/dpd/scenario.sh"
right=kernel

steps() {
	expect "the tunnel comes up" tunnel_up right
	expect_pings
	add_route left
	cut_wire
	expect "left finds its peer dead" wait_for 60 gone_from left
	expect "left's databases are empty" wait_for 30 databases_empty left
	expect_silence no-policy left
	expect "right finds its peer dead" wait_for 60 gone_from right
	mend_wire
	expect "the right brings the tunnel back" wait_for 60 established left
	expect_tunnel
}
