# SPDX-License-Identifier: GPL-2.0-or-later
# IPv6 beside IPv4, for the scenarios that ask for it. Sourced.
#
#   left                  gw-left               wire             gw-right                 right
#   2001:db8:1::10 -- 2001:db8:1::1    2001:db8::1 -- bridge -- 2001:db8::2   2001:db8:2::1 -- 2001:db8:2::10
#
# Neighbour discovery is used. Addresses are usable at once, without duplicate address detection,
# and routes are static, without router advertisements.

wan6_net=2001:db8
declare -A wan6_addr=([left]=$wan6_net::1 [right]=$wan6_net::2)
declare -A lan6_net=([left]=2001:db8:1 [right]=2001:db8:2)
declare -A host6_addr=([left]=2001:db8:1::10 [right]=2001:db8:2::10)

# add_ipv6: add IPv6 addresses to the hosts and to the running gateways.
add_ipv6() {
	local side
	allowed_on_wire+=" or $allowed6_on_wire"
	inside_net="($inside_net) or net ${lan6_net[left]}::/48 or net ${lan6_net[right]}::/48"
	for side in left right; do
		add_ipv6_gateway "$side"
		in_ns "$side" sh -c "echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6"
		ip -n "$net_prefix-$side" address add "${host6_addr[$side]}/64" dev eth0 nodad
		ip -n "$net_prefix-$side" route add default via "${lan6_net[$side]}::1" dev eth0
	done
}

# add_ipv6_gateway SIDE: on wan and lan (cygnetd's TAPs), not on the veths of cygnetd's ports, where the kernel would
# forward the same packets as cygnetd.
add_ipv6_gateway() {
	on_gateway "$1" "cd /proc/sys/net/ipv6/conf
		for device in lo wan lan; do echo 0 > \$device/disable_ipv6; done
		echo 1 > all/forwarding
		/sbin/ip address add ${wan6_addr[$1]}/64 dev wan nodad
		/sbin/ip address add ${lan6_net[$1]}::1/64 dev lan nodad" || die "$1 has no IPv6"
}

# expect_pings_between FAMILY...: pings in both directions, of all families (4, 6) at once, are answered and counted.
expect_pings_between() {
	local family side bytes=0
	expect_sas
	for family in "$@"; do
		for side in left right; do
			start_pings "$side$family" "$side" 50 0.01 "$(host_of "$(other "$side")" "$family")"
		done
	done
	for family in "$@"; do
		for side in left right; do
			expect_output "IPv$family pings from $side lost" 0 end_pings "$side$family"
		done
		bytes=$((bytes + 100 * (family == 6 ? ping6_bytes : ping_bytes)))
	done
	expect_counted $((100 * $#)) "$bytes"
}

# host_of SIDE FAMILY
host_of() { if [ "$2" = 6 ]; then echo "${host6_addr[$1]}"; else echo "${host_addr[$1]}"; fi; }
