# SPDX-License-Identifier: GPL-2.0-or-later
# Two CHILD_SAs that the left closes when they have not been used for four seconds. Debian's kernel on
# the right initiates one of them: traffic keeps that, while the other one closes. When both have gone, what
# is sent does not leave in plaintext.
right=kernel no_policy=drop
may_drop=([left]=no-policy)

steps() {
	add_ipv6
	expect "net comes up from left" tunnel_up left
	until keeps_net6; do say "the machine stood still for longer than net6 may be unused"; done
	expect "net closes" wait_for 60 gone_from left net
	expect "net6 closes when nothing is sent" wait_for 60 gone_from left net6
	expect_empty
	add_route left
	expect_silence no-policy left
}

# keeps_net6: IPv6 for longer than four seconds. Fails if the machine stood still for so long that nothing was sent: that
# says nothing.
keeps_net6() {
	local child began
	note_counters
	expect "net6 comes up from right" tunnel_up right net6
	began=$SECONDS
	start_pings slow right 60 0.1 "${host6_addr[left]}"
	child=$(child_id right net6)
	reap_after pings-slow 90 || true
	is_still "$child" || [ $((SECONDS - began)) -lt 10 ] || return 1
	expect "the CHILD_SA is in use" is_still "$child"
	expect_output "IPv6 pings lost in six seconds" 0 lost < "$work/pings-slow.out"
	expect_counted 60 $((60 * ping6_bytes))
}

is_still() { [ -n "$1" ] && [ "$(child_id right net6)" = "$1" ]; }
