# SPDX-License-Identifier: GPL-2.0-or-later
# BGP through route-based tunnels: the left has one to stock strongSwan with an XFRM interface on Debian's kernel, where
# BIRD speaks BGP, and one to another Cygnet gateway; both Cygnets have FRR. Sessions of IPv4 and IPv6 run in the tunnels,
# whose policies are for all addresses; no gateway has a static route to another one's network. All hosts reach each
# other, those of the right and the third through both tunnels of the left. When a tunnel is gone the routes go with the
# session, and no packet leaves; they come back with it.
sides="left right third" right=kernel third=cygnet no_policy=drop
charon_options="delete_rekeyed_delay = 1"
port_sections="[tunnel vpn0]
if_id = 42
mtu = 1400
[tunnel vpn1]
if_id = 43
mtu = 1400"
# The kernels tell others of themselves by the tunnels, the right's in it. Without a tunnel there is no route, nor a policy.
alone="tunnel-policy tunnel-link policy-inbound no-policy no-route"
may_drop=([left]=$alone [third]=$alone)

# The two ends of a tunnel have 169.254.N.SIDE and fd00:N::SIDE; a gateway's LAN is also fd00:1SIDE::/64.
declare -gA number=([left]=1 [right]=2 [third]=3)

steps() {
	local side
	give_address left vpn0 2
	give_address left vpn1 3
	give_address right vpn0 2
	give_address third vpn1 3
	start_bgp left 2 3
	start_bgp third 3
	start_bird
	expect "the tunnel to the right comes up" tunnel_up left
	expect "the tunnel to the third comes up" tunnel_up left third
	expect "the left has all routes" wait_for 60 has_routes 4
	expect "the third has the right's by the left" wait_for 60 routed third 10.2.0.0/24 169.254.3.1
	expect "the right has the third's by the left" wait_for 60 on_gateway right "/sbin/ip route show 10.4.0.0/24 | grep -q 'via 169.254.2.1 dev vpn0'"
	expect_hosts
	expect "TCP flows" tcp_flows
	expect_all_reach
	expect "the tunnel to the third goes down" tunnel_down left third
	expect "its routes are gone" wait_for 60 lost_routes
	expect "a host cannot reach the third's" unreached left "${host_addr[third]}"
	sides="left right" expect_hosts
	expect "the tunnel comes up again" tunnel_up left third
	expect "the left has all routes again" wait_for 60 has_routes 4
	expect_all_reach
	for side in left right; do expect_rekey "$side"; done
	expect_all_reach
	expect_hosts
	end_bgp
}

# What the routing daemons and the kernel know, when something does not hold.
tell_more() {
	if [ "$1" = right ]; then
		on_gateway right "tail -n 40 /run/bird.log; ip route; ip -6 route"
	else
		tell_frr "$1"
		on_gateway "$1" "ip route; ip -6 route"
	fi
}

# Before all that was sent is counted.
end_bgp() {
	on_gateway right "killall bird"
	end_frr left third
	expect "nothing is sent any more" wait_for 30 still
}

# Pings of the hosts, beside the packets of BGP in the same SAs.
expect_hosts() {
	expect_answered
	expect "the SAs have carried them" carried_at_least $((2 * pings))
	compared=yes
}

carried_at_least() {
	local now direction packets
	now=$(charon_sas left)
	for direction in in out; do
		read -r packets _ < <(carried "$direction" "${seen_sas[left]}" "$now")
		[ "$packets" -ge "$1" ] || return
	done
}

expect_all_reach() {
	local from to
	for from in left right third; do
		for to in left right third; do
			[ "$from" = "$to" ] || expect "the host of the $from reaches that of the $to" wait_for 30 reaches_from "$from" "${host_addr[$to]}"
			[ "$from" = "$to" ] || expect "and the gateways by IPv6" wait_for 30 reaches6 "$from" "$to"
		done
	done
}

unreached() { ! in_ns "$1" ping -n -q -c 2 -i 0.05 -W 1 "$2" > /dev/null; }
reaches6() { on_gateway "$1" "ping -6 -c 1 -W 1 -I fd00:1${number[$1]}::1 fd00:1${number[$2]}::1 > /dev/null"; }

# routed SIDE PREFIX GATEWAY: whether a gateway of Cygnet's has a route.
routed() { ctl "$1" --json show routes | jq -e --arg prefix "$2" --arg gateway "$3" \
	'any(.[]; .prefix == $prefix and .gateway == $gateway and .kind == "tunnel")' > /dev/null; }
has_routes() {
	[ "$(ctl left --json show routes | jq '[.[] | select(.kind == "tunnel" and .gateway != "")] | length')" = "$1" ]
}
lost_routes() { has_routes 2 && ! routed third 10.2.0.0/24 169.254.3.1; }

# give_address SIDE DEVICE N: addresses of a tunnel's end, and of the LAN.
give_address() {
	local make="" me=${number[$1]}
	[ "$1" != right ] || make="modprobe xfrm_interface && /sbin/ip link add $2 mtu 1400 type xfrm dev wan if_id 7 &&"
	[ "$1" != left ] || me=1
	expect "addresses of $2 on the $1" on_gateway "$1" "$make cd /proc/sys/net/ipv6/conf &&
		for device in lo lan $2; do echo 0 > \$device/disable_ipv6; done && echo 1 > all/forwarding &&
		/sbin/ip link set $2 up && /sbin/ip address add 169.254.$3.$me/24 dev $2 &&
		/sbin/ip address add fd00:$3::$me/64 dev $2 nodad && /sbin/ip address replace fd00:1$me::1/64 dev lan nodad"
}

# start_bgp SIDE N...: FRR with a neighbour in each tunnel.
start_bgp() {
	local side=$1 dir=$work/$1/frr n peer
	shift
	mkdir -p "$dir"
	{
		echo "router bgp 6500${number[$side]}
			bgp router-id ${wan_addr[$side]}
			no bgp ebgp-requires-policy
			no bgp default ipv4-unicast
			timers bgp 3 9"
		for n in "$@"; do
			peer=$n
			[ "$side" = left ] || peer=1
			for neighbour in "169.254.$n.$peer" "fd00:$n::$peer"; do
				echo "neighbor $neighbour remote-as 6500$peer
					neighbor $neighbour timers connect 1"
			done
		done
		echo "address-family ipv4 unicast
			network ${lan_net[$side]}.0/24"
		for n in "$@"; do [ "$side" = left ] && echo "neighbor 169.254.$n.$n activate" || echo "neighbor 169.254.$n.1 activate"; done
		echo "exit-address-family
			address-family ipv6 unicast
			network fd00:1${number[$side]}::/64"
		for n in "$@"; do [ "$side" = left ] && echo "neighbor fd00:$n::$n activate" || echo "neighbor fd00:$n::1 activate"; done
	} > "$dir/bgpd.conf"
	start_frr "$side" bgpd
}

# BIRD in the right's machine.
start_bird() {
	expect "BIRD starts on the right" on_gateway right "cat > /run/bird.conf <<-'END'
		log \"/run/bird.log\" all;
		router id ${wan_addr[right]};
		protocol device { scan time 1; }
		protocol direct { ipv4; ipv6; interface \"lan\"; }
		protocol kernel { ipv4 { export all; }; }
		protocol kernel { ipv6 { export all; }; }
		template bgp by_left {
			local as 65002; hold time 9; keepalive time 3; connect retry time 1; connect delay time 1;
			error wait time 1, 2;
		}
		protocol bgp left4 from by_left {
			source address 169.254.2.2; neighbor 169.254.2.1 as 65001;
			ipv4 { import all; export where source ~ [ RTS_DEVICE, RTS_BGP ]; };
		}
		protocol bgp left6 from by_left {
			source address fd00:2::2; neighbor fd00:2::1 as 65001;
			ipv6 { import all; export where source ~ [ RTS_DEVICE, RTS_BGP ]; };
		}
	END
	/usr/sbin/bird -c /run/bird.conf -s /run/bird.ctl"
}
