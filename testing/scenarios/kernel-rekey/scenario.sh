# SPDX-License-Identifier: GPL-2.0-or-later
# As rekey, with the ESP of Debian's kernel on the right: CHILD_SAs and the
# IKE_SA are rekeyed from both sides under traffic, and no packet is lost. Either side
# initiates with its certificate.
. "$top/testing/scenarios/rekey/scenario.sh"
right=kernel
# Of the peer's as long as it has them by default, on the CPU.
[ "$engine" = cpu ] || charon_options="delete_rekeyed_delay = 1"

bring_up() {
	expect "the tunnel comes up from right" tunnel_up right
	expect_output "pings from right lost" 0 lost_of right
	expect "the connection goes down" connection_down right
	expect_empty
	expect "the tunnel comes up from left" tunnel_up left
}
