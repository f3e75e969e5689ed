# SPDX-License-Identifier: GPL-2.0-or-later
# The WAN of both gateways is a VLAN: on the left one of Cygnet's port, on the right one of Debian's kernel. First with one
# tag, then with two (QinQ: 802.1ad, and 802.1Q in it), to which the gateways' addresses move. Either side initiates. The
# hosts' pings and TCP pass, and none is lost while both sides rekey the CHILD_SA. No frame on the wire has other tags, or
# none.
right=kernel no_policy=drop
charon_options="delete_rekeyed_delay = 1"
port_sections="[port wan.100]
vlan = 100
[port wan.q]
vlan = 300.40"

steps() {
	expect "the right's kernel has the VLANs" on_gateway right "modprobe 8021q &&
		/sbin/ip link add link wan name wan.100 type vlan id 100 &&
		/sbin/ip link add link wan name wan.300 type vlan protocol 802.1ad id 300 &&
		/sbin/ip link set wan.300 up &&
		/sbin/ip link add link wan.300 name wan.q mtu 1492 type vlan id 40"
	expect_output "VLANs of the left" "wan.100 100 wan, wan.q 300.40 wan" left_vlans
	in_vlan wan.100 wan left
	in_vlan wan.q wan.100 right
}

left_vlans() { ctl left --json show ports | jq -r 'map(select(.vlan != "") | "\(.name) \(.vlan) \(.on)") | join(", ")'; }

# in_vlan DEVICE FROM SIDE: the addresses of both gateways move to DEVICE; then a tunnel, initiated by SIDE.
in_vlan() {
	local side
	for side in left right; do
		expect "the address of the $side moves to $1" on_gateway "$side" \
			"/sbin/ip address del ${wan_addr[$side]}/24 dev $2 && /sbin/ip link set $1 up &&
				/sbin/ip address add ${wan_addr[$side]}/24 dev $1 || exit
			$(neighbour_settings "$1")"
	done
	expect "the tunnel comes up from $3" tunnel_up "$3"
	expect_tunnel
	start_pings "$1" left 30000 0.01
	for side in left right; do
		sleep 0.1
		expect_rekey "$side"
	done
	expect "the old SAs go" wait_for 30 only_newest
	expect_none_lost "$1"
	expect_pings
	expect "the connection goes down" connection_down left
	expect_empty
}

# Checks of captures (capture.sh) are for frames without tags.
eval "stop_usual_watch() $(declare -f stop_watch | tail -n +2)"
stop_watch() {
	stop_usual_watch
	expect_always "every frame on the wire is in one of the VLANs, and both have some" \
		"$scenario/untag" "$work/watch-wire.pcap" 100 300.40
}
