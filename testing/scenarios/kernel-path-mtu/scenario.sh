# SPDX-License-Identifier: GPL-2.0-or-later
# Path MTU discovery: between Cygnet and Debian's kernel on the right there is a link with an MTU of 1,400 bytes
# that neither is configured for. The routers at its ends fragment longer ESP packets without DF, which the other
# gateway reassembles. About the first one with DF they send an ICMP error; from then on the hosts are told the MTU,
# packets without DF arrive whatever their length, and TCP flows in both directions. First in IPv4, then in IPv6,
# where routers do not fragment.
#
#   left -- wire -- outside [near] narrow ---- narrow [far] inside -- inside -- right
right=kernel
wan_addr[right]=192.168.1.2 wan6_addr[right]=2001:db8:9::2
segment[right]=inside
uplink[left]=192.168.0.254 uplink[right]=192.168.1.1
narrow=1400
may_drop=([left]=too-big)

more_network() {
	add_segment inside
	add_router near outside wire 192.168.0.254
	add_router far inside inside 192.168.1.1
	add_veth near narrow far narrow
	add_address near narrow 192.168.9.1/24
	add_address far narrow 192.168.9.2/24
	ip -n "$net_prefix-near" link set narrow mtu "$narrow"
	ip -n "$net_prefix-far" link set narrow mtu "$narrow"
	ip -n "$net_prefix-near" route add 192.168.1.0/24 via 192.168.9.2
	ip -n "$net_prefix-far" route add 192.168.0.0/24 via 192.168.9.1
	# ICMP errors (fragmentation needed) of the routers and of the kernel, and fragments.
	allowed_on_wire+=" or (icmp[0] = 3 and icmp[1] = 4) or (ip[6:2] & 0x1fff != 0)"
}

# add_router NAME DEVICE SEGMENT ADDRESS: add a router with a DEVICE on SEGMENT
add_router() {
	add_ns "$1"
	add_veth "$1" "$2" "$3" "$1"
	ip -n "$net_prefix-$3" link set "$1" master br0
	add_address "$1" "$2" "$4/24"
	in_ns "$1" sysctl -q -w net.ipv4.ip_forward=1
}

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_pings
	expect "long ones without DF are cut on the way and answered" long_ping left 4 1350 dont
	expect_learned 4
	expect_longest 4
	expect "nothing is under way any more" wait_for 30 still
	expect "the connection goes down" connection_down left
	routers_ipv6
	expect "the tunnel comes up from right, over IPv6" tunnel_up right net6
	expect "hosts reach each other" wait_for 30 long_ping left 6 100
	expect_pings_between 6
	expect_learned 6
	expect_longest 6
}

routers_ipv6() {
	local name
	add_ipv6
	for name in near far; do
		in_ns "$name" sysctl -q -w net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.all.forwarding=1
	done
	ip -n "$net_prefix-near" address add 2001:db8::fe/64 dev outside nodad
	ip -n "$net_prefix-near" address add 2001:db8:8::1/64 dev narrow nodad
	ip -n "$net_prefix-far" address add 2001:db8:8::2/64 dev narrow nodad
	ip -n "$net_prefix-far" address add 2001:db8:9::1/64 dev inside nodad
	ip -n "$net_prefix-near" route add 2001:db8:9::/64 via 2001:db8:8::2
	ip -n "$net_prefix-far" route add 2001:db8::/64 via 2001:db8:8::1
	on_gateway left "/sbin/ip route add default via 2001:db8::fe dev wan"
	on_gateway right "/sbin/ip route add default via 2001:db8:9::1 dev wan"
	# A router sends destination unreachable if a gateway does not answer its solicitations, for example while it ends.
	allowed_on_wire+=" or (ip6[6] = 58 and ip6[40] = 1 and (src host 2001:db8:9::1 or src host 2001:db8::fe))"
	allowed_on_wire+=" or (ip6[6] = 58 and ip6[40] = 2) or ip6[6] = 44"
}

# expect_learned FAMILY: gateway and host learn the path MTU, in one direction and then in the other.
expect_learned() {
	local side headers=28
	[ "$1" = 4 ] || headers=48
	for side in left right; do
		expect "what fits arrives" long_ping "$side" "$1" 1100
		expect "what does not fit is too long" too_long "$side" "$1"
		expect_output "$side knows of the link" "$narrow" out_mtu "$side" "$1"
		expect "the host on the $side knows how long a packet may be" \
			wait_for 30 host_knows "$side" "$1"
		expect "as long as that they arrive" \
			long_ping "$side" "$1" "$(($(host_mtu "$side" "$1") - headers))"
		patience=1 expect "longer ones without DF are cut and arrive" wait_for 30 long_ping "$side" "$1" 1350 dont
		expect "TCP flows" flows "$side" "$1"
	done
}

# expect_longest FAMILY: pings of 60,000 bytes arrive, from the hosts, which fragment them, and from the gateways: a
# kernel encrypts such a packet whole, and sends ESP in more than 40 fragments.
expect_longest() {
	local side
	for side in left right; do
		ip -n "$net_prefix-$side" link set eth0 mtu 1500 # as the gateways assume
	done
	for side in left right; do
		expect "60,000 bytes from the $side arrive" long_ping "$side" "$1" 60000 dont
		expect "60,000 bytes from the $side gateway arrive" on_gateway "$side" \
			"/bin/ping -n -q -c 3 -i 0.2 -W $(scaled 5) -M dont -s 60000 $(host_of "$(other "$side")" "$1") > /dev/null"
	done
}

# Expected on the wires: three pings and their answers, each of which the routers have split into two fragments, and the
# first ESP packet with DF of each family, about which they have sent an ICMP error. Each gateway has reassembled all
# fragmented packets that were sent to it.
watched() {
	local side near far parts
	for side in left right; do
		near=watch-${segment[$side]} far=watch-${segment[$(other "$side")]}
		expect_at_least "ESP too long and without DF from the $side" 3 \
			frames "$near" "$(too_long_from "$side") and ip[6] & 0x40 = 0"
		expect_at_least "firsts of what was cut on the way from the $side" 3 \
			frames "$far" "src ${wan_addr[$side]} and ip proto 50 and ip[6:2] & 0x3fff = 0x2000"
		expect_at_least "ESP too long and with DF from the $side" 1 \
			frames "$near" "$(too_long_from "$side") and ip[6] & 0x40 != 0"
		expect_at_least "those of IPv6" 1 frames "$near" \
			"src ${wan6_addr[$side]} and ip6 proto 50 and ip6[4:2] > $((narrow - 40))"
		expect_at_least "what routers say about it to the $side" 1 frames "$near" \
			"dst ${wan_addr[$side]} and icmp[0] = 3 and icmp[1] = 4 and icmp[6:2] = $narrow"
		expect_at_least "and in IPv6" 1 frames "$near" \
			"dst ${wan6_addr[$side]} and icmp6 and ip6[40] = 2 and ip6[44:4] = $narrow"
		parts=$(frames "$near" "(dst ${wan_addr[$side]} and ip[6:2] & 0x3fff = 0x2000) or
			(dst ${wan6_addr[$side]} and ip6[6] = 44 and ip6[42:2] & 0xfff9 = 1)")
		if [ "${!side}" = kernel ]; then # it also counts packets that were fragmented inside the tunnel
			expect_at_least "packets that the $side has put together" "$parts" reassembled "$side"
		else
			expect_output "packets that the $side has put together" "$parts" reassembled "$side"
		fi
	done
}

too_long_from() { echo "src ${wan_addr[$1]} and ip proto 50 and ip[2:2] > $narrow"; }

# expect_at_least WHAT NUMBER CMD...: CMD prints at least NUMBER
expect_at_least() {
	local n
	n=$("${@:3}")
	expect "$1: $n" test "$n" -ge "$2"
}

# reassembled SIDE: print the gateway's count of reassembled packets of both families.
reassembled() {
	if [ "${!1}" != kernel ]; then
		stats_of "$1" reassembled
		return
	fi
	guest_do "$1" "cat /proc/net/snmp /proc/net/snmp6" | awk '
		$1 == "Ip:" { for (i = 2; i <= NF; i++) if (name[i] == "ReasmOKs") n += $i; else name[i] = $i }
		$1 == "Ip6ReasmOKs" { n += $2 }
		END { print n + 0 }'
}

# long_ping SIDE FAMILY BYTES [dont]: ping with DF, or with dont without DF
long_ping() {
	in_ns "$1" ping -n -q -c 3 -i 0.02 -W $(scaled "$patience") -M "${4:-do}" -s "$3" "$(host_of "$(other "$1")" "$2")" \
		> /dev/null 2>&1
}

# No ping arrives: a router drops the first one, and the host does not even send the last one.
too_long() {
	! in_ns "$1" ping -n -q -c 3 -i 0.02 -W 1 -M "do" -s 1350 "$(host_of "$(other "$1")" "$2")" \
		> /dev/null 2>&1
}

flows() {
	local rate
	rate=$(throughput "$1" "-n 4M" "$(host_of "$(other "$1")" "$2")") || return
	say "TCP: $rate Mbit/s"
	[ "${rate%.*}" -gt 0 ]
}

# out_mtu SIDE FAMILY: print the path MTU of cygnetd's SA, or of a kernel's route to the peer. host_mtu: print the
# path MTU that the host has learned, which is lower because of the overhead of ESP.
out_mtu() {
	local peer
	peer=$(other "$1")
	if [ "${!1}" != kernel ]; then
		sad "$1" 'map(select(.dir == "out").path_mtu) | .[]'
		return
	fi
	if [ "$2" = 6 ]; then peer=${wan6_addr[$peer]}; else peer=${wan_addr[$peer]}; fi
	guest_do "$1" "/sbin/ip route get $peer" | sed -n 's/.* mtu \([0-9]*\).*/\1/p'
}

host_mtu() {
	local mtu
	mtu=$(ip -n "$net_prefix-$1" -j route get "$(host_of "$(other "$1")" "$2")" |
		jq '.[0].metrics[0].mtu // 0')
	[ "$mtu" -gt 1200 ] && [ "$mtu" -lt "$narrow" ] && echo "$mtu"
}

# Try again: on a busy machine all long pings may have been sent before the gateway had learned the MTU.
host_knows() { host_mtu "$@" > /dev/null || { too_long "$@"; false; }; }
