# SPDX-License-Identifier: GPL-2.0-or-later
# MOBIKE: while the hosts talk, the address that one gateway uses goes away. It
# goes on by another, with the SAs there are; then the other gateway moves, too.

# A gateway may say so when ESP comes for an address that it has no more.
allowed_on_wire+=" or (icmp and src net $wire_net.0/24)"
# When they move they have to ask for MAC addresses again, and charon has drop policies in
# place while it replaces the others.
may_drop=([left]="no-neighbour policy-discard" [right]="no-neighbour policy-discard")

steps() {
	moves "${wan_addr[left]}" "${wan_addr[right]}" /24
	expect_pings
	expect_ciphertext
	expect "ESP from the new addresses" test \
		"$(frames wire 'src 192.168.0.11 and dst 192.168.0.21 and (esp or udp port 4500)')" -gt 100
}

# moves LEFT RIGHT LENGTH [CHILD [HOST]]: from those addresses to the same with a 1 behind, while
# the left host talks with HOST. The wire is captured.
moves() {
	local before lost
	add_second left "$1" "$3"
	add_second right "$2" "$3"
	expect "the tunnel comes up" tunnel_up left "${4:-net}"
	expect_output "addresses" "$1 $2" addresses
	expect "hosts reach each other" wait_for 30 flows "${5:-${host_addr[right]}}"
	start_capture wire wire br0
	before=$(spis)
	start_pings mobike left 2500 0.004 "${5:-}"
	sleep 1
	remove_first left "$1" "$3"
	expect "left moves" wait_for 60 eval "[ \"\$(addresses)\" = '${1}1 $2' ]"
	expect "traffic flows" wait_for 30 flows "${5:-${host_addr[right]}}"
	sleep 1
	remove_first right "$2" "$3"
	expect "right moves" wait_for 60 eval "[ \"\$(addresses)\" = '${1}1 ${2}1' ]"
	expect "traffic flows" wait_for 30 flows "${5:-${host_addr[right]}}"
	lost=$(end_pings mobike)
	say "$lost pings of 2500 lost in two moves"
	expect "less than two seconds' pings lost" test "$lost" -lt 500
	expect_output "SPIs" "$before" spis
}

flows() { in_ns left ping -n -q -c 1 -W 1 "$1" > /dev/null 2>&1; }

# add_second SIDE ADDRESS LENGTH: with a 1 behind; it stays when the first one goes.
add_second() {
	local nodad=
	[[ $2 != *:* ]] || nodad=nodad
	on_gateway "$1" "sysctl -q -w net.ipv4.conf.all.promote_secondaries=1
		/sbin/ip address add ${2}1$3 dev wan $nodad"
}

remove_first() { on_gateway "$1" "/sbin/ip address del $2$3 dev wan"; }

# Of the outbound SA, left's and right's.
addresses() { sad left '.[] | select(.dir == "out") | "\(.src) \(.dst)"'; }
spis() { sad left 'map(.spi) | sort | join(" ")'; }
