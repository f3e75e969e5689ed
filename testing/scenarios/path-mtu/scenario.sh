# SPDX-License-Identifier: GPL-2.0-or-later
# Between two Cygnet gateways there is a link of 1,300 bytes, which neither knows of. The
# routers at its ends say so about the first ESP that is too long; from then on the hosts
# hear how long a packet may be, what may be cut arrives, and TCP flows in both directions.
#
#   left -- wire -- outside [near] narrow ---- narrow [far] inside -- inside -- right
wan_addr[right]=192.168.1.2
segment[right]=inside
uplink[left]=192.168.0.254 uplink[right]=192.168.1.1
narrow=1300

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
	# Routers say more than these do, and so does the kernel about its own.
	allowed_on_wire+=" or (icmp[0] = 3 and icmp[1] = 4) or (ip[6:2] & 0x1fff != 0)"
}

# add_router NAME DEVICE SEGMENT ADDRESS
add_router() {
	add_ns "$1"
	add_veth "$1" "$2" "$3" "$1"
	ip -n "$net_prefix-$3" link set "$1" master br0
	add_address "$1" "$2" "$4/24"
	in_ns "$1" sysctl -q -w net.ipv4.ip_forward=1
}

steps() {
	local side
	expect "the tunnel comes up" tunnel_up left
	start_capture wire wire br0
	for side in left right; do
		expect "what fits arrives" long_ping "$side" 1100
		expect "what does not fit is too long" too_long "$side"
		expect_output "$side knows of the link" "$narrow" out_mtu "$side"
		expect "the host on the $side knows how long a packet may be" wait_for 5 host_knows "$side"
		expect "as long as that they arrive" long_ping "$side" "$(($(host_mtu "$side") - 28))"
		expect "longer ones without DF are cut and arrive" long_ping "$side" 1372 dont
		expect "TCP flows" flows "$side"
	done
	stop_capture wire
	expect "only ciphertext on the wire" only_ciphertext wire
}

# long_ping SIDE BYTES [dont]: with DF, unless said
long_ping() {
	in_ns "$1" ping -n -q -c 3 -i 0.2 -W 5 -M "${3:-do}" -s "$2" "${host_addr[$(other "$1")]}" > /dev/null 2>&1
}

# None arrives: a router loses the first, the host itself does not send the last.
too_long() {
	! in_ns "$1" ping -n -q -c 3 -i 0.2 -W 1 -M "do" -s 1372 "${host_addr[$(other "$1")]}" > /dev/null 2>&1
}

flows() {
	local rate
	rate=$(throughput "$1" 1) || return
	say "TCP: $rate Mbit/s"
	[ "${rate%.*}" -gt 0 ]
}

# Of the SA, and of a kernel's route to the peer.
out_mtu() {
	if [ "${!1}" = kernel ]; then
		guest_do "$1" "/sbin/ip route get ${wan_addr[$(other "$1")]}" | sed -n 's/.* mtu \([0-9]*\).*/\1/p'
	else
		sad "$1" 'map(select(.dir == "out").path_mtu) | .[]'
	fi
}

# What the host keeps of the answer to its packets; less than the link that ESP takes.
host_mtu() {
	local mtu
	mtu=$(ip -n "$net_prefix-$1" -j route get "${host_addr[$(other "$1")]}" |
		jq '.[0].metrics[0].mtu // 0')
	[ "$mtu" -gt 1200 ] && [ "$mtu" -lt "$narrow" ] && echo "$mtu"
}

host_knows() { host_mtu "$1" > /dev/null; }
