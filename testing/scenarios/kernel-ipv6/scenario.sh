# SPDX-License-Identifier: GPL-2.0-or-later
# IPv6 inside, outside or both, and one SA for networks of both families, Debian's kernel
# on the right; also transport mode between the gateways, and ESP in UDP over IPv6. IKE uses the outer family.
# Each child with one inner family is initiated from both sides, the others from left and right in turn; TCP
# flows in both families. The first child is started by traffic. CHILD_SA and IKE_SA are rekeyed under traffic
# of both families over IPv6. The left's charon uses other ports than 500 and 4500, which the right is
# configured for. At last ESP in UDP over IPv4 without a NAT, because the initiator asks for it.
right=kernel shapes="esp udp" charon_options="delete_rekeyed_delay = 1"
side_options=([left]="port = 1500
	port_nat_t = 5500")

steps() {
	local side
	add_ipv6
	start_capture wire wire br0
	acquired
	for side in left right; do
		one_child "$side" six-in-six 6 6
		one_child "$side" four-in-six 6 4
	done
	one_child right both-in-six 6 4 6
	rekeyed
	hosts left hosts-in-six
	expect_outer 'ip6 proto 50'
	start_capture wire wire br0
	for side in left right; do one_child "$side" six-in-four 4 6; done
	one_child right both-in-four 4 4 6
	expect_outer 'ip proto 50'
	start_capture wire wire br0
	one_child left both-in-udp 6 4 6
	hosts right hosts-in-udp
	expect_outer 'ip6 and udp port 4500 and (ip6[48:4] > 255)'
	start_capture wire wire br0
	for side in left right; do in_udp "$side"; done
	expect_outer "$in_udp4"
}

# in_udp SIDE: SIDE initiates ESP in UDP over IPv4
in_udp() {
	expect "the tunnel comes up from $1" tunnel_up "$1" in-udp
	expect_output "encapsulated SAs in cygnetd" 2 sad left 'map(select(.encap == "udp")) | length'
	expect_output "encapsulated SAs in the kernel" 2 kernel_encaps
	expect_output "the ports of IKE" "5500 4500" ike_ports
	expect_output "ports that pass the policies" "1500 ike 5500 ike, esp" passing
	expect_tunnel
	expect "the connection goes down" quiet "$work/$1/terminate.out" \
		swanctl_on "$1" --terminate --ike udp4 --timeout "$(scaled 20)"
	expect_empty
}

in_udp4='ip and udp port 4500 and ip[28:4] > 255'
kernel_encaps() { guest_xfrm right state | grep -c 'encap type espinudp sport \(4500 dport 5500\|5500 dport 4500\)'; }
ike_ports() { swanctl_on left --list-sas --ike udp4 | sed -n "s/.* @ .*\[\([0-9]*\)\]$/\1/p" | xargs; }
passing() { ctl left --json show ike | jq -r '.[] | select(.family == "ipv4") | "\(.port) \(.passes)"' | xargs; }

watched() {
	local name port
	name=watch-$(segments)
	for port in 1500 5500; do
		expect "the left uses port $port" test "$(frames "$name" "ip and udp src port $port")" -gt 0
	done
	expect_output "frames to or from another" 0 frames "$name" \
		'udp and host 192.168.0.1 and not (port 1500 or port 5500)'
}

acquired() {
	expect "a trap is set" quiet "$work/left/trap.out" swanctl_on left --install --child six-in-six
	expect "the first ping is answered" first_ping
	expect "the trap is taken away" \
		quiet "$work/left/trap.out" swanctl_on left --uninstall --child six-in-six
	expect "the tunnel goes down" tunnel_down left six-in-six
	expect_empty
}

first_ping() { in_ns left ping -n -q -c 1 -W "$(scaled 20)" "${host6_addr[right]}" > "$work/ping.out"; }

# hosts SIDE CHILD: transport mode between the gateways, initiated by SIDE.
hosts() {
	local side
	expect "$2 comes up from $1" tunnel_up "$1" "$2"
	expect_output "SAs in transport mode" 2 sad left 'map(select(.mode == "transport")) | length'
	expect_sas
	for side in left right; do
		expect "$side is answered" on_gateway "$side" \
			"/bin/ping -q -c 2 -i 0.02 -W $(scaled 5) -s 1000 ${wan6_addr[$(other "$side")]}"
	done
	expect_counted 4 $((4 * 1008)) # as in Linux, bytes do not include the IP header
	expect "$2 goes down" tunnel_down "$1" "$2"
	expect_empty
}

# one_child SIDE CHILD OUTER INNER...: test a child, initiated by SIDE, with these outer and inner families
one_child() {
	local side=$1 child=$2 outer=$3
	shift 3
	expect "$child comes up from $side" tunnel_up "$side" "$child"
	expect_output "SAs, over IPv$outer" "2 2" sas_over "$outer"
	expect_output "policies" $((3 * $#)) spd left length
	expect_pings_between "$@"
	expect_own_pings "$@"
	[ "$side" = right ] || expect "TCP flows in IPv${!#}" tcp_flows "${!#}"
	expect "$child goes down from $side" tunnel_down "$side" "$child"
	expect_empty
}

# Rekey from both sides, under traffic.
rekeyed() {
	local side family ike
	expect "both-in-six comes up" tunnel_up left both-in-six
	expect_pings_between 4 6
	for family in 4 6; do
		start_pings "rekey$family" left 30000 0.01 "$(host_of right "$family")"
	done
	for side in left right; do
		sleep 0.2
		newer "$side" child_id "left both-in-six" --child both-in-six
	done
	newer left ike_id "left over6" --ike over6
	expect "the old SAs go" wait_for 30 only_newest
	sleep 0.2
	for family in 4 6; do
		expect_none_lost "rekey$family"
	done
	expect "both-in-six goes down" tunnel_down left both-in-six
	expect_empty
}

# newer SIDE FUNCTION ARGUMENTS OPTION NAME: rekey NAME from SIDE, and wait until FUNCTION prints a higher number.
newer() {
	local before
	# shellcheck disable=SC2086
	before=$($2 $3)
	expect "$5 is rekeyed from $1" quiet "$work/$1/rekey.out" swanctl_on "$1" --rekey "$4" "$5"
	expect "there is a newer one" wait_for 30 eval "[ \"0\$($2 $3)\" -gt $before ]"
}

only_newest() { [ "$(sad left length) $(spd left length)" = "2 6" ]; }

# expect_own_pings FAMILY...: pings of the left gateway itself, from its LAN address, are answered.
expect_own_pings() {
	local family
	for family in "$@"; do
		expect "the left gateway reaches the host by IPv$family" quiet "$work/ping.out" \
			on_gateway left "/bin/ping -q -c 2 -i 0.02 -W $(scaled 5) $(host_of right "$family")"
	done
}

# sas_over FAMILY: print the number of SAs with these outer addresses, in cygnetd and in the kernel.
sas_over() {
	local of=.
	[ "$1" = 4 ] || of=:
	echo "$(sad left "map(select((.src | contains(\"$of\")) and (.dst | contains(\"$of\")))) | length")" \
		"$(guest_xfrm right state | grep -c "^src .*[$of].* dst .*[$of]")"
}

# expect_outer FILTER: there is ESP on the wire, and all of it matches.
expect_outer() {
	expect_ciphertext
	expect "ESP is $1" test "$(frames wire "$1")" -gt 400
	expect_output "frames of other ESP" 0 frames wire "(esp or udp port 4500 and not ($ike_only)) and not ($1)"
}

# IKE on port 4500 (SPI 0).
ike_only='ip6[48:4] = 0 or ip[28:4] = 0'
