# SPDX-License-Identifier: GPL-2.0-or-later
# The stock peer: a virtual machine, with Debian's kernel and strongSwan, in the
# namespace of its gateway. Sourced.
#
#   wan-veth -- br-wan -- tap-wan ---- wan
#   lan-veth -- br-lan -- tap-lan ---- lan
#                     tap-control ---- control  169.254.77.2: shells, vici

guest_image=${CYGNET_CACHE:-/var/cache/cygnet}/guest
guest_control=169.254.77
guest_vici=tcp://$guest_control.2:4502

# add_tap SIDE NAME
add_tap() {
	ip -n "$net_prefix-gw-$1" tuntap add "tap-$2" mode tap
	ip -n "$net_prefix-gw-$1" link set "tap-$2" up
}

# add_guest_bridge SIDE NAME: the veth NAME-veth and the machine's card NAME.
add_guest_bridge() {
	local ns=$net_prefix-gw-$1 device
	ip -n "$ns" link add "br-$2" type bridge mcast_snooping 0
	ip -n "$ns" link set "br-$2" up
	add_tap "$1" "$2"
	for device in "tap-$2" "$2-veth"; do
		ip -n "$ns" link set "$device" master "br-$2"
	done
}

# start_guest SIDE, await_guest SIDE: when await_guest returns, the machine serves shells and has a network.
start_guest() {
	[ -f "$guest_image/stamp" ] || die "no $guest_image: run testing/guest/image"
	mkdir -p "$work/$1"
	add_guest_bridge "$1" wan
	add_guest_bridge "$1" lan
	add_tap "$1" control
	add_address "gw-$1" tap-control "$guest_control.1/24"
	spawn "guest-$1" "$work/$1/guest.log" ip netns exec "$net_prefix-gw-$1" \
		"$top/testing/guest/machine" "$guest_image" -serial stdio -incoming "exec:cat $guest_image/state"
}

await_guest() {
	wait_for 60 guest_settled "$1" || true
	alive "guest-$1" && guest_answers "$1" ||
		{ cat "$work/$1/guest.log" >&2; die "the guest does not go on"; }
	guest_do "$1" "date -s @$(date +%s) > /dev/null
		ip address add ${wan_addr[$1]}/24 dev wan
		ip address add ${lan_net[$1]}.1/24 dev lan
		$(neighbour_settings wan)
		$(neighbour_settings lan)
		${uplink[$1]:+ip route add default via ${uplink[$1]}}" || die "the guest has no network"
	say "$1: $(guest_do "$1" 'uname -sr')"
}

guest_settled() { guest_answers "$1" || gone "guest-$1"; }
guest_answers() { [ "$(guest_do "$1" 'echo yes' 2> /dev/null)" = yes ]; }

# guest_do SIDE COMMANDS: in a shell of the machine; prints what they print and
# returns their status.
guest_do() { in_ns "gw-$1" "$top/testing/guest/shell" "$guest_control.2" "$2"; }

# guest_xfrm SIDE ARGUMENT...: run iproute2's ip xfrm in the machine: busybox's built-in ip has no xfrm.
guest_xfrm() { guest_do "$1" "/sbin/ip xfrm ${*:2}"; }

run_guest_charon() {
	guest_do "$1" "cat > /run/strongswan.conf << 'END'
$(cat "$work/$1/strongswan.conf")
END
STRONGSWAN_CONF=/run/strongswan.conf /usr/lib/ipsec/charon > /run/charon.out 2>&1 &" ||
		die "the guest takes no commands"
}
