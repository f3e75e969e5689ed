# SPDX-License-Identifier: GPL-2.0-or-later
# Selectors with protocols and ports. The initiator, left and Debian's kernel on the right in turn, proposes more
# than the responder is configured for, which narrows the proposal. Selected packets are encrypted; other protocols
# and ports match no policy and pass in plaintext. If two children select the same packets, the one with a
# configured priority wins, although the other one's networks are smaller. At last a selector for an ICMP type.
right=kernel
plaintext_on_wire="net 10.0.0.0/8 and (icmp or udp dst port 9000 or (tcp src port 5201 and tcp dst port 1))"
may_drop=([left]=policy-plaintext)
allowed_on_wire+=" or (esp and ip[6:2] & 0x1fff != 0)"

steps() {
	add_routes
	start_capture wire wire br0
	start_capture lan right eth0
	expect "child tcp comes up" tunnel_up left tcp
	expect "child udp comes up" tunnel_up right udp
	expect_output "policies out" "$policies" spd left \
		'map(select(.dir == "out").selector) | sort | join(", ")'
	expect_output "pings, in plaintext, lost" 0 lost_of left
	expect_sas
	send_udp 5000
	send_udp 9000
	expect "UDP arrives" wait_for 30 arrived 2
	expect_carried left "0 0" "1 45"
	expect_carried right "1 45" "0 0"
	expect "60,000 bytes of UDP, in fragments, arrive" long_udp 5000
	expect_carried left "0 0" "2 $((45 + 60028))"
	expect_carried right "2 $((45 + 60028))" "0 0"
	expect "TCP to port 5201 flows" tcp_flows
	stop_capture lan wire
	expect "UDP to 5000 has arrived" test "$(frames lan udp dst port 5000)" -eq 2
	expect "UDP to 9000 has arrived" test "$(frames lan udp dst port 9000)" -eq 1
	expect_output "TCP in plaintext on the wire" 0 frames wire tcp
	expect_output "UDP to 5000 in plaintext on the wire" 0 frames wire udp port 5000
	expect_output "UDP to 9000 in plaintext on the wire" 1 frames wire udp port 9000
	expect "pings in plaintext on the wire" test "$(frames wire icmp)" -ge $((2 * pings))
	expect "ESP on the wire" test "$(frames wire esp)" -gt 0
	expect "left drops plaintext TCP that should be protected" plaintext_dropped
	priorities
	requests
}

# Child host, for the two hosts only, is up first. Child net has a configured priority and takes over the pings; when it
# goes, host has them again.
priorities() {
	expect "child host comes up" tunnel_up left host
	expect_output "pings lost" 0 lost_of left
	expect "child net comes up" tunnel_up right net
	expect_output "pings lost" 0 lost_of left
	expect_output "pings lost" 0 lost_of right
	expect_output "packets of host, net" "$pings $pings, $((2 * pings)) $((2 * pings))" packets_of_both
	expect_output "policies and priorities" "$(kernel_policies)" our_policies
	expect "child net goes down" tunnel_down left net
	expect_output "pings lost" 0 lost_of right
	expect_output "packets of host" "$((2 * pings)) $((2 * pings))" packets_of host
}

# A child for ICMP type 8 with any code: echo requests are encrypted, and replies, which have type 0, are not.
requests() {
	expect "child host goes down" tunnel_down left host
	expect "child echo comes up" tunnel_up right echo
	expect_output "policies out" "10.1.0.0/24 === 10.2.0.0/24 icmp 8 any" spd left \
		'map(select(.dir == "out" and (.selector | contains("icmp"))).selector) | join(", ")'
	start_capture wire wire br0
	expect_output "pings lost" 0 lost_of left
	expect_output "pings lost" 0 lost_of right
	stop_capture wire
	expect_output "requests in plaintext on the wire" 0 frames wire 'icmp[0] = 8'
	expect_output "answers in plaintext on the wire" $((2 * pings)) frames wire 'icmp[0] = 0'
	expect_output "packets of echo" "$pings $pings" packets_of echo
}

# Print selector and priority of each policy; an outbound policy of one side is an inbound policy of the other.
our_policies() {
	spd left 'map(select(.dir != "fwd") | (.selector | split(" ")) as $is |
		"\({in: "out", out: "in"}[.dir]) \($is[0]) \($is[2]) \(.priority)")[]' | listed
}
kernel_policies() {
	guest_xfrm right policy list nosock |
		awk '/^src/ { of = $2 " " $4 } $1 == "dir" && $2 != "fwd" { print $2, of, $4 }' | listed
}
listed() { sed 's|/32||g' | sort | paste -s -d ,; }

packets_of_both() { echo "$(packets_of host), $(packets_of net)"; }

# packets_of CHILD: print the packets, in and out, that charon on the left reports.
packets_of() {
	swanctl_on left --list-sas --child "$1" |
		sed -nE 's/^ +(in|out) .* ([0-9]+) packets.*/\2/p' | paste -s -d ' '
}

policies="10.1.0.0/24 === 10.2.0.0/24 tcp any 5201, 10.1.0.0/24 === 10.2.0.0/24 udp any 4096-8191"

# Routes for packets that match no policy.
add_routes() {
	local side
	for side in left right; do
		add_route "$side"
	done
}

arrived() { [ "$(frames lan "udp and net 10.0.0.0/8")" -eq "$1" ]; }

send_udp() { in_ns left bash -c "echo $plaintext > /dev/udp/${host_addr[right]}/$1"; }

# Only the first fragment has ports: the gateway reassembles the packet, encrypts it whole, and fragments the ESP
# packet.
long_udp() {
	ip -n "$net_prefix-right" link set eth0 mtu 1500 # as its gateway assumes
	spawn receiver "$work/receiver.out" ip netns exec "$net_prefix-right" python3 -c 'import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", int(sys.argv[1])))
print("bound", flush=True)
print(len(sock.recv(65535)), flush=True)' "$1"
	wait_for 30 grep -q bound "$work/receiver.out" || return
	in_ns left python3 -c 'import socket, sys
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(bytes(60000), (sys.argv[1], int(sys.argv[2])))' \
		"${host_addr[right]}" "$1"
	reap_after receiver 30 && grep -q '^60000$' "$work/receiver.out"
}

# Send plaintext on the wire with the address of the right's host; the left drops it.
plaintext_dropped() {
	local before
	before=$(drops left policy-plaintext)
	in_ns wire /usr/bin/python3 - "$(in_ns gw-left cat /sys/class/net/wan/address)" <<-'END'
		import sys
		from scapy.all import IP, TCP, Ether, sendp
		sendp(Ether(dst=sys.argv[1]) / IP(src="10.2.0.10", dst="10.1.0.10") /
		      TCP(sport=5201, dport=1, flags="S"), iface="br0", verbose=False)
	END
	wait_for 30 eval '[ "$(drops left policy-plaintext)" -gt '"$before"' ]'
}
