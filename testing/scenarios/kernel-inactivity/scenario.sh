# SPDX-License-Identifier: GPL-2.0-or-later
# Two CHILD_SAs that the left closes when they have not been used for four seconds. One is initiated by the
# right, with Debian's kernel, and is kept open by traffic while the other one is closed. When both are closed,
# packets do not leave in plaintext.
right=kernel no_policy=drop
may_drop=([left]=no-policy)

steps() {
	add_ipv6
	expect "net comes up from left" tunnel_up left
	until keeps_net6; do say "the machine stood still for longer than net6 may be unused"; done
	expect "it closes when nothing is sent" wait_for 60 gone_from left net6
	expect_empty
	add_route left
	expect_silence no-policy left
}

# keeps_net6: IPv6 traffic for longer than four seconds keeps net6 open while net is closed. Returns 1 if the machine
# stood still for so long that net6 really was unused: then the attempt proves nothing and is repeated.
keeps_net6() {
	local child lag sent began
	expect "net6 comes up from right" tunnel_up right net6
	began=$SECONDS
	start_pings slow right 30000 0.1 "${host6_addr[left]}"
	child=$(child_id right net6)
	lag=$((SECONDS - began))
	expect "net closes" wait_for 60 gone_from left net
	sleep 6
	! in_use "$child" || expect_sas
	reap pings-slow INT || true
	if [ -z "$child" ] || [ "$lag" -ge 3 ] || [ "$(longest_pause)" -ge 3 ]; then
		tunnel_down left net6 2> /dev/null || true
		return 1
	fi
	expect "the CHILD_SA is in use" in_use "$child"
	sent=$(sed -n 's/ packets transmitted.*//p' "$work/pings-slow.out")
	seen_sas=([left]="" [right]="") # the SAs are new, so all that they counted is the pings
	expect_output "IPv6 pings lost" 0 lost < "$work/pings-slow.out"
	expect_counted "$sent" $((sent * ping6_bytes))
}

in_use() { [ -n "$1" ] && [ "$(child_id left net6)" ] && [ "$(child_id right net6)" = "$1" ]; }
longest_pause() { sed -n 's/^longest pause: \([0-9]*\)\..*/\1/p' "$work/pings-slow.out"; }
