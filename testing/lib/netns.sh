# SPDX-License-Identifier: GPL-2.0-or-later
# The test network. Sourced.
#
#   left            gw-left                     wire    gw-right                   right
#   10.1.0.10 ----- 10.1.0.1    192.168.0.1 -- bridge -- 192.168.0.2   10.2.0.1 ----- 10.2.0.10
#            lan-veth                wan-veth         wan-veth             lan-veth
#
# Five network namespaces, cyg-PID-NAME. On a gateway of ours cygnetd takes the
# veths as its ports and the addresses are on its TAPs, wan and lan; on a stock
# one they are on the veths, or inside a virtual machine (guest.sh). A scenario
# may have a third gateway.

net_prefix=cyg-$$

in_ns() {
	local name=$1
	shift
	ip netns exec "$net_prefix-$name" "$@"
}

# Remove the namespaces of runs that were killed: a name contains the PID of its run.
sweep_networks() {
	local name pid
	while read -r name _; do
		pid=${name#cyg-}
		pid=${pid%%-*}
		[[ $pid =~ ^[0-9]+$ ]] || continue
		! kill -0 "$pid" 2> /dev/null || continue
		say "removing $name, left by a run that is gone"
		ip netns del "$name"
	done < <(ip netns list)
}

add_ns() {
	ip netns add "$net_prefix-$1"
	defer ip netns del "$net_prefix-$1"
	in_ns "$1" sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 \
		net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
	ip -n "$net_prefix-$1" link set lo up
}

# plain_veth NAMESPACE DEVICE: set the device up, without offloads: its frames have checksums and are no larger than
# the MTU, as on a wire.
plain_veth() {
	in_ns "$1" ethtool -K "$2" rx off tx off tso off gso off gro off > /dev/null
	ip -n "$net_prefix-$1" link set "$2" up
	ask_neighbours_long "$1" "$2"
}

# ask_neighbours_long NAMESPACE DEVICE: solicit neighbours for a minute. On a busy machine a guest may not answer within
# the default of three seconds, and packets to it would be dropped.
ask_neighbours_long() { in_ns "$1" sh -c "$(neighbour_settings "$2")"; }
neighbour_settings() {
	echo "for file in /proc/sys/net/ipv[46]/neigh/$1/[um]cast_solicit; do echo 60 > \$file; done"
}

# add_veth NS1 DEV1 NS2 DEV2
add_veth() {
	ip link add "$2" netns "$net_prefix-$1" type veth peer name "$4" netns "$net_prefix-$3"
	plain_veth "$1" "$2"
	plain_veth "$3" "$4"
}

add_address() { ip -n "$net_prefix-$1" address add "$3" dev "$2"; }

# add_host NAME GATEWAY NET: the host's MTU leaves room for what ESP adds to a packet.
add_host() {
	add_ns "$1"
	add_veth "$1" eth0 "$2" lan-veth
	add_address "$1" eth0 "$3.10/24"
	ip -n "$net_prefix-$1" link set eth0 mtu 1400
	ip -n "$net_prefix-$1" route add default via "$3.1"
}

wire_net=192.168.0
# By gateway: the segment of its WAN, and the next hop of its default route, if it has one.
declare -A segment=([left]=wire [right]=wire [third]=wire) uplink=()
declare -A lan_net=([left]=10.1.0 [right]=10.2.0 [third]=10.4.0)
declare -A wan_addr=([left]=$wire_net.1 [right]=$wire_net.2 [third]=$wire_net.3)
declare -A host_addr=([left]=10.1.0.10 [right]=10.2.0.10 [third]=10.4.0.10)

# add_uplink SIDE DEVICE
add_uplink() {
	[ -z "${uplink[$1]:-}" ] ||
		ip -n "$net_prefix-gw-$1" route replace default via "${uplink[$1]}" dev "$2"
}

# add_segment NAME: a namespace with a bridge, br0.
add_segment() {
	add_ns "$1"
	ip -n "$net_prefix-$1" link add br0 type bridge mcast_snooping 0
	ip -n "$net_prefix-$1" link set br0 up
}

# add_gateway SIDE KIND: KIND is cygnet, or libipsec or kernel for a stock peer.
add_gateway() {
	local gw=gw-$1
	add_ns "$gw"
	add_veth "$gw" wan-veth "${segment[$1]}" "$1"
	ip -n "$net_prefix-${segment[$1]}" link set "$1" master br0
	add_host "$1" "$gw" "${lan_net[$1]}"
	in_ns "$gw" sysctl -q -w net.ipv4.ip_forward=1
	if [ "$2" = libipsec ]; then
		add_address "$gw" wan-veth "${wan_addr[$1]}/24"
		add_address "$gw" lan-veth "${lan_net[$1]}.1/24"
		add_uplink "$1" wan-veth
	fi
}

# on_gateway SIDE COMMAND: run a line of shell on the gateway itself.
on_gateway() {
	if [ "${!1}" = kernel ]; then
		guest_do "$1" "$2"
	else
		in_ns "gw-$1" sh -c "$2"
	fi
}

# add_network SIDE...: create the wire, the additional network of the scenario, and the gateways.
more_network() { :; }
add_network() {
	local side
	add_segment wire
	more_network
	for side in "$@"; do
		add_gateway "$side" "${!side}"
	done
}
