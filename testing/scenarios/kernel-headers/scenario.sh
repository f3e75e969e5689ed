# SPDX-License-Identifier: GPL-2.0-or-later
# What ESP shows beside what it hides, against Debian's kernel: DSCP, ECN and DF of the
# packet inside, copied as charon says. The wire marks congestion and remarks DSCP, and
# what comes out has what the table of RFC 6040 says. Traffic flow confidentiality hides
# the length, of what is shorter than 800 bytes, then of everything. Left and right
# initiate in turn.
right=kernel
may_drop=([left]=ecn)

steps() {
	copied
	remarked
	hidden
	padded
}

# Linux answers a ping with the ping's TOS: 0xb8 is DSCP EF, its last bits are ECN's. It
# does not show congestion inside (0xbb) outside, as RFC 3168 has it. Then all
# combinations: the wire writes each mark of ECN into what comes from the right,
# whatever is inside. What cannot be marked inside is dropped (RFC 6040, 4.2).
copied() {
	local mark none="0x0 0x0 0x0 0x0" each="0x0 0x1 0x2 0x3" ef="0xb8 0xb9 0xba"
	begin left net
	ping_with -M do
	ping_with -M dont
	ping_tos 0xb8 0xb9 0xba 0xbb
	for mark in not-ect ect1 ect0 ce; do
		wire_writes "ecn set $mark"
		[ "$mark" != ce ] || patience=1
		ping_tos 0
		patience=5
		ping_tos 1 2 3
	done
	finish net
	expect_output "left's DF on the wire, of the first two" "DF none" first_df
	expect_output "left's TOS on the wire" "0x0 0x0 $ef 0xbb $each $each $each $each" \
		tos wire "$from_left"
	expect_output "right's TOS on the wire" \
		"0x0 0x0 $ef 0xba $none ${none//0x0/0x1} ${none//0x0/0x2} ${none//0x0/0x3}" \
		tos wire "$from_right"
	expect_output "TOS of what comes out on the left" \
		"0x0 0x0 $ef 0xbb $each 0x0 0x1 0x1 0x3 $each 0x3 0x3 0x3" tos lan "$answers"
	expect_output "dropped for their ECN" 1 drops left ecn
}

# DSCP is copied inwards alone: the kernel takes EF away, the wire writes CS1.
remarked() {
	begin right in
	wire_writes "dscp set cs1"
	ping_tos 0xb8 0xba
	finish in
	expect_output "left's TOS on the wire" "0x0 0x2" tos wire "$from_left"
	expect_output "TOS of what comes out on the left" "0x20 0x22" tos lan "$answers"
}

# The outside says nothing, what is written there does not get inside, and packets up to
# 800 bytes have one length: 20, 8 and 8 bytes of headers, 800, 4 of trailer, 16 of ICV.
hidden() {
	begin left hidden
	wire_writes "ecn set ce"
	ping_tos 0xb8 0xba 0xbb
	ping_sizes
	finish hidden
	expect_output "left's TOS on the wire" "0x0 0x0 0x0 0x0 0x0 0x0 0x0" tos wire "$from_left"
	expect_output "left's packets with DF" 0 frames wire "$from_left and ip[6] & 0x40 != 0"
	expect_output "TOS of what comes out on the left" "0xb8 0xba 0xbb 0x0 0x0 0x0 0x0" \
		tos lan "$answers"
	for side in left right; do
		expect_output "lengths from $side" "6 of 856, 1 of 1284" lengths "$side"
	done
}

padded() {
	begin right full
	ping_sizes
	expect "TCP flows" tcp_flows
	finish full
	expect_output "pings answered" 4 answered
	for side in left right; do
		expect_output "lengths from $side other than the MTU" 0 \
			frames wire "esp and src ${wan_addr[$side]} and ip[2:2] != 1500"
	done
}

ping_sizes() {
	local size
	for size in 10 300 772 1200; do ping_with -M do -s "$size"; done
}

from_left='esp and src 192.168.0.1' from_right='esp and src 192.168.0.2'
answers='icmp[0] = 0' patience=5

# begin SIDE CHILD, finish CHILD: with the tunnel up, which SIDE initiates, the wire and the
# left LAN captured.
begin() {
	expect "$2 comes up from $1" tunnel_up "$1" "$2"
	[[ $2 = hidden || $2 = full ]] || expect_pings # the kernel counts padding, too
	start_capture wire wire br0
	start_capture lan left eth0
}

finish() {
	wire_writes_nothing
	stop_capture lan wire
	expect_ciphertext
	expect "$1 goes down" quiet "$work/left/terminate.out" swanctl_on left --terminate --ike "$1" --timeout 20
	expect_empty
}

# wire_writes WHAT: into the outer IP headers of what comes from the right.
wire_writes() {
	wire_writes_nothing
	in_ns wire nft "table bridge wire { chain marks { type filter hook prerouting priority 0;
		iifname \"right\" ip protocol esp ip $1; }; }"
}

wire_writes_nothing() { in_ns wire nft "table bridge wire {}; delete table bridge wire"; }

# ping_tos TOS..., ping_with OPTION...: a ping each from the left host, answered or not.
ping_tos() {
	local value
	for value in "$@"; do ping_with -Q "$value"; done
}

ping_with() {
	in_ns left ping -q -c 1 -W "$patience" "$@" "${host_addr[right]}" > "$work/ping.out" 2>&1 || true
}

# headers NAME FILTER FIELD: of each frame, in order; FIELD is tos, flags or length.
headers() {
	tcpdump -n -t -v -r "$work/$1.pcap" "$2" 2> /dev/null |
		sed -n "s/^IP (.*\b$3 \[\?\([0-9a-zA-Z]*\).*/\1/p" | paste -s -d ' '
}

tos() { headers "$1" "$2" tos; }
first_df() { headers wire "$from_left" flags | cut -d ' ' -f 1,2; }
answered() { frames lan "$answers"; }

# lengths SIDE: how many packets it has sent of each.
lengths() {
	headers wire "esp and src ${wan_addr[$1]}" length | tr ' ' '\n' | sort -n | uniq -c |
		awk '{ print $1 " of " $2 }' | paste -s -d , | sed 's/,/, /g'
}
