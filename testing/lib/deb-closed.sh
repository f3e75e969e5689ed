# SPDX-License-Identifier: GPL-2.0-or-later
# What leaves a gateway whose packages are installed while no cygnetd serves, for testing/deb. Sourced after
# deb-gateways.sh.
#
# The kernel of the gateway has all that it needs to forward the hosts' packets in plaintext, and charon has a trap.

# kernel_gets_ports SIDE: addresses and routes beside those of the TAPs, which come first. The next hop need not answer.
kernel_gets_ports() {
	local there
	there=$(in_ns "gw-$(other "$1")" cat /sys/class/net/wan-veth/address)
	in_ns "gw-$1" sh -e -c "
		sysctl -q -w net.ipv4.ip_forward=1
		ip link set wan-veth up
		ip link set lan-veth up
		ip address add ${wan_addr[$1]}/24 dev wan-veth noprefixroute
		ip address add ${lan_net[$1]}.1/24 dev lan-veth noprefixroute
		ip neigh replace ${wan_addr[$(other "$1")]} lladdr $there dev wan-veth nud permanent
		ip route add $wire_net.0/24 dev wan-veth metric 900
		ip route add ${lan_net[$1]}.0/24 dev lan-veth metric 900
		ip route add ${lan_net[$(other "$1")]}.0/24 via ${wan_addr[$(other "$1")]} dev wan-veth metric 900"
}

kernel_loses_ports() {
	in_ns "gw-$1" ip neigh flush nud permanent dev wan-veth
	in_ns "gw-$1" ip address flush dev wan-veth
	in_ns "gw-$1" ip address flush dev lan-veth
}

# pings_leave SIDE, no_pings_leave SIDE: of its host, on the wire as they are.
pings_leave() { send_pings "$1" && [ "$(frames closed "$inside_net")" -gt 0 ]; }
no_pings_leave() { send_pings "$1" && [ "$(frames closed "$inside_net")" -eq 0 ]; }
send_pings() {
	start_capture closed wire br0
	patience=1 pings "$1" 20 0.02 || true
	stop_capture closed
}

# closes SIDE: the kernel drops what policies protect. drops SIDE: it has dropped pings. opens SIDE: it drops nothing any more.
closes() { in_ns "gw-$1" nft list table inet cygnet_closed; }
opens() { fails closes "$1"; }
drops() {
	fails reaches "$1"
	closes "$1"
	in_ns "gw-$1" nft -j list table inet cygnet_closed |
		jq -e '[.. | objects | select(.counter?) | .counter.packets] | add > 0'
}

# nothing_leaves_while SIDE WHAT COMMAND...: pings go on while the command runs. Not one leaves in plaintext.
nothing_leaves_while() {
	start_capture meanwhile wire br0
	patience=1 start_pings meanwhile "$1" 100000 0.005
	wait_for 10 are_protected meanwhile || true
	check "$1: $2" "${@:3}"
	sleep 1
	reap pings-meanwhile INT || true
	stop_capture meanwhile
	check "$1: nothing leaves in plaintext meanwhile" no_plaintext_of meanwhile
}
are_protected() { [ "$(frames "$1" "${shape[esp]}")" -gt 0 ]; }
no_plaintext_of() { are_protected "$1" && no_frames "have an address of a host" "$1" "$inside_net"; }

# The configuration is there before the packages are, as where a tool manages it.
closed_from_installation() {
	kernel_gets_ports left
	check "left: without the packages pings leave in plaintext" pings_leave left
	write_configuration left
	must "left: apt installs the packages" install_first left "$packages/first"
	on left systemctl restart strongswan
	must "left: charon tells the kernel to drop" wait_for 30 closes left
	check "left: nothing leaves before cygnetd is started" no_pings_leave left
	check "left: the kernel has dropped it" drops left
	on left systemctl enable strongswan
	reboot left "$release" gateway
	must "left: charon tells the kernel to drop after a boot" wait_for 30 closes left
	check "left: nothing leaves after a boot without cygnetd" no_pings_leave left
	check "left: the kernel has dropped it" drops left
	kernel_loses_ports left
}

stops() {
	on "$1" systemctl stop cygnetd
	wait_for 30 drops "$1"
}

# systemd leaves the interfaces isolated, for the next cygnetd.
killed() {
	on "$1" systemctl kill --kill-whom=main --signal=KILL cygnetd
	wait_for 30 closes "$1"
}

serves_again() {
	on "$1" systemctl start cygnetd
	wait_for 25 settled "$1"
	wait_for 10 opens "$1"
	wait_for 30 talks
}

# cygnetd has switched off again what the kernel would forward by.
isolated() { in_ns "gw-$1" grep -qx 0 /proc/sys/net/ipv4/conf/lan-veth/forwarding; }

closed_without_cygnetd() {
	kernel_gets_ports left
	must "left: cygnetd keeps its ports" wait_for 10 isolated left
	nothing_leaves_while left "cygnetd is stopped" stops left
	must "left: it serves again" serves_again left
	put left /etc/systemd/system/cygnetd.service.d/once.conf <<< $'[Service]\nRestart=no'
	on left systemctl daemon-reload
	nothing_leaves_while left "cygnetd is killed, and not started again" killed left
	on left rm -r /etc/systemd/system/cygnetd.service.d
	on left systemctl daemon-reload
	on left systemctl reset-failed cygnetd
	must "left: it serves again" serves_again left
}

# The purge restarts charon, which has its trap in the kernel then.
closed_at_purge() {
	nothing_leaves_while left "apt purges the packages" purge left
	check "left: the kernel may forward again" opens left
	check "left: charon runs without the plugin" without_plugin left
	kernel_loses_ports left
}

without_plugin() {
	on "$1" systemctl is-active strongswan
	fails on "$1" grep kernel-cygnet "/proc/$(pid_of "$1" strongswan)/maps"
}
