# SPDX-License-Identifier: GPL-2.0-or-later
# Transport mode through a NAT that rewrites the address and the ports of Debian's
# kernel, which initiates. Checksums of TCP cover addresses that the other side never sees, and must be corrected.
# Then the NAT gets another address.
. "$top/testing/scenarios/kernel-nat/scenario.sh"
. "$top/testing/scenarios/kernel-transport/scenario.sh"
sides="left right" shapes=udp
# policy-inbound: until the left's policies have the NAT's new address. policy-plaintext: afterwards, ICMP errors of the
# NAT itself, from the address that the policies protect.
may_drop=([left]="too-big policy-inbound policy-plaintext")
segment[third]=wire

steps() {
	start_capture wire wire br0
	expect "net comes up from right" tunnel_up right
	expect_output "policies out" "192.168.0.1/32 === 192.168.0.254/32" spd left \
		'map(select(.dir == "out").selector) | join(",")'
	expect_output "SAs in transport mode in UDP" 2 \
		sad left 'map(select(.mode == "transport" and .encap == "udp")) | length'
	expect_output "SAs in transport mode in the kernel" 2 kernel_transports
	wan_addr[right]=192.168.0.254
	expect_hosts
	expect_ciphertext
	expect "ESP in UDP to a port of the NAT's" \
		test "$(frames wire 'dst 192.168.0.254 and udp dst portrange 20000-59999')" -gt 20
	expect_output "packets with the peer's own address" 0 frames wire net 192.168.1.0/24
	another_address
	wan_addr[right]=192.168.1.2
	expect "the connection goes down" connection_down right
	expect_empty
}

# The NAT's address changes under traffic, and the selectors are updated, too.
another_address() {
	local before
	before=$(outbound_spis)
	start_capture wire wire br0
	start_talk right "${wan_addr[left]}"
	sleep 0.3
	move_nat
	expect "left sends to the NAT's new address" wait_for 30 eval '[ "$(peers)" = 192.168.0.253 ]'
	expect "right is answered by the new address" \
		wait_for 30 on_gateway right "/bin/ping -q -c 1 -W 1 ${wan_addr[left]} > /dev/null"
	end_talk right
	expect_output "SPIs out" "$before" outbound_spis
	expect_output "policies out" "192.168.0.1/32 === 192.168.0.253/32" spd left \
		'map(select(.dir == "out").selector) | join(",")'
	wan_addr[right]=192.168.0.253
	expect_hosts
	expect_ciphertext
}
