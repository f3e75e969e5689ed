# SPDX-License-Identifier: GPL-2.0-or-later
# Extended sequence numbers, against the ESP of Debian's kernel, and replay windows of 4,096 on both
# sides: a packet that is delayed behind thousands of others is accepted once, and not a second time; one that
# is delayed beyond the window is dropped. (Algorithms with ESN: kernel-algorithms.)
right=kernel
may_drop=([left]="replay auth-failed" [right]="XfrmInStateSeqError XfrmInStateProtoError")

# The first two packets from each side are captured and not forwarded.
steps() {
	local side packets=0
	expect "the tunnel comes up" tunnel_up left
	expect_output "windows of what comes in" "4096 4096" windows
	expect_sas
	start_capture held wire br0 esp
	wire_holds
	for side in left right; do ! in_ns "$side" ping -q -c 2 -i 0.1 -W 0.5 "$(host_of "$(other "$side")" 4)" \
		> "$work/ping.out" || die "the wire does not hold"; done
	wire_forwards
	stop_capture held
	expect "thousands are sent" wait_for 60 sent_more 2500
	expect "so many packets are in the window" sent_since 2500 4000
	expect "nothing is under way any more" wait_for 30 still
	for side in left right; do
		packets=$((packets + 1)) # because the left's ping, sent first, is answered by the right
		send_held "$side" 1
		expect "what comes late from the $side is taken" \
			wait_for 30 carried_in "$(other "$side")" "$packets"
		send_held "$side" 1
	done
	expect "it is not taken twice" wait_for 30 dropped replay XfrmInStateSeqError
	expect "so many packets are not in the window" wait_for 60 sent_more 4100
	for side in left right; do send_held "$side" 2; done
	# A number below the window is assumed to be of the next 2^32 numbers (RFC 4303, A2.2), so that the ICV is wrong.
	expect "what comes too late is not authentic" wait_for 30 dropped auth-failed XfrmInStateProtoError
	expect_pings
	expect "the tunnel goes down" tunnel_down left
	expect_empty
}

# Drop ESP in the bridge, behind the point of the capture.
wire_holds() {
	in_ns wire nft "table bridge wire { chain hold { type filter hook forward priority 0;
		ip protocol esp drop; }; }"
}
wire_forwards() { in_ns wire nft "delete table bridge wire"; }

# send_held SIDE NUMBER: send the held packet of this number from SIDE to the other gateway.
send_held() {
	quiet "$work/tcpdump.out" tcpdump -r "$work/held.pcap" -w "$work/held-$1.pcap" "src ${wan_addr[$1]}"
	in_ns wire "$lib/send-frame" "$work/held-$1.pcap" "$(other "$1")" "$2"
}

# sent_since FROM TO: each side has used at least FROM and at most TO sequence numbers.
sent_since() {
	local numbers
	numbers=$(sad left 'map(.seq) | sort | join(" ")')
	say "sequence numbers: $numbers"
	[ "${numbers% *}" -ge "$1" ] && [ "${numbers#* }" -le "$2" ]
}

# sent_more FROM: send 200 pings, of which a busy machine loses some; then at least FROM numbers are used.
sent_more() {
	local patience=1
	pings left 200 0.001 > "$work/ping.out"
	sent_since "$1" 100000
}

# dropped REASON KERNEL-REASON: cygnetd and the kernel have each dropped one packet.
dropped() {
	[ "$(drops left "$1") $(guest_do right "cat /proc/net/xfrm_stat" |
		awk -v "name=$2" '$1 == name { print $2 }')" = "1 1" ]
}

# Print the window sizes of cygnetd and of the kernel.
windows() {
	echo "$(sad left '.[] | select(.dir == "in").window')" \
		"$(guest_xfrm right state | sed -n 's/.*replay_window \([0-9]*\),.*/\1/p' | sort -n | tail -n 1)"
}
