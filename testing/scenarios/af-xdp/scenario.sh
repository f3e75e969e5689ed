# SPDX-License-Identifier: GPL-2.0-or-later
# Two Cygnet gateways with ports of AF_XDP: the kernel's IP stack does not see the packets that cygnetd receives. Also
# packets that are fragmented and reassembled.
port_driver=net_af_xdp

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
	expect "a ping of 20,000 bytes is answered" long_ping
}

long_ping() {
	in_ns left ping -n -q -c 3 -i 0.2 -W $(scaled 5) -M dont -s 20000 "${host_addr[right]}" > /dev/null
}
