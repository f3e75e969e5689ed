# SPDX-License-Identifier: GPL-2.0-or-later
# Two Cygnet gateways connect their networks: IKEv2 with ECDSA certificates of one
# CA, AES-256-GCM. Left initiates; its charon gives its routes an MTU.
auth=cert
side_options=([left]="plugins { kernel-netlink { mtu = 1300 } }")

may_drop[left]=too-big

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
	expect "charon's route has an MTU" route_has_mtu
	expect "packets that are longer are refused, and their host is told so" wait_for "$patience" host_hears
}

route_has_mtu() { in_ns gw-left ip route show table 220 | grep -q ' mtu 1300'; }

host_hears() {
	in_ns left ping -n -q -c 1 -W 1 -M "do" -s 1273 "${host_addr[right]}" > /dev/null 2>&1
	[ "$(ip -n "$net_prefix-left" -j route get "${host_addr[right]}" | jq '.[0].metrics[0].mtu')" = 1300 ]
}
