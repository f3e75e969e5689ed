# SPDX-License-Identifier: GPL-2.0-or-later
# UDP encapsulation though there is no NAT, because the left asks for it;
# Debian's kernel on the right. Whichever side initiates, all ESP is in UDP. The left's
# charon has its sockets at other ports than everybody, which the right is told.
right=kernel shapes=udp
side_options=([left]="port = 1500
	port_nat_t = 5500")

steps() {
	local side
	for side in left right; do
		expect "the tunnel comes up from $side" tunnel_up "$side"
		expect_output "encapsulated SAs in cygnetd" 2 sad left 'map(select(.encap == "udp")) | length'
		expect_output "encapsulated SAs in the kernel" 2 kernel_encaps
		expect_output "the ports of IKE" "5500 4500" ike_ports
		expect_output "ports that pass the policies" "1500 ike 5500 ike, esp" passing
		expect_tunnel
		expect "the connection goes down" connection_down "$side"
		expect_empty
	done
}

kernel_encaps() { guest_xfrm right state | grep -c 'encap type espinudp sport \(4500 dport 5500\|5500 dport 4500\)'; }

ike_ports() { swanctl_on left --list-sas | sed -n "s/.* @ .*\[\([0-9]*\)\]$/\1/p" | xargs; }

passing() {
	ctl left --json show ike | jq -r '.[] | select(.family == "ipv4") | "\(.port) \(.passes)"' | xargs
}

watched() {
	local name port
	name=watch-$(segments)
	for port in 1500 5500; do
		expect "the left uses port $port" test "$(frames "$name" "udp src port $port")" -gt 0
	done
	expect_output "frames to or from another" 0 frames "$name" \
		'udp and host 192.168.0.1 and not (port 1500 or port 5500)'
}
