# SPDX-License-Identifier: GPL-2.0-or-later
# Route-based tunnels: on the left one of cygnetd's, on the right an XFRM interface of Debian's kernel. Each side has an
# interface ID of its own, and its policies are for all addresses of IPv4 and IPv6. Either side initiates; pings and TCP
# pass, and none is lost while both sides rekey. The gateways themselves reach each other by addresses on the tunnel. A trap
# of the left's brings it up, too. Further CHILD_SAs get their ID from charon (%unique), or one for each direction (%unique-dir):
# the updown script hears of them, and tunnels are added by reload. What is routed to a tunnel without a CHILD_SA does not leave.
right=kernel no_policy=drop
charon_options="delete_rekeyed_delay = 1"
charon_plugins+=" updown"
port_sections="[tunnel vpn0]
if_id = 42
mtu = 1400"

# The updown script writes what charon tells it.
conf_of() {
	sed "s|@updown@|$work/updown|" "$scenario/$1.conf" > "$work/$1.swanctl.conf"
	cat > "$work/updown" <<-'END'
		#!/bin/sh
		case $PLUTO_VERB in up-client*) env | grep '^PLUTO_IF_ID_' > "${0%/*}/if_ids" ;; esac
	END
	chmod +x "$work/updown"
	echo "$work/$1.swanctl.conf"
}

steps() {
	expect "the right's kernel has an XFRM interface" on_gateway right "modprobe xfrm_interface &&
		/sbin/ip link add vpn0 mtu 1400 type xfrm dev wan if_id 7 && /sbin/ip link set vpn0 up &&
		$(ipv6_on vpn0) && /sbin/ip address add 169.254.0.2/30 dev vpn0 && /sbin/ip -6 address add fd00::2/64 dev vpn0 &&
		/sbin/ip route add ${lan_net[left]}.0/24 dev vpn0"
	expect "the left's has the tunnel of cygnetd" on_gateway left "$(ipv6_on vpn0) &&
		ip address add 169.254.0.1/30 dev vpn0 &&
		ip -6 address add fd00::1/64 dev vpn0 && ip link set vpn0 up && ip route add ${lan_net[right]}.0/24 dev vpn0"
	expect_silence tunnel-policy left
	by_tunnel left
	by_tunnel right
	expect "the left has a trap" quiet "$work/left/install.out" swanctl_on left --install --child net
	expect "the first ping by the tunnel is answered" first_ping_from left
	with_ids_of_charon unique 10.9.0 8
	with_ids_of_charon unique-dir 10.8.0 9
	expect "the trap goes" quiet "$work/left/install.out" swanctl_on left --uninstall --child net
	expect "the connection goes down" connection_down left
	expect_empty
	expect_silence tunnel-policy left
}
# The left's kernel tells multicast routers of its groups by the TAP.
may_drop=([left]="tunnel-policy tunnel-link")

# ipv6_on DEVICE: print the commands. The kernel asks for no routers, by the tunnel and in it: such packets would be counted.
ipv6_on() { echo "cd /proc/sys/net/ipv6/conf/$1 && echo 0 > router_solicitations && echo 0 > disable_ipv6"; }

# by_tunnel SIDE: a tunnel, initiated by SIDE.
by_tunnel() {
	local side
	expect "the tunnel comes up from $1" tunnel_up "$1"
	expect_output "routes of charon on the left" 0 charon_routes
	expect_tunnel
	expect "the gateways reach each other" reaches_from gw-left 169.254.0.2
	expect "by IPv6" reaches_from gw-left fd00::2
	start_pings "$1" left 30000 0.01
	for side in left right; do
		sleep 0.1
		expect_rekey "$side"
	done
	expect "the old SAs go" wait_for 30 test_newest
	expect_none_lost "$1"
	expect_pings
	expect "the tunnel has counted them" counted_by_tunnel
	expect "the connection goes down" connection_down left
	expect_empty
}

# The policies of both families and three directions, and two SAs.
test_newest() { [ "$(sad left length) $(spd left length)" = "2 6" ]; }
counted_by_tunnel() {
	ctl left --json show ports | jq -e '.[] | select(.name == "vpn0") | .rx_packets > 100 and .tx_packets > 100' > /dev/null
}

# with_ids_of_charon CHILD NETWORK ID: a CHILD_SA for a network behind the right, where it has ID; charon chooses those of the
# left. Packets come in by the tunnel with the one, and leave by that with the other, which may be the same.
with_ids_of_charon() {
	local child=$1 net=$2 id in out
	expect "the right has another interface" on_gateway right "/sbin/ip link add vpn$3 type xfrm dev wan if_id $3 &&
		/sbin/ip link set vpn$3 up && /sbin/ip address add $net.1/24 dev vpn$3 &&
		/sbin/ip route add ${host_addr[left]}/32 dev vpn$3 table $3 && /sbin/ip rule add from $net.0/24 table $3"
	rm -f "$work/if_ids"
	expect "a CHILD_SA with $child comes up" tunnel_up left "$child"
	expect "the updown script has its IDs" wait_for 30 has_ids
	in=$(sed -n 's/^PLUTO_IF_ID_IN=//p' "$work/if_ids") out=$(sed -n 's/^PLUTO_IF_ID_OUT=//p' "$work/if_ids")
	expect "they are as they should: $in, $out" [ "$([ "$in" = "$out" ] && echo unique || echo unique-dir)" = "$child" ]
	for id in $(printf '%s\n' "$in" "$out" | sort -u); do
		printf '\n[tunnel by%u]\nif_id = %u\n' "$id" "$id" >> "$work/left/cygnetd.conf"
	done
	kill -HUP "${pids[cygnetd-left]}"
	for id in "$in" "$out"; do
		expect "the left has a tunnel with ID $id" wait_for 30 in_ns gw-left ip link set "by$id" up
	done
	expect "a route leads to it" on_gateway left "ip route add $net.0/24 dev by$out"
	expect "a host reaches what is behind it" wait_for 30 reaches_from left "$net.1"
	expect_pings
}

has_ids() { [ "$(grep -c '^PLUTO_IF_ID_\(IN\|OUT\)=[1-9]' "$work/if_ids" 2> /dev/null)" = 2 ]; }
charon_routes() { in_ns gw-left ip route show table all | grep -c 'table 220' || true; }
