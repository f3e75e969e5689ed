# SPDX-License-Identifier: GPL-2.0-or-later
# Two Cygnet gateways whose ports are the kernel's interfaces by AF_XDP: what cygnetd gets there
# the kernel does not see. What has to be cut, and put together, too.
port_driver=net_af_xdp

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
	expect "a ping of 20,000 bytes is answered" long_ping
}

long_ping() {
	in_ns left ping -n -q -c 3 -i 0.2 -W $(scaled 5) -M dont -s 20000 "${host_addr[right]}" > /dev/null
}
