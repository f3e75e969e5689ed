# SPDX-License-Identifier: GPL-2.0-or-later
# MOBIKE: while the hosts talk, the address that one gateway uses goes away. It
# goes on by another, with the SAs there are; then the other gateway moves, too. At last the
# first one has no IPv4 address any more: the same SAs go on in IPv6.

# A gateway may say so when ESP comes for an address that it has no more.
allowed_on_wire+=" or (icmp and src net $wire_net.0/24)"
# Linux also says that the way to it is through somebody else.
allowed_on_wire+=" or (ip6[6] = 58 and (ip6[40] = 1 or ip6[40] = 137) and (src net $wan6_net::/64 or src net fe80::/64))"
# When they move they have to ask for MAC addresses again, and charon has drop policies in
# place while it replaces the others. Without an address there is no route, until charon moves;
# what was under way to the old address is for no SA any more.
may_drop=([left]="bad-spi no-neighbour no-route policy-discard" [right]="bad-spi no-neighbour policy-discard")

steps() {
	moves "${wan_addr[left]}" "${wan_addr[right]}" /24
	expect_pings
	expect_ciphertext
	expect "ESP from the new addresses" test \
		"$(frames wire 'src 192.168.0.11 and dst 192.168.0.21 and (esp or udp port 4500)')" -gt 100
	moves_to_ipv6
}

moves_to_ipv6() {
	local before lost sent
	add_ipv6
	expect "left hears of the right's IPv6 address" wait_for 60 grep -q \
		'parsed INFORMATIONAL request .* N(ADD_6_ADDR)' "$(charon_log left)"
	start_capture wire6 wire br0
	before=$(spis)
	sent=$(sequence)
	start_pings family left 1000 0.004
	sleep 1
	on_gateway left "/sbin/ip -4 address flush dev wan"
	expect "both move to IPv6" wait_for 60 eval "[ \"\$(addresses)\" = '${wan6_addr[left]} ${wan6_addr[right]}' ]"
	expect "traffic flows" wait_for 30 flows "${host_addr[right]}"
	lost=$(end_pings family)
	say "$lost pings of 1000 lost in the move to IPv6"
	expect "less than two seconds' pings lost" test "$lost" -lt 500
	expect_output "SPIs" "$before" spis
	expect "sequence numbers go on" test "$(sequence)" -gt $((sent + 1000 - lost))
	stop_capture wire6
	expect "nothing but ciphertext on the wire" only_ciphertext wire6
	expect "ESP in IPv6" test "$(frames wire6 'ip6 proto 50 or (ip6 and udp port 4500)')" -gt 100
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
sequence() { sad left '.[] | select(.dir == "out") | .seq'; }
