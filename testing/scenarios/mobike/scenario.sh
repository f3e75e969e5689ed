# SPDX-License-Identifier: GPL-2.0-or-later
# MOBIKE: while the hosts talk, the address that one gateway uses goes away. It
# goes on by another, with the SAs there are; then the other gateway moves, too.

# A gateway may say so when ESP comes for an address that it has no more.
allowed_on_wire+=" or (icmp and src net $wire_net.0/24)"

steps() {
	local before lost
	add_second left "${wan_addr[left]}1"
	add_second right "${wan_addr[right]}1"
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" reaches left
	expect_output "addresses" "192.168.0.1 192.168.0.2" addresses
	before=$(spis)
	start_capture wire wire br0
	start_pings mobike left 2500 0.004
	sleep 1
	remove_first left
	expect "left moves" wait_for 60 eval '[ "$(addresses)" = "192.168.0.11 192.168.0.2" ]'
	expect "traffic flows" wait_for 30 reaches left
	sleep 1
	remove_first right
	expect "right moves" wait_for 60 eval '[ "$(addresses)" = "192.168.0.11 192.168.0.21" ]'
	expect "traffic flows" wait_for 30 reaches left
	lost=$(end_pings mobike)
	say "$lost pings of 2500 lost in two moves"
	expect "less than two seconds' pings lost" test "$lost" -lt 500
	expect_output "SPIs" "$before" spis
	expect_pings
	expect_ciphertext
	expect "ESP from the new addresses" test \
		"$(frames wire 'src 192.168.0.11 and dst 192.168.0.21 and (esp or udp port 4500)')" -gt 100
}

# add_second SIDE ADDRESS: it stays when the first one goes.
add_second() {
	on_gateway "$1" "sysctl -q -w net.ipv4.conf.all.promote_secondaries=1
		ip address add $2/24 dev wan"
}

remove_first() { on_gateway "$1" "ip address del ${wan_addr[$1]}/24 dev wan"; }

# Of the outbound SA, left's and right's.
addresses() { sad left '.[] | select(.dir == "out") | "\(.src) \(.dst)"'; }
spis() { sad left 'map(.spi) | sort | join(" ")'; }
