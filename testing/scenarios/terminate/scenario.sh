# SPDX-License-Identifier: GPL-2.0-or-later
# Whatever was installed is gone after it was terminated or uninstalled, on both
# sides: no SA and no policy is left, and nothing leaves in plaintext then.
no_policy=drop
may_drop=([left]=no-policy [right]=no-policy)

steps() {
	local side
	for side in left right; do
		[ "${!side}" = kernel ] || add_route "$side"
	done
	expect_nothing
	for side in left right; do
		expect "the tunnel comes up" tunnel_up left
		expect_output "SAs" 2 sad left length
		expect_output "policies" 3 spd left length
		expect_pings
		expect "the CHILD_SA goes down from $side" tunnel_down "$side"
		expect_nothing
		expect "it comes up again" tunnel_up right
		expect_pings
		expect "the IKE_SA goes down from $side" connection_down "$side"
		expect_nothing
	done
	trap_policies
}

expect_nothing() {
	local side
	expect_empty
	for side in left right; do
		[ "${!side}" = kernel ] || expect_silence no-policy "$side"
	done
}

trap_policies() {
	expect "trap policies are installed" swanctl_quiet --install --child trap
	expect_output "policies" 3 spd left length
	expect "traffic brings the tunnel up" wait_for 60 reaches left
	expect "the IKE_SA goes down" connection_down left
	expect_output "policies" 3 spd left length
	expect "trap policies are uninstalled" swanctl_quiet --uninstall --child trap
	expect_nothing
}

swanctl_quiet() { quiet "$work/left/swanctl.out" swanctl_on left "$@"; }
