# SPDX-License-Identifier: GPL-2.0-or-later
# Road warriors: the gateway on the left hands out virtual addresses from a pool,
# to two clients at once: stock strongSwan with Debian's kernel on the right, with
# kernel-libipsec as the third. Both talk with the host on the left at the same
# time, each by an address of its own.
sides="left right third" right=kernel
third=libipsec shapes="esp udp"

steps() {
	local side
	for side in right third; do
		expect "$side connects" tunnel_up "$side"
	done
	expect "each has an address of its own" own_addresses
	expect_output "policies out" "$(printf '10.1.0.0/24 === %s/32\n' "$(vip right)" "$(vip third)" |
		sort | paste -s -d ,)" spd left 'map(select(.dir == "out").selector) | sort | join(",")'
	expect_output "addresses in use" 2 leases
	expect_sas
	start_vip_pings right
	start_vip_pings third
	expect_output "pings from right lost" 0 client_pings right
	expect_output "pings from third lost" 0 client_pings third
	expect_output "pings to right lost" 0 end_pings right
	expect_output "pings to third lost" 0 end_pings third
	expect_counted 110 $((100 * ping_bytes + 10 * 84)) right third
	expect_counted 220 $((200 * ping_bytes + 20 * 84)) left
	for side in right third; do
		expect "$side disconnects" quiet "$work/$side/terminate.out" \
			swanctl_on "$side" --terminate --ike gateway
	done
	expect "no SA and no policy is left" wait_for 30 databases_empty left
	expect_output "addresses in use" 0 leases
}

# vip SIDE: print the virtual address that was assigned to SIDE.
vip() { swanctl_on "$1" --list-sas | sed -n 's/.*local .*\[\(10\.3\.0\.[0-9]*\)[] ].*/\1/p'; }

own_addresses() {
	say "right has $(vip right), third has $(vip third)"
	[ -n "$(vip right)" ] && [ -n "$(vip third)" ] && [ "$(vip right)" != "$(vip third)" ]
}

start_vip_pings() { start_pings "$1" left 100 0.02 "$(vip "$1")"; }

# client_pings SIDE: ping from the client itself, which is no router, and print how many were lost.
client_pings() {
	on_gateway "$1" "lost=0
		for i in 1 2 3 4 5 6 7 8 9 10; do
			/bin/ping -q -c 1 -W $(scaled 5) ${host_addr[left]} > /dev/null || lost=\$((lost + 1))
		done
		echo \$lost"
}

leases() {
	local pools
	pools=$(swanctl_on left --list-pools --leases) || return
	grep -cw online <<< "$pools" || true
}
