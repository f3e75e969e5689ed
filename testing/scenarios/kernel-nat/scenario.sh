# SPDX-License-Identifier: GPL-2.0-or-later
# Two clients behind one NAT that rewrites their ports: stock strongSwan with Debian's kernel on
# the right, with kernel-libipsec as the third. Both have addresses from the pool of the gateway on
# the left. The NAT loses its mappings: packets then come from other ports, and the gateway updates
# the same SAs. So it does when the NAT gets another address, under traffic.
#
#   inside (192.168.1.0/24) ---- inside [nat] outside ---- wire
. "$top/testing/scenarios/kernel-pool/scenario.sh"
wan_addr[right]=192.168.1.2 wan_addr[third]=192.168.1.3
conf=kernel-pool
segment[right]=inside segment[third]=inside
uplink[right]=192.168.1.1 uplink[third]=192.168.1.1

more_network() {
	add_segment inside
	add_ns nat
	add_veth nat outside wire nat
	add_veth nat inside inside nat
	ip -n "$net_prefix-wire" link set nat master br0
	ip -n "$net_prefix-inside" link set nat master br0
	add_address nat outside 192.168.0.254/24
	add_address nat inside 192.168.1.1/24
	in_ns nat nft -f - <<-END
		table ip nat {
			chain postrouting {
				type nat hook postrouting priority srcnat
				oifname outside ip protocol udp masquerade to :20000-59999 random
			}
			chain input {
				type filter hook input priority filter
				iifname outside drop
			}
		}
	END
	in_ns nat sysctl -q -w net.ipv4.ip_forward=1
}

# forget_after SECONDS: the NAT removes a mapping after so long without a packet
forget_after() {
	in_ns nat sysctl -q -w "net.netfilter.nf_conntrack_udp_timeout=$1" \
		"net.netfilter.nf_conntrack_udp_timeout_stream=$1"
}

# clients_forgotten REACHES SIDE...: have the NAT remove the clients' mappings, and wait until the function REACHES
# succeeds for each again.
clients_forgotten() {
	local side
	forget_after 1
	for side in "${@:2}"; do
		expect "$side is answered" wait_for 30 "$1" "$side"
	done
	sleep 2
	forget_after 60
	for side in "${@:2}"; do
		expect "$side is answered again" wait_for 60 "$1" "$side"
	done
}

shapes=udp
may_drop=([left]=policy-discard) # while charon replaces policies to follow a client

steps() {
	local side before
	for side in right third; do
		expect "$side connects" tunnel_up "$side"
	done
	expect "each has an address of its own" own_addresses
	expect_output "SAs without encapsulation" 0 sad left 'map(select(.encap != "udp")) | length'
	expect "each has a port of its own, rewritten" own_ports
	expect_clients
	before=$(ports_and_spis)
	say "the NAT forgets: $before"
	clients_forgotten client_reaches right third
	say "now: $(ports_and_spis)"
	expect "ports have changed, SPIs have not" moved "$before" "$(ports_and_spis)"
	expect_clients
	another_address
	expect_clients
}

watched() {
	expect_output "packets from the clients' own addresses" 0 frames watch-wire net 192.168.1.0/24
}

# The NAT's address changes under traffic. Until the gateway has updated its SAs, its answers go to the old address.
another_address() {
	local side before
	before=$(outbound_spis)
	for side in right third; do start_talk "$side"; done
	sleep 0.3
	move_nat
	expect "the gateway sends to the NAT's new address" \
		wait_for 30 eval '[ "$(peers)" = "192.168.0.253 192.168.0.253" ]'
	for side in right third; do
		expect "$side is answered by the new address" wait_for 30 client_reaches "$side"
		end_talk "$side"
	done
	expect_output "SPIs out" "$before" outbound_spis
	expect_output "IKE_SAs with the new address" 2 ike_peers 192.168.0.253
}

# The NAT sends ICMP errors: host unreachable for the old address, and network unreachable while it has none.
move_nat() {
	allowed_on_wire+=" or (icmp[0] = 3 and icmp[1] < 2 and (src 192.168.0.253 or src 192.168.1.1))"
	ip -n "$net_prefix-nat" address del 192.168.0.254/24 dev outside
	ip -n "$net_prefix-nat" address add 192.168.0.253/24 dev outside
}

# start_talk SIDE [ADDRESS]: ping ADDRESS (the left host) from a client in the background.
# end_talk SIDE: end that, and print the summary.
start_talk() {
	local command="exec /bin/ping -q -i 0.05 ${2:-${host_addr[left]}}"
	local shell=(sh -c)
	[ "${!1}" != kernel ] || shell=("$top/testing/guest/shell" "$guest_control.2")
	spawn "talk-$1" "$work/talk-$1.out" ip netns exec "$net_prefix-gw-$1" "${shell[@]}" "$command"
}

end_talk() {
	expect "$1 has been talking all the time" alive "talk-$1"
	if [ "${!1}" = kernel ]; then guest_do "$1" "killall -INT ping"; else kill -INT "${pids[talk-$1]}"; fi
	reap_after "talk-$1" 30 || true
	say "$1: $(grep 'packets transmitted' "$work/talk-$1.out")"
}

# Print SPIs and peers of outbound SAs; print the number of IKE_SAs with a peer.
outbound_spis() { sad left 'map(select(.dir == "out").spi) | sort | join(" ")'; }
peers() { sad left 'map(select(.dir == "out").dst) | join(" ")'; }
ike_peers() { swanctl_on left --list-sas | grep -c "^  remote .* @ $1\["; }

# Ping both clients, and from both, at the same time.
expect_clients() {
	local side
	expect_sas
	for side in right third; do
		start_pings "client-$side" left 50 0.02 "$(vip "$side")"
	done
	for side in right third; do
		expect_output "pings from $side lost" 0 client_pings "$side"
		expect_output "pings to $side lost" 0 end_pings "client-$side"
		expect_counted 60 $((50 * ping_bytes + 10 * 84)) "$side"
	done
	expect_counted 120 $((100 * ping_bytes + 20 * 84)) left
}

out_ports() { sad left 'map(select(.dir == "out").dport) | sort | join(" ")'; }

own_ports() {
	local one two
	read -r one two <<< "$(out_ports)"
	[ "$one" -ge 20000 ] && [ "$two" -ge 20000 ] && [ "$one" != "$two" ]
}

# Print SPI and destination port of the outbound SAs: "SPI PORT, SPI PORT"
ports_and_spis() {
	sad left 'map(select(.dir == "out")) | sort_by(.spi) | map("\(.spi) \(.dport)") | join(", ")'
}

moved() {
	local spi1 port1 spi2 port2 new_spi1 new_port1 new_spi2 new_port2
	read -r spi1 port1 spi2 port2 <<< "${1//,/}"
	read -r new_spi1 new_port1 new_spi2 new_port2 <<< "${2//,/}"
	[ "$spi1 $spi2" = "$new_spi1 $new_spi2" ] && [ "$port1" != "$new_port1" ] &&
		[ "$port2" != "$new_port2" ]
}

client_reaches() { on_gateway "$1" "/bin/ping -q -c 1 -W 1 ${host_addr[left]}" > /dev/null; }
