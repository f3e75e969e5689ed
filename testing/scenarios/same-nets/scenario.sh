# SPDX-License-Identifier: GPL-2.0-or-later
# Two peers with the same networks, at two addresses of the right: the newer one gets the traffic of the hosts and of
# the left gateway itself. Then its address is removed, and the older one gets it. Until then the right forwards
# packets that the left still sends to the removed address.
may_drop=([right]=no-neighbour)

steps() {
	add_address gw-right wan 192.168.0.3/24
	expect "the older tunnel comes up" tunnel_up left
	expect_output "next hop of the gateway's own packets" 192.168.0.2 own_next_hop
	expect_own_pings
	expect "the newer tunnel comes up" tunnel_up left newer
	expect_output "next hop of the gateway's own packets" 192.168.0.3 own_next_hop
	expect_own_pings
	ip -n "$net_prefix-gw-right" address del 192.168.0.3/24 dev wan
	expect "left gives the newer up" quiet "$work/left/terminate.out" \
		swanctl_on left --terminate --ike newer --force
	expect_output "next hop of the gateway's own packets" 192.168.0.2 own_next_hop
	expect "right gives it up, too" quiet "$work/right/terminate.out" \
		swanctl_on right --terminate --ike-id "$(ike_id right)" --force
	expect_own_pings
	expect_pings
}

own_next_hop() { ip -n "$net_prefix-gw-left" route show table 220 | sed -n 's/^10.2.0.0.24 via \([^ ]*\) .* src 10.1.0.1 *$/\1/p'; }

expect_own_pings() {
	start_pings own gw-left 20 0.02 "${host_addr[right]}"
	expect_output "pings of the gateway's own lost" 0 end_pings own
}
