# SPDX-License-Identifier: GPL-2.0-or-later
# As ikev1, with Debian's kernel on the right, which as a client has a password (XAuth). Then
# it vanishes: dead peer detection on the left restarts the tunnel, which comes back when the wire
# is mended.
. "$top/testing/scenarios/dpd/scenario.sh"
. "$top/testing/scenarios/ikev1/scenario.sh"
right=kernel no_policy=pass
charon_plugins+=" xauth-generic"
# What comes before it has the keys.
may_drop=([left]=bad-spi [right]="XfrmInNoStates XfrmInStateInvalid XfrmAcquireError")
eval "with_peer() $(declare -f steps | tail -n +2)"

steps() {
	local child
	with_peer
	expect "the password was asked for" \
		grep "XAuth authentication of 'client' successful" "$(charon_log left)"
	expect "the tunnel comes up" tunnel_up left back
	expect_pings
	child=$(child_id left back)
	cut_wire
	expect "left finds its peer dead" wait_for 60 gone_from left back
	expect "right finds its peer dead" wait_for 60 gone_from right back
	mend_wire
	expect "the tunnel comes back" wait_for 60 established left back
	expect "it is another" test "$(child_id left back)" -gt "$child"
	expect_pings
}
