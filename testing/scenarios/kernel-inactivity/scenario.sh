# SPDX-License-Identifier: GPL-2.0-or-later
# As inactivity, with Debian's kernel on the right, which initiates one of two CHILD_SAs:
# traffic keeps that, while the other one closes.
. "$top/testing/scenarios/inactivity/scenario.sh"
right=kernel

steps() {
	local child
	add_ipv6
	expect "net comes up from left" tunnel_up left
	expect "net6 comes up from right" tunnel_up right net6
	child=$(child_id left net6)
	expect_sas
	start_pings slow right 14 0.5 "${host6_addr[left]}"
	expect "net closes" wait_for 60 gone_from left net
	expect_output "IPv6 pings lost in seven seconds" 0 end_pings slow
	expect_counted 14 $((14 * ping6_bytes))
	expect_output "CHILD_SA in use" "$child" child_id left net6
	expect "it closes when nothing is sent" wait_for 60 gone_from left net6
	expect_empty
	add_route left
	expect_silence no-policy left
}

gone_from() { ! established "$@"; }
