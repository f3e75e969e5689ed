# SPDX-License-Identifier: GPL-2.0-or-later
# Extended sequence numbers, against the ESP of Debian's kernel, and replay windows of 4,096 on both
# sides: what the wire has held back for thousands of packets is taken, but not twice, and what it
# has held back for longer is not. (Their algorithms: kernel-algorithms.)
right=kernel
may_drop=([left]="replay auth-failed" [right]="XfrmInStateSeqError XfrmInStateProtoError")

# The first two packets from each side are held back.
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
		packets=$((packets + 1)) # the left's is answered
		send_held "$side" 1
		expect "what comes late from the $side is taken" \
			wait_for 30 carried_in "$(other "$side")" "$packets"
		send_held "$side" 1
	done
	expect "it is not taken twice" wait_for 30 dropped replay XfrmInStateSeqError
	expect "so many packets are not in the window" wait_for 60 sent_more 4100
	for side in left right; do send_held "$side" 2; done
	# Below the window a number is taken for one of the next 2^32 (RFC 4303, A2.2).
	expect "what comes too late is not authentic" wait_for 30 dropped auth-failed XfrmInStateProtoError
	expect_pings
	expect "the tunnel goes down" tunnel_down left
	expect_empty
}

# Behind where the wire is captured.
wire_holds() {
	in_ns wire nft "table bridge wire { chain hold { type filter hook forward priority 0;
		ip protocol esp drop; }; }"
}
wire_forwards() { in_ns wire nft "delete table bridge wire"; }

# send_held SIDE NUMBER: of what was held from there, to the other.
send_held() {
	quiet "$work/tcpdump.out" tcpdump -r "$work/held.pcap" -w "$work/held-$1.pcap" "src ${wan_addr[$1]}"
	in_ns wire "$lib/send-frame" "$work/held-$1.pcap" "$(other "$1")" "$2"
}

# sent_since FROM TO: that many numbers have been used by each side.
sent_since() {
	local numbers
	numbers=$(sad left 'map(.seq) | sort | join(" ")')
	say "sequence numbers: $numbers"
	[ "${numbers% *}" -ge "$1" ] && [ "${numbers#* }" -le "$2" ]
}

# sent_more FROM: some more are. (A busy machine loses some of a thousand pings a second.)
sent_more() {
	local patience=1
	pings left 200 0.001 > "$work/ping.out"
	sent_since "$1" 100000
}

# carried_in SIDE PACKETS: since note_counters.
carried_in() { [[ $(carried in "${seen_sas[$1]}" "$(charon_sas "$1")") = "$2 "* ]]; }

# dropped REASON KERNELS-REASON: one packet by each side.
dropped() {
	[ "$(drops left "$1") $(guest_do right "cat /proc/net/xfrm_stat" |
		awk -v "name=$2" '$1 == name { print $2 }')" = "1 1" ]
}

# cygnetd's and the kernel's
windows() {
	echo "$(sad left '.[] | select(.dir == "in").window')" \
		"$(guest_xfrm right state | sed -n 's/.*replay_window \([0-9]*\),.*/\1/p' | sort -n | tail -n 1)"
}
