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

# guest_card NUMBER NAME: without offloads, so that frames are what a wire carries.
guest_card() {
	local option device="virtio-net-pci,netdev=$2,mac=52:54:00:00:00:0$1,romfile="
	for option in csum guest_csum gso mrg_rxbuf {host,guest}_{tso4,tso6,ufo}; do
		device+=,$option=off
	done
	printf '%s\n' -netdev "tap,id=$2,ifname=tap-$2,script=no,downscript=no" -device "$device"
}

# run_guest SIDE. Where QEMU does not get enough of the CPU the kernel's check of the
# timer fails now and then, and its tests of algorithms hold the first SAs up for seconds.
run_guest() {
	local cards
	mapfile -t cards < <(guest_card 1 wan; guest_card 2 lan; guest_card 3 control)
	spawn "guest-$1" "$work/$1/guest.log" ip netns exec "$net_prefix-gw-$1" \
		qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none -serial stdio \
		-accel tcg -cpu qemu64,+rdrand -smp 1,maxcpus=2 -m 256 \
		-kernel "$guest_image/vmlinuz" -initrd "$guest_image/initrd" \
		-append "console=ttyS0 quiet panic=-1 rootfstype=ramfs no_timer_check cryptomgr.notests" "${cards[@]}"
}

# start_guest SIDE, await_guest SIDE: it serves shells and has a network when the
# second returns.
start_guest() {
	[ -f "$guest_image/stamp" ] || die "no $guest_image: run testing/guest/image"
	mkdir -p "$work/$1"
	add_guest_bridge "$1" wan
	add_guest_bridge "$1" lan
	add_tap "$1" control
	add_address "gw-$1" tap-control "$guest_control.1/24"
	run_guest "$1"
}

await_guest() {
	wait_for 150 guest_settled "$1" || true
	alive "guest-$1" && wait_for 60 guest_answers "$1" ||
		{ cat "$work/$1/guest.log" >&2; die "the guest does not boot"; }
	guest_do "$1" "ip address add ${wan_addr[$1]}/24 dev wan
		ip address add ${lan_net[$1]}.1/24 dev lan
		${uplink[$1]:+ip route add default via ${uplink[$1]}}" || die "the guest has no network"
	say "$1: $(guest_do "$1" 'uname -sr')"
}

guest_settled() { grep -qs '^guest: ready' "$work/$1/guest.log" || gone "guest-$1"; }

# It says that it is ready a moment before it listens.
guest_answers() { [ "$(guest_do "$1" 'echo yes' 2> /dev/null)" = yes ]; }

# guest_do SIDE COMMANDS: in a shell of the machine; prints what they print and
# returns their status.
guest_do() { in_ns "gw-$1" "$top/testing/guest/shell" "$guest_control.2" "$2"; }

# guest_xfrm SIDE ARGUMENT...: ip xfrm there. The shell, busybox, has an ip of its own.
guest_xfrm() { guest_do "$1" "/sbin/ip xfrm ${*:2}"; }

run_guest_charon() {
	guest_do "$1" "cat > /run/strongswan.conf << 'END'
$(cat "$work/$1/strongswan.conf")
END
STRONGSWAN_CONF=/run/strongswan.conf /usr/lib/ipsec/charon > /run/charon.out 2>&1 &" ||
		die "the guest takes no commands"
}
