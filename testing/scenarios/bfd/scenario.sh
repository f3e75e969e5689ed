# SPDX-License-Identifier: GPL-2.0-or-later
# Two route-based tunnels between two gateways, with BGP and BFD in each: a host reaches others, each by one of the
# tunnels (ECMP). When one tunnel fails in silence, BFD notices, long before BGP would: what used it goes by the other one,
# and what did not loses nothing. When it works again all go where they went.
sides="left right" no_policy=drop
port_sections="[tunnel vpn0]
if_id = 42
mtu = 1400
[tunnel vpn1]
if_id = 43
mtu = 1400"
may_drop=([left]="tunnel-policy tunnel-link no-policy" [right]="tunnel-policy tunnel-link no-policy")
patience=1 # pings are lost

# BGP notices after three minutes.
bfd_ms=$(scaled 1000)
hosts=({11..34})
declare -gA number=([left]=1 [right]=2)

steps() {
	local host by_first=() by_second=()
	for host in "${hosts[@]}"; do in_ns right ip address add "10.2.0.$host/24" dev eth0; done
	start_bfd left 2
	start_bfd right 1
	expect "the first tunnel comes up" tunnel_up left
	expect "so does the second" tunnel_up left second
	expect "the left has two ways to the other's network" wait_for 60 has_ways left 2
	expect "and the right" wait_for 60 has_ways right 2
	expect "all hosts answer" wait_for 30 all_answer
	for host in "${hosts[@]}"; do
		case $(way_of left 8 "$host")$(way_of right 0 "$host") in
		vpn0vpn0) by_first+=("10.2.0.$host") ;;
		vpn1*) by_second+=("10.2.0.$host") ;;
		esac
	done
	expect "some are reached by each tunnel: ${#by_first[@]} by the first both ways, ${#by_second[@]} by the second" \
		[ $((${#by_first[@]} * ${#by_second[@]})) -gt 0 ]
	start_pings first left 1000 0.02 "$(IFS=,; echo "${by_first[*]}")"
	start_pings second left 1000 0.02 "$(IFS=,; echo "${by_second[*]}")"
	sleep 2
	cut_second
	expect "the left has one way" wait_for 30 has_ways left 1
	expect_output "pings by the first lost" 0 end_pings first
	expect "some by the second are lost" [ "$(end_pings second)" -gt 0 ]
	say "outage: $(outage second) s; BFD notices after $((3 * bfd_ms)) ms"
	expect "no longer than BFD and the routes take" less "$(outage second)" "$(scaled 8)"
	mend_wire
	expect "the left has two ways again" wait_for 60 has_ways left 2
	expect "and the right" wait_for 60 has_ways right 2
	for host in "${by_first[@]}"; do expect "$host is reached by the first" goes_by vpn0 "$host"; done
	for host in "${by_second[@]}"; do expect "$host is reached by the second again" goes_by vpn1 "$host"; done
	expect "all hosts answer" all_answer
	end_frr left right
	compared=yes
	expect "nothing is sent any more" wait_for 30 still
}

# The wire loses the ESP of the second tunnel from now on: neither gateway sees a link go.
cut_second() {
	local spis
	spis=$(swanctl_on left --list-sas | sed -n 's/^ *\(in\|out\) *\([0-9a-f]*\) (-|0x0000002b).*/0x\2/p' | paste -sd ,)
	in_ns wire nft "table bridge cut { chain forward { type filter hook forward priority 0; esp spi { $spis } drop; }; }"
}

# has_ways SIDE N: to the other side's network.
has_ways() {
	local far
	far=$(other "$1")
	[ "$(ctl "$1" --json show routes | jq --arg prefix "${lan_net[$far]}.0/24" '[.[] | select(.prefix == $prefix)] | length')" = "$2" ]
}

# way_of SIDE TYPE HOST: print the tunnel by which a gateway sends ICMP between the left's host and one of the right's, as a
# trace says: that of the SA.
way_of() {
	local spi src=${host_addr[left]} dst=10.2.0.$3
	[ "$1" = left ] || { src=$dst dst=${host_addr[left]}; }
	spi=$(ctl "$1" --json trace src "$src" dst "$dst" proto icmp sport "$2" dport 0 |
		jq -r '.[] | select(.decision == "SA").detail | capture("SPI 0x(?<spi>[0-9a-f]+)").spi')
	swanctl_on "$1" --list-sas | sed -n "s/^ *out *$spi (-|0x0000002\([ab]\)).*/\1/p" | tr ab 01 | sed 's/^/vpn/'
}

goes_by() { [ "$(way_of left 8 "${2##*.}")" = "$1" ]; }

all_answer() {
	local host
	for host in "${hosts[@]}"; do reaches_from left "10.2.0.$host" || return; done
}

outage() { sed -n 's/.*outage[^0-9]*\([0-9.]*\).*/\1/p' "$work/pings-$1.out"; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a < b) }'; }

tell_more() {
	tell_frr "$1"
	on_gateway "$1" "ip route; ip nexthop"
}

# start_bfd SIDE PEER: FRR with a neighbour in each tunnel.
start_bfd() {
	local side=$1 me=${number[$1]} dir=$work/$1/frr n
	mkdir -p "$dir"
	for n in 2 3; do
		in_ns "gw-$side" ip address add "169.254.$n.$me/24" dev "vpn$((n - 2))"
		in_ns "gw-$side" ip link set "vpn$((n - 2))" up
	done
	echo "bfd
		profile tunnel
		detect-multiplier 3
		receive-interval $bfd_ms
		transmit-interval $bfd_ms" > "$dir/bfdd.conf"
	{
		echo "router bgp 6500$me
			bgp router-id ${wan_addr[$side]}
			no bgp ebgp-requires-policy"
		for n in 2 3; do
			echo "neighbor 169.254.$n.$2 remote-as 6500$2
				neighbor 169.254.$n.$2 timers connect 1
				neighbor 169.254.$n.$2 bfd profile tunnel"
		done
		echo "address-family ipv4 unicast
			network ${lan_net[$side]}.0/24
			maximum-paths 2"
	} > "$dir/bgpd.conf"
	start_frr "$side" bfdd bgpd
}
