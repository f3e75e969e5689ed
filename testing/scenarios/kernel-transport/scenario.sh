# SPDX-License-Identifier: GPL-2.0-or-later
# Transport mode between the two gateways themselves, Debian's kernel on the right:
# pings of several sizes from both, TCP and UDP. Whichever side initiates, the gateways' own
# packets are sent in ESP without a tunnel header. Then a selector for TCP to a single port: TCP starts the SA by a
# trap, then the kernel initiates. Then ESP in UDP, which the initiator asks for without a NAT.
right=kernel shapes="esp udp" encap=none
may_drop=([left]=too-big) # TCP segments, until the left's kernel knows the overhead of ESP

steps() {
	local side child
	for child in net gcm; do
		for side in left right; do transport "$side" "$child"; done
	done
	one_port
	start_capture wire wire br0
	encap=udp
	transport left net-udp udp
	transport right gcm-udp udp
	expect_ciphertext
	expect_output "frames of ESP that is not in UDP" 0 frames wire esp
}

# transport SIDE CHILD [IKE]: test a child, initiated by SIDE
transport() {
	expect "$2 comes up from $1" tunnel_up "$1" "$2"
	expect_output "SAs in transport mode in cygnetd" 2 \
		sad left "map(select(.mode == \"transport\" and .encap == \"$encap\")) | length"
	expect_output "SAs in transport mode in the kernel" 2 kernel_transports
	expect_hosts
	expect "the connection goes down" quiet "$work/$1/terminate.out" \
		swanctl_on "$1" --terminate --ike "${3:-gw-gw}" --timeout "$(scaled 20)"
	expect_empty
}

# A trap only for TCP to the port of the machine's shells.
one_port() {
	expect "a trap is set" quiet "$work/left/trap.out" swanctl_on left --install --child shell
	expect "TCP flows, both ways" tcp_gateways
	expect_output "policies out" "192.168.0.1/32 === 192.168.0.2/32 tcp any 23" spd left \
		'map(select(.dir == "out").selector) | unique | join(", ")'
	expect "the trap is taken away" quiet "$work/left/trap.out" swanctl_on left --uninstall --child shell
	expect "the connection goes down" connection_down left
	expect_empty
	expect "it comes up from right" tunnel_up right shell
	expect "TCP flows, both ways" tcp_gateways
	expect_output "policies out" "192.168.0.1/32 === 192.168.0.2/32 tcp any 23" spd left \
		'map(select(.dir == "out").selector) | unique | join(", ")'
	expect "the connection goes down" connection_down right
	expect_empty
}

kernel_transports() { guest_xfrm right state | grep -c 'mode transport'; }

# Pings, UDP and TCP between the gateways arrive and are counted.
expect_hosts() {
	local size
	expect_sas
	for size in 0 100 1000 1400; do
		expect "the left is answered, $size bytes" ping_gateway left "$size"
		expect "the right is answered, $size bytes" ping_gateway right "$size"
	done
	wait_for 30 all_arrived 24 || true
	expect_counted 24 $((6 * (2500 + 4 * 8))) # as in Linux, bytes do not include the IP header
	expect "UDP flows, both ways" udp_gateways
	expect "TCP flows, both ways" tcp_gateways
}

# ping exits before an answer that a busy machine delays, so all_arrived checks the counters.
ping_gateway() {
	on_gateway "$1" "/bin/ping -q -c 3 -i 0.02 -W $(scaled 5) -s $2 -p $(pattern_hex) ${wan_addr[$(other "$1")]}" \
		> "$work/ping.out" || { cat "$work/ping.out"; return 1; }
}

pattern_hex() { printf %s "$plaintext" | od -A n -t x1 | tr -d ' \n'; }

text() { printf "$plaintext\\n%.0s" {1..2000}; }

# The machine serves shells by TCP on all its addresses: send a long text and receive it back.
tcp_gateways() {
	[ "$(in_ns gw-left "$top/testing/guest/shell" "${wan_addr[right]}" "cat << 'END'
$(text)
END" | md5sum)" = "$(text | md5sum)" ]
}

# The machine requests a file by TFTP, which is UDP, receives it in one packet, and acknowledges it.
udp_gateways() {
	local asked
	spawn tftp "$work/tftp.out" ip netns exec "$net_prefix-gw-left" python3 -c 'import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 69))
print("listening", flush=True)
request, client = server.recvfrom(512)
server.sendto(b"\0\3\0\1" + sys.argv[1].encode(), client)
server.recv(512)' "$plaintext"
	wait_for 30 grep -q listening "$work/tftp.out" || return
	asked=$(guest_do right "busybox tftp -g -r file -l - ${wan_addr[left]}")
	reap_after tftp 30 && [ "$asked" = "$plaintext" ]
}
