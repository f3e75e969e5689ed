# SPDX-License-Identifier: GPL-2.0-or-later
# Two Cygnet road warriors behind a NAT that rewrites ports. The gateway is stock strongSwan with Debian's
# kernel. It assigns each an address of its pool, and the left also an IPv6 address, which is reached through
# the tunnel only. The left uses IKEv2, the third IKEv1 in aggressive mode with a password (XAuth). The NAT
# loses its mappings: packets then come from other ports, and the gateway updates its SAs. So it does when
# the NAT gets another address. At last the left and the kernel use transport mode through the NAT, where
# checksums cover addresses that the receiver does not see.
. "$top/testing/scenarios/kernel-nat/scenario.sh"
. "$top/testing/scenarios/kernel-transport/scenario.sh"
sides="left right third" right=kernel third=cygnet shapes=udp
segment=([left]=inside [right]=wire [third]=inside)
uplink=([left]=192.168.1.1 [third]=192.168.1.1)
wan_addr=([left]=192.168.1.2 [right]=192.168.0.2 [third]=192.168.1.3)
# As in kernel-nat; too-big: TCP segments, until the left's kernel knows the overhead of ESP.
may_drop=([left]=too-big [right]="XfrmInNoPols XfrmInPolBlock XfrmOutPolBlock")
charon_options="i_dont_care_about_security_and_use_aggressive_mode_psk = yes"
charon_plugins+=" xauth-generic"

steps() {
	local side before
	ipv6_inside
	for side in left third; do
		expect "$side connects" tunnel_up "$side"
		expect_output "SAs in UDP in $side's cygnetd" 2 sad "$side" 'map(select(.encap == "udp")) | length'
	done
	expect "the password was asked for" on_gateway right \
		"grep \"XAuth authentication of 'third' successful\" $(charon_log right)"
	expect "each has an address of its own" own_addresses
	expect "left has one of IPv6" test -n "$(vip6)"
	before=$(kernel_ports)
	expect "the kernel sends to two ports of the NAT's" two_ports "$before"
	expect_talk
	clients_forgotten gateway_reaches left third
	expect "the kernel sends to two other ports" two_ports "$before" "$(kernel_ports)"
	expect_talk
	move_nat
	expect "both are answered, and the kernel sends to the NAT's new address" wait_for 60 at_new_address
	expect_talk
	for side in left third; do
		expect "$side disconnects" quiet "$work/$side/terminate.out" \
			swanctl_on "$side" --terminate --ike gateway
		expect_output "addresses of the pool that $side has" "" address_of_pool "$side"
	done
	expect_empty
	expect "nothing is left in third's cygnetd" wait_for 30 databases_empty third
	behind_nat
}

# Transport mode, also rekeyed from both sides under traffic.
behind_nat() {
	local sides="left right" side
	start_capture wire wire br0
	expect "host comes up" tunnel_up left host
	expect_output "policies out" "192.168.1.2/32 === 192.168.0.2/32" spd left \
		'map(select(.dir == "out").selector) | join(",")'
	expect_output "SAs in transport mode in UDP" 2 \
		sad left 'map(select(.mode == "transport" and .encap == "udp")) | length'
	expect_output "SAs in transport mode in the kernel" 2 kernel_transports
	wan_addr[left]=192.168.0.253
	expect_hosts
	start_pings rekey gw-left 30000 0.01 "${wan_addr[right]}"
	for side in left right; do expect_rekey "$side" rekey host; done
	expect_none_lost rekey
	expect "UDP flows, both ways" udp_gateways
	expect "TCP flows, both ways" tcp_gateways
	wan_addr[left]=192.168.1.2
	expect "the connection goes down" connection_down left
	expect_empty
	expect_ciphertext
}

# Enable IPv6 in the client and behind the gateway.
ipv6_inside() {
	on_gateway left "cd /proc/sys/net/ipv6/conf; for device in lo wan; do echo 0 > \$device/disable_ipv6; done"
	on_gateway right "cd /proc/sys/net/ipv6/conf; for device in lo wan lan; do echo 0 > \$device/disable_ipv6; done
		echo 1 > all/forwarding
		/sbin/ip address add ${lan6_net[right]}::1/64 dev lan nodad"
	in_ns right sh -c "echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6"
	ip -n "$net_prefix-right" address add "${host6_addr[right]}/64" dev eth0 nodad
	ip -n "$net_prefix-right" route add default via "${lan6_net[right]}::1" dev eth0
	allowed_on_wire+=" or $allowed6_on_wire"
}

vip6() { swanctl_on left --list-sas | sed -n 's/.*local .*[[ ]\(2001:db8:3:[0-9a-f:]*\)[] ]*$/\1/p'; }

# Print the destination ports of the kernel's outbound SAs.
kernel_ports() { guest_xfrm right state | sed -n 's/.*encap type espinudp sport 4500 dport \([2-5][0-9]\{4\}\) .*/\1/p'; }

kernel_peers() { guest_xfrm right state | sed -n 's/^src 192.168.0.2 dst //p' | sort -u | paste -s -d ' '; }

# two_ports PORTS...: each argument has two ports, and no port is twice in them.
two_ports() {
	say "ports:" $*
	[ "$(printf '%s\n' $* | sort -u | wc -l)" -eq $(($# * 2)) ]
}

own_addresses() {
	say "left has $(vip left), third has $(vip third)"
	[ -n "$(vip left)" ] && [ -n "$(vip third)" ] && [ "$(vip left)" != "$(vip third)" ]
}

# The NAT removes mappings of its old address a moment after that was deleted, so both clients must be answered, too.
at_new_address() { gateway_reaches left && gateway_reaches third && [ "$(kernel_peers)" = 192.168.0.253 ]; }

gateway_reaches() { in_ns "gw-$1" ping -q -c 1 -W 1 "${host_addr[right]}" > /dev/null; }
address_of_pool() { ip -n "$net_prefix-gw-$1" -brief address | grep -oE '10\.3\.0\.[0-9]+|2001:db8:3:[0-9a-f:]+' || true; }

# Ping both clients, and from both, at the same time.
expect_talk() {
	local side
	expect_sas
	for side in left third; do
		start_pings "to-$side" right 50 0.02 "$(vip "$side")"
		start_pings "from-$side" "gw-$side" 50 0.02 "${host_addr[right]}"
	done
	start_pings to-left6 right 50 0.02 "$(vip6)"
	start_pings from-left6 gw-left 50 0.02 "${host6_addr[right]}"
	for side in left third; do
		expect_output "pings to $side lost" 0 end_pings "to-$side"
		expect_output "pings from $side lost" 0 end_pings "from-$side"
	done
	expect_output "IPv6 pings to left lost" 0 end_pings to-left6
	expect_output "IPv6 pings from left lost" 0 end_pings from-left6
	expect_counted 200 $((100 * (ping_bytes + ping6_bytes))) left
	expect_counted 100 $((100 * ping_bytes)) third
	expect_counted 300 $((100 * (2 * ping_bytes + ping6_bytes))) right
}
