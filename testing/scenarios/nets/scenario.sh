# SPDX-License-Identifier: GPL-2.0-or-later
# Selectors of large sites: one CHILD_SA with 64 networks of different prefix lengths on each side, which makes 4,096
# policies for each direction, and fourteen IKE_SAs, each with a CHILD_SA, with equal selectors. All are rekeyed from
# both sides under traffic, and no packet is lost. Of equal policies the newest one is used, and the next one when
# that is deleted.
networks=64 children=14
charon_knl=1

declare -g nets=$top/testing/scenarios/nets

more_network() {
	local side
	for side in left right; do
		mkdir -p "$work/$side/swanctl"
		"$nets/selectors" "$side" "${wan_addr[$side]}" "${wan_addr[$(other "$side")]}" "$networks" "$children" \
			> "$work/$side/swanctl/connections.conf"
	done
}

same_names() { seq -f "same%g" "$1" "$2"; }

# Print the number of policies of a gateway for a direction, and the number of its CHILD_SAs.
policies() { spd left 'map(select(.dir == "out")) | length'; }
has_policies() { [ "$(policies)" = "$1" ]; }
has_children() { [ "$(sad left length) $(sad right length)" = "$((2 * $1)) $((2 * $1))" ]; }

# Each host has all addresses of its networks.
add_many_hosts() {
	local side net
	for side in left right; do
		for net in $(nets_of "$side"); do
			ip -n "$net_prefix-$side" route add local "$net" dev lo
			ip -n "$net_prefix-gw-$side" route add "$net" via "${host_addr[$side]}" dev lan
		done
	done
}

# nets_of SIDE: print its networks, without the network of the hosts
nets_of() { sed -n '/local_ts/{s/.*= [^,]*, //; s/, / /gp}' "$work/$1/swanctl/connections.conf" | head -1; }

# Send a ping to each network, and print how many were not answered.
ping_nets() {
	local from to lost=0 n
	read -ra from <<< "$(nets_of left)"
	read -ra to <<< "$(nets_of right)"
	for n in "${!from[@]}"; do
		in_ns left ping -n -q -c 1 -W "$(scaled 10)" -I "${from[n]%/*}" "${to[n * 37 % ${#to[@]}]%/*}" \
			> /dev/null || lost=$((lost + 1))
	done
	echo "$lost"
}

# Initiate seven without waiting, so that charon negotiates them concurrently.
rekey_same() {
	local child
	for child in $(same_names 1 7); do
		rekey "$1" "$child" || return
	done
}

# Print the numbers of the left's CHILD_SAs whose names match a pattern, sorted.
numbers() { swanctl_on left --list-sas | sed -n "s/^ *$1: #\([0-9]*\), reqid.*INSTALLED.*/\1/p" | sort -n; }
all_rekeyed_since() { [ "$(numbers 'same[1-7]' | head -n 1)" -gt "$1" ] && has_children $((children + 1)); }

expect_rekey_same() {
	local before
	before=$(numbers '[a-z0-9]*' | tail -n 1)
	expect "seven are rekeyed at once from $1" rekey_same "$1"
	expect "there are seven others, and the old ones go" wait_for 60 all_rekeyed_since "$before"
}

steps() {
	local child side
	add_many_hosts
	expect "the child with $networks by $networks networks comes up" tunnel_up left
	expect_output "policies of a direction" $((networks * networks)) policies
	expect_output "pings without an answer" 0 ping_nets
	start_pings nets left 100000 0.01
	for side in left right; do
		expect_rekey "$side"
		expect "the old SAs and policies go" wait_for 60 has_policies $((networks * networks))
	done
	expect_none_lost nets
	expect_pings
	# No pings here: a responder sends with the new SA before the initiator has installed it.
	for child in $(same_names 1 "$children"); do
		expect "$child, of the same selectors, comes up" tunnel_up left "$child"
	done
	expect "all are there" wait_for 30 has_children $((children + 1))
	expect_output "their policies" $((networks * networks + children)) policies
	start_pings equal left 100000 0.01
	expect_rekey_same left
	expect_rekey_same right
	expect_none_lost equal
	expect_output "their policies" $((networks * networks + children)) policies
	# The newest first, and some from the middle. No pings here: the peer deletes its SA first.
	pings=3
	for child in $(same_names 10 "$children" | tac) $(same_names 1 3); do
		expect "$child goes" tunnel_down left "$child"
		expect_output "pings lost after that" 0 lost_of left
	done
	expect "the others are there" wait_for 30 has_children 7
	expect_output "pings without an answer" 0 ping_nets
	expect "no policy was refused" no_refusal
}

no_refusal() { ! grep -h "polic.*failed\|unable to install" "$work"/left/charon.log "$work"/right/charon.log; }
