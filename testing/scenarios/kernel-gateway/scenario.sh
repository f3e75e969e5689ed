# SPDX-License-Identifier: GPL-2.0-or-later
# Cygnet as a road warrior behind a NAT that rewrites its ports: the gateway is Debian's
# kernel with stock strongSwan, and gives it an address of its pool. Then the NAT
# forgets it; when it sends again, from another port, the gateway follows.
. "$top/testing/scenarios/nat/scenario.sh"
sides="left right" right=kernel
segment=([left]=inside [right]=wire [third]=wire)
uplink=([left]=192.168.1.1)
wan_addr=([left]=192.168.1.2 [right]=192.168.0.2)

steps() {
	local before
	start_capture wire wire br0
	expect "left connects" tunnel_up left
	expect "it has an address of the pool" test -n "$(vip left)"
	expect_output "SAs in UDP in cygnetd" 2 sad left 'map(select(.encap == "udp")) | length'
	before=$(kernel_ports)
	expect "the kernel sends to a port of the NAT's" test "$before" -ge 20000
	expect_talk
	forget_after 2
	expect "left is answered" wait_for 30 gateway_reaches
	sleep 4
	forget_after 60
	expect "left is answered again" wait_for 60 gateway_reaches
	expect "the kernel sends to another port" test "$(kernel_ports)" -ne "$before"
	expect_talk
	expect_ciphertext
	expect_output "packets from left's own address" 0 frames wire net 192.168.1.0/24
	expect "left disconnects" quiet "$work/left/terminate.out" \
		swanctl_on left --terminate --ike gateway
	expect_empty
	expect_output "addresses of the pool that left has" "" address_of_pool
}

# Of what the kernel sends.
kernel_ports() { guest_xfrm right state | sed -n 's/.*encap type espinudp sport 4500 dport \([0-9]*\).*/\1/p'; }

gateway_reaches() { in_ns gw-left ping -q -c 1 -W 1 "${host_addr[right]}" > /dev/null; }
address_of_pool() { ip -n "$net_prefix-gw-left" -brief address | grep -o '10\.3\.0\.[0-9]*' || true; }

expect_talk() {
	start_pings client right 50 0.02 "$(vip left)"
	start_pings gateway gw-left 50 0.02 "${host_addr[right]}"
	expect_output "pings to left lost" 0 end_pings client
	expect_output "pings from left lost" 0 end_pings gateway
}
