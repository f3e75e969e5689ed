# SPDX-License-Identifier: GPL-2.0-or-later
# Transport mode through a NAT that rewrites the address and the ports of Debian's
# kernel, which initiates. Checksums of TCP are of addresses that the other side never
# sees; TCP flows both ways none the less.
. "$top/testing/scenarios/nat/scenario.sh"
. "$top/testing/scenarios/kernel-transport/scenario.sh"
sides="left right" shapes=udp
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
	wan_addr[right]=192.168.1.2
	expect "the connection goes down" connection_down right
	expect_empty
}
