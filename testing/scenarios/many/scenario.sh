# SPDX-License-Identifier: GPL-2.0-or-later
# Many CHILD_SAs between two gateways in several IKE_SAs, each for a pair of hosts. The plugin takes a small share
# of charon's CPU time while they are set up. Each carries one packet in each direction, and nothing is left when
# they are deleted. testing/bench/child-sas writes a report about the same setup.
children=${children:-10000}
children_each=${children_each:-100} # CHILD_SAs of an IKE_SA
charon_knl=1                        # charon's default log level
# A side whose whole network is in the selector of every CHILD_SA, and whose gateway has an address in it, so that
# charon adds a route for each CHILD_SA.
children_whole=${children_whole:-}
report=$top/testing/bench/child_sas.py
# charon's protection against floods ignores an initiator while four IKE_SAs from its address are half open.
# Retransmissions leave further ones half open, so that all initiators might be ignored.
charon_options="dos_protection = no"

# Hosts of CHILD_SA i: LEFT_NET + i and RIGHT_NET + i.
declare -gA many_net=([left]=10.1.64.0/18 [right]=10.2.64.0/18)
declare -gA many_gw=([left]=10.1.127.254 [right]=10.2.127.254)
declare -g many=$top/testing/scenarios/many

more_network() {
	mkdir -p "$work/left/swanctl" "$work/right/swanctl"
	touch "$work/left/swanctl/children.conf"
	write_children right > "$work/right/swanctl/children.conf"
	quiet "$work/make.log" make -C "$build" testing/bench/kernel-times.la
	charon_preload=$build/testing/bench/.libs/kernel-times.so
	export charon_preload
}

# sample_charons NAME: store CPU time and memory of both charons and both cygnetd.
sample_charons() {
	local side of=()
	for side in left right; do
		of+=("${pids[charon-$side]}" "$work/$side/kernel-times"
			"${pids[cygnetd-$side]}" "$net_prefix-$side")
	done
	"$report" sample "$1" "$work/$1.json" "${of[@]}"
}

# expect_share PERCENT: the plugin has used less than this share of charon's CPU time since the sample "idle".
expect_share() {
	sample_charons "set up"
	share=$("$report" share "$work/idle.json" "$work/set up.json")
	expect "the plugin took $share percent of charon's CPU time, less than $1" \
		test "${share%.*}" -lt "$1"
}

# called SIDE METHOD TIMES: charon has called the plugin's method at least so often. Polling cygnetd's SAs instead would
# take CPU time from the negotiations.
called() { [ "$("$report" calls "$work/$1/kernel-times" "$2")" -ge "$3" ]; }
all_called() { sleep 0.3; called left "$1" "$2" && called right "$1" "$2"; }

# write_children SIDE: print its connections for swanctl.conf
write_children() {
	"$many/children" "$1" "$children" "$children_each" "${wan_addr[$1]}" "${wan_addr[$(other "$1")]}" \
		"${many_net[$1]}" "${many_net[$(other "$1")]}" "$children_whole"
}

# The hosts answer pings to all addresses of their networks; the gateways resolve their MAC addresses in advance.
add_many_hosts() {
	local side
	for side in left right; do
		ip -n "$net_prefix-$side" route add local "${many_net[$side]}" dev lo
		ip -n "$net_prefix-gw-$side" route add "${many_net[$side]}" via "${host_addr[$side]}" dev lan
		in_ns "$side" ping -n -q -c 1 -W $(scaled 30) "${lan_net[$side]}.1" > /dev/null
	done
	[ -z "$children_whole" ] ||
		add_address "gw-$children_whole" lan "${many_gw[$children_whole]}/32"
}

# many_routes SIDE: print the number of routes that charon has added
many_routes() { ip -n "$net_prefix-gw-$1" route show table 220 2> /dev/null | wc -l; }

# start_children: load the left's connections, which start at once
start_children() {
	write_children left > "$work/left/swanctl/children.conf"
	quiet "$work/left/swanctl.out" swanctl_on left --load-conns
}

# all_installed, none_installed: whether all, or none, of the SAs are live in both gateways
count_live() { sad "$1" 'map(select(.state == "live")) | length'; }
all_installed() { [ "$(count_live left) $(count_live right)" = "$((2 * children)) $((2 * children))" ]; }

# Send a ping through every CHILD_SA, and print how many were not answered.
many_pings() {
	in_ns left "$many/pings" "${many_net[left]}" "${many_net[right]}" "$children"
}

# children_down: terminate all without waiting for the result.
children_down() {
	local first
	for ((first = 0; first < children; first += children_each)); do
		quiet "$work/left/terminate.out" swanctl_on left --terminate --ike "gw$first" --timeout -1
	done
}

steps() {
	local side share
	add_many_hosts
	sample_charons idle
	expect "$children CHILD_SAs start" start_children
	expect "all of them come up" wait_for 120 all_called add_sa $((2 * children))
	expect "and their policies" wait_for 60 all_called add_policy $((3 * children))
	expect_share 10
	expect_output "policies" $((3 * children)) spd left length
	expect_sas
	expect_output "pings without an answer" 0 many_pings
	expect_counted "$children" $((92 * children))
	for side in left right; do
		expect_output "packets by each SA of $side" 1 sad "$side" 'map(.packets) | unique | join(" ")'
	done
	expect "they are terminated" children_down
	expect "all of them go" wait_for 60 all_called del_sa $((2 * children))
	expect_empty
}
