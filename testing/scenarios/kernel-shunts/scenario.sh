# SPDX-License-Identifier: GPL-2.0-or-later
# Shunts: UDP to port 6000 passes in plaintext, with and without the tunnel, and a drop policy for the networks of
# the tunnel drops everything else while there is no tunnel. The shunt for UDP to port 7000 is for the interface wan,
# which these packets leave by, so they pass; that for port 5000 is for lan, and does not apply. The tunnel is
# initiated from either side, Debian's kernel on the right.
. "$top/testing/scenarios/kernel-selectors/scenario.sh"
plaintext_on_wire="net 10.0.0.0/8 and (udp dst port 6000 or udp dst port 7000)"
may_drop=([left]=policy-discard [right]=XfrmOutPolBlock)

steps() {
	add_routes
	expect_udp "without a tunnel" "6000 7000" "6000 7000"
	expect_output "packets discarded" 1 drops left policy-discard
	expect_output "policies bound to an interface" "lan lan lan wan wan wan" bound_policies
	expect "the tunnel comes up from left" tunnel_up left
	expect_udp "with a tunnel" "5000 6000 7000" "6000 7000"
	expect "the connection goes down" connection_down right
	for side in left right; do
		expect "$side takes the bypass away" quiet "$work/$side/uninstall.out" \
			swanctl_on "$side" --uninstall --child bypass
	done
	expect "the tunnel comes up from right" tunnel_up right
	expect_udp "with a tunnel and no bypass" "5000 6000 7000" 7000
	expect_pings
	expect "the connection goes down" connection_down left
	expect_udp "with nothing but the drop policy" 7000 7000
	expect_output "packets discarded" 3 drops left policy-discard
}

bound_policies() {
	spd left 'map(.interface | select(. != "any")) | sort | join(" ")'
}

# expect_udp WHEN ARRIVED PLAINTEXT: send a datagram to each of the ports 5000, 6000 and 7000; these ARRIVED, and
# PLAINTEXT were seen on the wire.
expect_udp() {
	start_capture wire wire br0
	start_capture lan right eth0
	send_udp 5000
	send_udp 6000
	send_udp 7000
	expect "these ports arrive $1: $2" wait_for 30 eval "[ \"\$(udp_ports lan)\" = '$2' ]"
	stop_capture lan wire
	expect_output "ports that arrive $1" "$2" udp_ports lan
	expect_output "ports in plaintext on the wire $1" "$3" udp_ports wire
}

udp_ports() {
	tcpdump -n -t -r "$work/$1.pcap" 'udp and net 10.0.0.0/8' 2> /dev/null |
		sed -n 's/.* > [0-9.]*\.\([0-9]*\): .*/\1/p' | sort | paste -s -d ' '
}
