# SPDX-License-Identifier: GPL-2.0-or-later
# Many CHILD_SAs between two gateways, a pair of hosts each, in several IKE_SAs. The plugin
# takes a small share of the CPU time in which charon sets them up. Each of them carries a
# packet both ways, and nothing is left when they are gone. testing/bench/child-sas writes a
# report about the same.
children=${children:-10000}
children_each=${children_each:-100} # of an IKE_SA
charon_knl=1                        # what charon writes into its log without a scenario
# A side whose gateway has an address in its net, of which each CHILD_SA is for the whole: charon
# adds a route for each of them there.
children_whole=${children_whole:-}
report=$top/testing/bench/child_sas.py
# So many IKE_SAs at once from one address charon takes for an attack, and ignores those that come
# while four are half open; with what stays half open of a retransmission, up to all.
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

# sample_charons NAME: where their time and memory, and cygnetd's, are now.
sample_charons() {
	local side of=()
	for side in left right; do
		of+=("${pids[charon-$side]}" "$work/$side/kernel-times"
			"${pids[cygnetd-$side]}" "$net_prefix-$side")
	done
	"$report" sample "$1" "$work/$1.json" "${of[@]}"
}

# expect_share PERCENT: what of charon's CPU time the plugin took since they were idle.
expect_share() {
	sample_charons "set up"
	share=$("$report" share "$work/idle.json" "$work/set up.json")
	expect "the plugin took $share percent of charon's CPU time, less than $1" \
		test "${share%.*}" -lt "$1"
}

# called SIDE METHOD TIMES: charon has called it that often. To ask cygnetd for its SAs again and
# again would take the cores from those who make them.
called() { [ "$("$report" calls "$work/$1/kernel-times" "$2")" -ge "$3" ]; }
all_called() { sleep 0.3; called left "$1" "$2" && called right "$1" "$2"; }

# write_children SIDE
write_children() {
	"$many/children" "$1" "$children" "$children_each" "${wan_addr[$1]}" "${wan_addr[$(other "$1")]}" \
		"${many_net[$1]}" "${many_net[$(other "$1")]}" "$children_whole"
}

# The hosts answer for all addresses of their nets; the gateways know them before the pings.
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

# many_routes SIDE: that charon has added
many_routes() { ip -n "$net_prefix-gw-$1" route show table 220 2> /dev/null | wc -l; }

# start_children: left learns of its connections, which start at once.
start_children() {
	write_children left > "$work/left/swanctl/children.conf"
	quiet "$work/left/swanctl.out" swanctl_on left --load-conns
}

# all_installed, none_installed: live SAs of both gateways
count_live() { sad "$1" 'map(select(.state == "live")) | length'; }
all_installed() { [ "$(count_live left) $(count_live right)" = "$((2 * children)) $((2 * children))" ]; }

# A ping through every CHILD_SA; prints how many were not answered.
many_pings() {
	in_ns left "$many/pings" "${many_net[left]}" "${many_net[right]}" "$children"
}

# children_down: asks for it, and does not wait.
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
