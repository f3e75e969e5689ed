# SPDX-License-Identifier: GPL-2.0-or-later
# MOBIKE with Debian's kernel on the right, under traffic: a gateway loses the address in use, and its SAs move
# to another one; then the other gateway moves, too. Then the left has only an address behind a NAT: the same
# SAs continue with ESP in UDP. Then it has no IPv4 address any more: they continue over IPv6, without UDP. At
# last moves between IPv6 addresses only, initiated by the right, of ESP and AH.
#
#                    .-------------.
#   left ----- inside               wire ----- right
#                    '--- [nat] ---'
. "$top/testing/scenarios/kernel-nat/scenario.sh"
sides="left right" right=kernel
wan_addr[right]=192.168.0.2
segment=([left]=inside [right]=wire) uplink=()
# A gateway may send an ICMP error about ESP to an address that it no longer has.
allowed_on_wire+=" or (icmp and src net $wire_net.0/24)"
# Linux also sends ICMPv6 redirects and destination unreachable.
allowed_on_wire+=" or (ip6[6] = 58 and (ip6[40] = 1 or ip6[40] = 137) and (src net $wan6_net::/64 or src net fe80::/64))"
# ICMP errors about AH quote it, and its payload; the NAT does not translate the source of those in IPv4.
shapes="esp udp ah" allowed_on_wire+=" or ah or (icmp and src 192.168.1.2)"
readable_on_wire="ah or (ip6[6] = 58 and (ip6[40] = 1 or ip6[40] = 137))"
# After a move MAC addresses must be resolved again (no-neighbour), and charon installs drop policies while it replaces
# the others (policy-discard). Without an address there is no route until charon moves (no-route); packets in flight to
# the old address match no SA any more (bad-spi).
may_drop=([left]="bad-spi no-neighbour no-route policy-discard")
may_drop[left]+=" martian" # packets from a link-local address to the address that the left has lost
may_drop[left]+=" esp-encap" # until both gateways know of the NAT, or that there is none any more
may_drop[right]="XfrmInNoStates XfrmInStateInvalid XfrmInNoPols XfrmInTmplMismatch XfrmInPolBlock XfrmOutPolBlock"
may_drop[right]+=" XfrmOutBundleGenError XfrmInStateMismatch"
eval "nat_network() $(declare -f more_network | tail -n +2)"

more_network() {
	nat_network
	add_veth inside trunk wire trunk
	ip -n "$net_prefix-inside" link set trunk master br0
	ip -n "$net_prefix-wire" link set trunk master br0
}

steps() {
	over4
	moves_behind_nat
	moves_to_ipv6
	expect "the connection goes down" connection_down left
	expect_empty
	over6
}

over4() {
	moves left "${wan_addr[left]}" "${wan_addr[right]}" /24
	expect_pings
	expect_ciphertext
	expect "ESP from the new addresses" test \
		"$(frames wire 'src 192.168.0.11 and dst 192.168.0.21 and (esp or udp port 4500)')" -gt 100
}

moves_behind_nat() {
	on_gateway left "/sbin/ip address add 192.168.1.2/24 dev wan"
	# Both changes in one batch: if charon finds no route it tries again only after two seconds.
	left_moves "printf 'address del 192.168.0.11/24 dev wan\nroute add 192.168.0.21 via 192.168.1.1\n' |
		/sbin/ip -batch -" "192.168.1.2 192.168.0.21"
	expect_output "encapsulation" udp encapsulation
	expect_output "SAs in UDP in the kernel" 2 kernel_encaps
	expect "ESP in UDP from the NAT" \
		test "$(frames wire "src 192.168.0.254 and ${shape[udp]}")" -gt 100
	expect_pings
}

kernel_encaps() { guest_xfrm right state | grep -cE 'encap type espinudp sport (4500 dport [2-5][0-9]{4}|[2-5][0-9]{4} dport 4500) '; }

moves_to_ipv6() {
	add_ipv6
	expect "left hears of the right's IPv6 address" wait_for 60 grep -q \
		'parsed INFORMATIONAL request .* N(ADD_6_ADDR)' "$(charon_log left)"
	left_moves "/sbin/ip -4 address flush dev wan" "${wan6_addr[left]} ${wan6_addr[right]}"
	expect_output "encapsulation" none encapsulation
	expect "ESP in IPv6" test "$(frames wire 'ip6 proto 50')" -gt 100
}

# Without IPv4 addresses, so that IPv6 is the only choice.
over6() {
	local name
	on_gateway right "/sbin/ip -4 address flush dev wan"
	expect "ah comes up from right" tunnel_up right ah
	start_pings ah left 30000 0.02
	moves right "${wan6_addr[left]}" "${wan6_addr[right]}" /64 net6 "${host6_addr[right]}"
	expect "traffic flows in AH, too" wait_for 30 reaches left
	expect_talking ah
	expect_pings_between 4 6
	expect_ciphertext
	for name in esp ah; do
		expect "${name^^} from the new addresses" test "$(frames wire \
			"src ${wan6_addr[left]}1 and dst ${wan6_addr[right]}1 and ${shape[$name]}")" -gt 100
	done
}

# left_moves COMMAND ADDRESSES: run COMMAND on the left gateway under traffic; its SAs move to ADDRESSES. The wire is
# captured.
left_moves() {
	local before sent
	start_capture wire wire br0
	before=$(spis)
	start_pings mobike left 30000 0.004
	sleep 0.3
	sent=$(sequence)
	on_gateway left "$1"
	expect_moved left "$2" "${host_addr[right]}"
	expect_talking mobike
	expect_output "SPIs" "$before" spis
	expect "sequence numbers go on" test "$(sequence)" -gt "$sent"
	expect_ciphertext
}

# moves INITIATOR LEFT RIGHT LENGTH [CHILD [HOST]]: move the SAs of CHILD from the addresses LEFT and RIGHT to LEFT1 and
# RIGHT1 (a digit 1 appended), while the left host pings HOST. The wire is captured.
moves() {
	local child=${5:-net} host=${6:-${host_addr[right]}} before
	add_second left "$2" "$4"
	add_second right "$3" "$4"
	expect "$child comes up from $1" tunnel_up "$1" "$child"
	expect_output "addresses" "$2 $3" addresses
	expect "hosts reach each other" wait_for 30 flows "$host"
	start_capture wire wire br0
	before=$(spis)
	start_pings mobike left 30000 0.004 "$host"
	sleep 0.3
	remove_first left "$2" "$4"
	# charon may also choose the right's second address.
	expect_moved left "${2}1 $3" "$host" "${2}1 ${3}1"
	sleep 0.3
	remove_first right "$3" "$4"
	expect_moved right "${2}1 ${3}1" "$host"
	expect_talking mobike
	expect_output "SPIs" "$before" spis
}

# expect_moved SIDE ADDRESSES HOST [OTHER-ADDRESSES]: wait until the SAs have these addresses and HOST answers
expect_moved() {
	expect "$1 moves" wait_for 60 has_addresses "$2" "${4:-$2}"
	expect "traffic flows" wait_for 30 flows "$3"
}

has_addresses() {
	local now
	now=$(addresses)
	[ "$now" = "$1" ] || [ "$now" = "$2" ]
}

# expect_talking NAME: the pings of that name still run, and 200 others pass; then end them.
expect_talking() {
	local patience=1
	expect "traffic goes on" quiet "$work/ping.out" pings left 200 0.004
	expect "the hosts have been talking all the time" alive "pings-$1"
	reap "pings-$1" || true
}

flows() { in_ns left ping -n -q -c 1 -W 1 "$1" > /dev/null 2>&1; }

# add_second SIDE ADDRESS LENGTH: add ADDRESS1, which stays when ADDRESS is removed.
add_second() {
	local nodad=
	[[ $2 != *:* ]] || nodad=nodad
	on_gateway "$1" "sysctl -q -w net.ipv4.conf.all.promote_secondaries=1
		/sbin/ip address add ${2}1$3 dev wan $nodad"
}

remove_first() { on_gateway "$1" "/sbin/ip address del $2$3 dev wan"; }

# Print the outer addresses, source and destination, of the left's outbound SAs.
addresses() { sad left 'map(select(.dir == "out") | "\(.src) \(.dst)") | unique | join(", ")'; }
encapsulation() { sad left 'map(.encap) | unique | join(", ")'; }
spis() { sad left 'map(.spi) | sort | join(" ")'; }
sequence() { sad left '.[] | select(.dir == "out") | .seq'; }

watched() {
	expect_output "packets in UDP from behind the NAT" 0 frames watch-wire "udp and net 192.168.1.0/24"
}
