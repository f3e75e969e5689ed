# SPDX-License-Identifier: GPL-2.0-or-later
# UDP encapsulation though there is no NAT, because the left asks for it;
# Debian's kernel on the right. Whichever side initiates, all ESP is in UDP.
right=kernel shapes=udp

steps() {
	local side
	for side in left right; do
		expect "the tunnel comes up from $side" tunnel_up "$side"
		expect_output "encapsulated SAs in cygnetd" 2 sad left 'map(select(.encap == "udp")) | length'
		expect_output "encapsulated SAs in the kernel" 2 kernel_encaps
		expect_tunnel
		expect "the connection goes down" connection_down "$side"
		expect_empty
	done
}

kernel_encaps() { guest_xfrm right state | grep -c 'encap type espinudp sport 4500 dport 4500'; }
