# SPDX-License-Identifier: GPL-2.0-or-later
# As mobike, with Debian's kernel on the right; but before IPv4 goes, the left has nothing but
# an address behind a NAT: ESP goes on in UDP, with the SAs there are, and then in IPv6 without it.
# Then between addresses of IPv6 alone, initiated by the right; AH moves with ESP.
#
#                    .-------------.
#   left ----- inside               wire ----- right
#                    '--- [nat] ---'
. "$top/testing/scenarios/nat/scenario.sh"
. "$top/testing/scenarios/mobike/scenario.sh"
sides="left right" right=kernel
wan_addr[right]=192.168.0.2
segment=([left]=inside [right]=wire) uplink=()
# An ICMP error about AH quotes it; of those in IPv4 the NAT leaves the source.
shapes="esp udp ah" allowed_on_wire+=" or ah or (icmp and src 192.168.1.2)"
readable_on_wire="ah or (ip6[6] = 58 and (ip6[40] = 1 or ip6[40] = 137))"
may_drop[left]+=" martian" # from its link-local address, for the one that left has no more
may_drop[left]+=" esp-encap" # until both know of the NAT, and that it is gone
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

moves_behind_nat() {
	on_gateway left "/sbin/ip address add 192.168.1.2/24 dev wan"
	# At once: where charon finds no way it asks again after two seconds.
	left_moves "printf 'address del 192.168.0.11/24 dev wan\nroute add 192.168.0.21 via 192.168.1.1\n' |
		/sbin/ip -batch -" "192.168.1.2 192.168.0.21"
	expect_output "encapsulation" udp encapsulation
	expect_output "SAs in UDP in the kernel" 2 kernel_encaps
	expect "ESP in UDP from the NAT" \
		test "$(frames wire "src 192.168.0.254 and ${shape[udp]}")" -gt 100
	expect_pings
}

kernel_encaps() { guest_xfrm right state | grep -cE 'encap type espinudp sport (4500 dport [2-5][0-9]{4}|[2-5][0-9]{4} dport 4500) '; }

# There is no address of IPv4 left to move to.
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

watched() {
	expect_output "packets in UDP from behind the NAT" 0 frames watch-wire "udp and net 192.168.1.0/24"
}
