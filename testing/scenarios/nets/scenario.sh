# SPDX-License-Identifier: GPL-2.0-or-later
# Selectors as large sites have them: one CHILD_SA with 64 networks of many lengths on either side, 4,096 policies of each
# direction, and fourteen IKE_SAs with a CHILD_SA each that have equal selectors. All are rekeyed by both sides while the hosts
# talk, and no packet is lost. The newest of equal policies sends, and the next one takes over when it goes.
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

# The policies of one gateway and direction; CHILD_SAs that a gateway has.
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

# nets_of SIDE: without that of the hosts
nets_of() { sed -n '/local_ts/{s/.*= [^,]*, //; s/, / /gp}' "$work/$1/swanctl/connections.conf" | head -1; }

# Prints how many of as many pings as there are networks had no answer.
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

# Seven at once, without waiting for one: charon has not finished the first when it begins the last.
rekey_same() {
	local child
	for child in $(same_names 1 7); do
		rekey "$1" "$child" || return
	done
}

# The numbers of the CHILD_SAs of left whose names match a pattern, in order.
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
	# Without pings: the responder sends by a new SA before the initiator has it.
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
	# The newest first, and some from the middle. Without pings: the peer deletes its SA first.
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
