# SPDX-License-Identifier: GPL-2.0-or-later
# The left has its outside address by DHCP, and a tunnel for everything: dynamic, 10.1.0.0/24 === 0.0.0.0/0. Its client
# renews the lease first by unicast, which the tunnel protects, as with the kernel's IPsec. Without an answer it
# broadcasts from its address, and this goes to the server in plaintext. A DHCP server on the left answers hosts of
# its LAN. Client and server are BusyBox's: the shortest lease is two minutes, and the client broadcasts after three
# quarters of it.
charon_options="install_routes = no" # the route for 0.0.0.0/0 would also divert packets to the LAN
plaintext_on_wire="udp port 67 or udp port 68"
# On the right: decrypted unicasts to the server (hairpin), the client's broadcasts (policy-plaintext), and frames
# that the bridge floods to both gateways (not-ours).
may_drop=([right]="hairpin policy-plaintext not-ours" [left]=not-ours)

steps() {
	add_address wire br0 192.168.0.254/24
	start_server wire br0 192.168.0.1 122
	ip -n "$net_prefix-gw-left" address flush dev wan
	start_client
	expect "the left has a lease" wait_for 30 client_says bound
	expect "the tunnel comes up" wait_for 30 tunnel_up left
	expect_tunnel
	start_server gw-left lan 10.1.0.77 600
	expect_drops left
	inside_lan
	expect "a host of the left's has a lease" in_ns left /usr/bin/busybox udhcpc -f -q -n -i eth0 -s /bin/true
	expect "the lease is renewed" wait_for 200 client_says renew
	expect_pings
}

watched() {
	expect "the client has sent to all from its address" seen watch-wire "$from_the_client and dst 255.255.255.255"
	expect_output "messages of the client's to one host, in plaintext" 0 \
		frames watch-wire "$from_the_client and not dst 255.255.255.255"
}
from_the_client="src 192.168.0.1 and udp src port 68"

# start_server NAMESPACE DEVICE ADDRESS SECONDS: start a DHCP server with a single address.
start_server() {
	cat > "$work/udhcpd-$1.conf" <<-END
		start $3
		end $3
		interface $2
		max_leases 1
		lease_file $work/udhcpd-$1.leases
		pidfile $work/udhcpd-$1.pid
		option subnet 255.255.255.0
		option lease $4
		min_lease 60
	END
	touch "$work/udhcpd-$1.leases"
	spawn "udhcpd-$1" "$work/udhcpd-$1.out" ip netns exec "$net_prefix-$1" /usr/bin/busybox udhcpd -f "$work/udhcpd-$1.conf"
}

start_client() {
	cat > "$work/lease" <<-'END'
		#!/bin/sh
		[ "$1" != bound ] || ip address replace "$ip/24" dev "$interface"
		echo "$1 ${ip:-}" >> "${0%/*}/lease.log"
	END
	chmod +x "$work/lease"
	spawn udhcpc "$work/udhcpc.out" ip netns exec "$net_prefix-gw-left" \
		/usr/bin/busybox udhcpc -f -i wan -s "$work/lease"
}

client_says() { grep -qsx "$1 192.168.0.1" "$work/lease.log"; }

# DHCP servers are allowed on ports with side = inside only.
inside_lan() {
	sed -i 's/^\[port lan\]$/&\nside = inside/' "$work/left/cygnetd.conf"
	kill -HUP "${pids[cygnetd-left]}"
	expect "the LAN's port is inside" wait_for 30 grep -q 'side: inside from now on' "$work/left/cygnetd.log"
}
