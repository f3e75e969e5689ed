# SPDX-License-Identifier: GPL-2.0-or-later
# cygnetd of the left is killed and not started again, and the left's kernel gets the ports with their addresses and
# routes back. It forwards nothing that the policies protect: charon has told it to drop that. A charon that is started
# then does the same for its trap; no CHILD_SA is installed, and it says why. When cygnetd has its ports again the kernel drops
# nothing, and the tunnel comes up. When cygnetd ends in order, no ping leaves before the kernel drops them. The kernel has
# its addresses and routes from then on, and pings go on while cygnetd starts and ends.
# no-route, route-unusable, no-neighbour, not-ours: until the next hop of the new TAPs has answered ARP. policy-held: until the new charon
# has installed its trap.
may_drop=([left]="not-ours no-route no-neighbour no-sa no-sa-in-time policy-held route-unusable" [right]="no-neighbour bad-spi")

steps() {
	expect "the first ping is answered" first_ping_from left
	expect_pings
	expect_drops left
	reap cygnetd-left KILL || true
	expect "charon tells the kernel to drop" wait_for 30 logged "no cygnetd serves: the kernel drops"
	kernel_gets_ports
	kernel_forwards
	expect_nothing_passes
	reap charon-left KILL || true
	restart_charon left
	expect "the next charon tells the kernel, too" wait_for 30 logged "no cygnetd serves: the kernel drops"
	expect_nothing_passes
	expect "no CHILD_SA is installed, and charon says why" refused
	patience=1 start_pings start left 100000 0.005
	restart_cygnetd left
	expect "the kernel drops nothing any more" wait_for 30 logged "the kernel drops no more packets"
	expect "there are no rules" no_rules
	expect "hosts reach each other" wait_for 60 reaches left
	reap pings-start INT || true
	expect_pings
	ends_in_order
}

# The kernel gets the settings of the interfaces back when cygnetd ends.
ends_in_order() {
	expect_drops left
	patience=1 start_pings order left 100000 0.005
	expect "cygnetd ends" reap cygnetd-left TERM 15
	expect "its settings are put back" grep -q 'interface wan-veth: its settings are those of before' "$work/left/cygnetd.log"
	expect "the kernel drops pings" wait_for 30 dropped_by_kernel
	kernel_forwards
	restart_cygnetd left
	expect "hosts reach each other again" wait_for 60 reaches left
	reap pings-order INT || true
}

# The addresses and routes that it would have without Cygnet. Those of the TAPs come first.
kernel_gets_ports() {
	on_gateway left "ip link set wan-veth up
		ip link set lan-veth up
		ip address add ${wan_addr[left]}/24 dev wan-veth noprefixroute
		ip address add ${lan_net[left]}.1/24 dev lan-veth noprefixroute
		ip route add $wire_net.0/24 dev wan-veth metric 900
		ip route add ${lan_net[left]}.0/24 dev lan-veth metric 900
		ip route add ${lan_net[right]}.0/24 via ${wan_addr[right]} dev wan-veth metric 900"
}

# The settings as they are on a router.
kernel_forwards() {
	on_gateway left "sysctl -q -w net.ipv4.ip_forward=1
		for interface in wan-veth lan-veth; do
			for setting in forwarding=1 rp_filter=0 arp_ignore=0; do
				sysctl -q -w net.ipv4.conf.\$interface.\$setting
			done
		done"
}

# Pings meet the rules: without these they would have left. The counters begin anew when policies change.
expect_nothing_passes() {
	pings=20 patience=1 expect_output "pings lost" 20 lost_of left
	expect "the kernel drops them" wait_for 30 dropped_by_kernel
}

dropped_by_kernel() {
	! reaches left && in_ns gw-left nft -j list table inet cygnet_closed |
		jq -e '[.. | objects | select(.counter?) | .counter.packets] | add > 0'
}

no_rules() { ! in_ns gw-left nft list table inet cygnet_closed > "$work/rules" 2>&1; }

refused() {
	! swanctl_on left --initiate --child net --timeout 5 > "$work/initiate" 2>&1 &&
	logged "unable to get SPI: no cygnetd serves .*: start cygnetd"
}

logged() { grep -q "$1" "$work/left/charon.log"; }
