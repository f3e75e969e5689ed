# SPDX-License-Identifier: GPL-2.0-or-later
# What a protected packet shows beside what it hides, against Debian's kernel: DSCP, ECN and
# DF of the packet inside, copied as charon says, in ESP and AH, with IPv4 and IPv6 in
# either of them. The wire marks congestion and remarks DSCP, in both directions, and what
# comes out has what the table of RFC 6040 says, from the kernel what RFC 3168 says. Traffic
# flow confidentiality hides the length, of what is shorter than 800 bytes, then of
# everything. Left and right initiate in turn.
right=kernel shapes="esp ah" allowed_on_wire+=" or ah" readable_on_wire=ah
may_drop=([left]=ecn)

steps() {
	copied
	hidden
	padded
}

# What is copied, as in the names of the children: swanctl.conf's copy_dscp, the first one being
# its default; with no, ECN and DF are not either. The names' numbers are the outer family.
modes="out yes in no"
children=""
for child in {esp,ah}-{out,yes,in,no}{4,6}; do children+=" $child"; done

# All children are up at once, and each step is done with all, by IPv4 and IPv6.
copied() {
	local name child
	add_ipv6
	add_hosts
	expect "IKE comes up over IPv4, from the left" ike_up left over4
	expect "IKE comes up over IPv6, from the right" ike_up right over6
	for child in $children; do
		expect "$child comes up" tunnel_up "$([ "${child: -1}" = 4 ] && echo left || echo right)" "$child"
	done
	expect_sas
	for name in left right; do start_capture "$name" "$name" eth0; done
	start_capture wire wire br0
	pings_as_sent
	expect_counted 256 $((64 * (28 + 48 + 1300 + 1320)))
	pings_marked
	expect_output "dropped for their ECN" 24 drops left ecn
	stop_capture left right wire
	expect_ciphertext
	for child in $children; do expect_copied "$child"; done
}

# 0xb8 is DSCP EF, its last two bits are ECN's. Linux answers with the ping's TOS.
each="0xb8 0xb9 0xba 0xbb"
pings_as_sent() {
	expect_output "pings from the left" 128 ping_marked left 5 0xb8d 0xb9d 0xba 0xbb
	expect_output "pings from the right" 128 ping_marked right 5 0xb8d 0xb9d 0xba 0xbb
}

# The wire writes DSCP CS1, and every mark of ECN, into what comes from the right, then from the
# left. What cannot be marked inside is dropped (RFC 6040, 4.2): nobody waits for it.
pings_marked() {
	local mark
	for mark in not-ect ect1 ect0; do
		wire_writes right "$mark"
		# shellcheck disable=SC2086
		expect_output "pings answered, with $mark on the way back" 128 ping_marked left 5 $each
	done
	wire_writes right ce
	expect_output "pings answered, with ce on the way back" 96 ping_marked left 5 0xb9 0xba 0xbb
	ping_marked left 0 0xb8 > "$work/ping.out"
	expect "those of no ECN are dropped" wait_for 30 dropped_for left ecn 24
	wire_writes left ce
	# shellcheck disable=SC2086
	expect_output "pings answered, with ce on the way there" 128 ping_marked left 5 $each
	wire_writes left ect1
	expect_output "pings answered, with ect1 on the way there" 64 ping_marked left 5 0xb8 0xba
	wire_writes_nothing
}

# expect_copied CHILD: by what it copies, what the wire shows and what comes out. Linux does not
# show congestion inside (0xbb) outside.
expect_copied() {
	local child=$1 outside kernel inside there back
	case $child in
	*-out*)
		outside=$each kernel="0xb8 0xb9 0xba 0xba"
		there="$each $each $each $each 0xb9 0xba 0xbb 0xb8 0xb8 0xbb 0xbb 0xbb 0xb8 0xba"
		back="$each $each 0xb8 0xb9 0xb9 0xbb $each 0xbb 0xbb 0xbb 0xb8 0xbb 0xbb 0xbb 0xb8 0xba"
		;;
	*-yes*)
		outside=$each kernel="0xb8 0xb9 0xba 0xba"
		there="$each $each $each $each 0xb9 0xba 0xbb 0xb8 0x20 0x23 0x23 0x23 0x20 0x22"
		back="$each $cs1 0x20 0x21 0x21 0x23 $cs1 0x23 0x23 0x23 0x20 0x23 0x23 0x23 0x20 0x22"
		;;
	*-in*)
		outside="0x0 0x1 0x2 0x3" kernel="0x0 0x1 0x2 0x2"
		there="$none $none $none $none 0x1 0x2 0x3 0x0 0x20 0x23 0x23 0x23 0x20 0x22"
		back="$none $cs1 0x20 0x21 0x21 0x23 $cs1 0x23 0x23 0x23 0x0 0x3 0x3 0x3 0x0 0x2"
		;;
	*-no*)
		outside="0x0 0x0 0x0 0x0" kernel=$outside
		there="$each $each $each $each 0xb9 0xba 0xbb 0xb8 $each 0xb8 0xba"
		back="$there"
		;;
	esac
	expect_output "$child: left's TOS on the wire" "$outside $outside $outside $outside" wire_tos left "$child"
	expect_output "$child: right's TOS on the wire" "$kernel $kernel $kernel $kernel" wire_tos right "$child"
	for inside in 4 6; do
		expect_output "$child: TOS of IPv$inside that comes out on the right" "$there" \
			lan_tos right "$child" "$inside"
		expect_output "$child: TOS of IPv$inside that comes out on the left" "$back" \
			lan_tos left "$child" "$inside"
	done
	[ "${child: -1}" = 6 ] || expect_df "$child"
}
none="0x0 0x1 0x2 0x3" cs1="0x20 0x21 0x22 0x23"

# Two pings have DF, no answer of IPv4 has. IPv6 is not to be cut, either; but no link may refuse
# what is short, so that DF would lose it where Cygnet lets it be cut (RFC 4213, 3.2.2).
expect_df() {
	local two="DF DF none none" all="DF DF DF DF" not="none none none none"
	if [[ $1 = *-no* ]]; then two=$not all=$not; fi
	expect_output "$1: left's DF on the wire" "$two $two $not $two" wire_headers left "$1" flags
	expect_output "$1: right's DF on the wire" "$not $all $two $all" wire_headers right "$1" flags
}

# The outside says nothing, what is written there does not get inside, and packets up to
# 800 bytes have one length: 20, 8 and 8 bytes of headers, 800, 4 of trailer, 16 of ICV.
hidden() {
	begin left hidden
	wire_writes right ce
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
	expect_output "pings answered" 4 frames lan "$answers"
	for side in left right; do
		expect_output "lengths from $side other than the MTU" 0 \
			frames wire "esp and src ${wan_addr[$side]} and ip[2:2] != 1500"
	done
}

from_left='esp and src 192.168.0.1' answers='icmp[0] = 0'

# begin SIDE CHILD, finish CHILD: with the tunnel up, which SIDE initiates, and nothing else; the
# wire and the left LAN captured.
begin() {
	local name
	for name in over4 over6; do
		quiet "$work/left/terminate.out" swanctl_on left --terminate --ike "$name" --timeout "$(scaled 20)" || true
	done
	expect_empty
	expect "$2 comes up from $1" tunnel_up "$1" "$2"
	start_capture wire wire br0
	start_capture lan left eth0
}

finish() {
	wire_writes_nothing
	stop_capture lan wire
	expect_ciphertext
	expect "$1 goes down" quiet "$work/left/terminate.out" swanctl_on left --terminate --ike "$1" --timeout "$(scaled 20)"
	expect_empty
}

ike_up() { quiet "$work/$1/initiate.out" swanctl_on "$1" --initiate --ike "$2" --timeout "$(scaled 20)"; }

# number_of CHILD: of its hosts' addresses, net_of SIDE FAMILY: what these begin with.
number_of() {
	local number=21 child
	for child in {esp,ah}-{out,yes,in,no}4 {esp,ah}-{out,yes,in,no}6; do
		[ "$child" != "$1" ] || echo "$number"
		number=$((number + 1))
	done
}
net_of() { if [ "$2" = 6 ]; then echo "${lan6_net[$1]}::"; else echo "${lan_net[$1]}."; fi; }

# Beside the hosts that there are; charon adds no routes for nets in which the gateway has no address.
add_hosts() {
	local side number to
	for side in left right; do
		to=$(other "$side")
		on_gateway "$side" "/sbin/ip route add ${lan_net[$to]}.0/24 via ${wan_addr[$to]}
			/sbin/ip route add ${lan6_net[$to]}::/64 via ${wan6_addr[$to]}"
		for number in {21..36}; do
			echo "address add $(net_of "$side" 4)$number/24 dev eth0"
			echo "address add $(net_of "$side" 6)$number/64 dev eth0 nodad"
		done > "$work/addresses"
		ip -n "$net_prefix-$side" -batch "$work/addresses"
	done
}

# ping_marked SIDE PATIENCE TOS...: through each child, by both families; how many are answered.
ping_marked() {
	local side=$1 patience=$2 number family
	for number in {21..36}; do
		for family in 4 6; do
			echo "$(net_of "$side" "$family")$number $(net_of "$(other "$side")" "$family")$number ${*:3}"
		done
	done | in_ns "$side" "$lib/marked" "$patience"
}

# wire_writes SIDE MARK: into the outer IP headers of what comes from there.
wire_writes() {
	wire_writes_nothing
	in_ns wire nft "table bridge wire { chain marks { type filter hook prerouting priority 0;
		iifname \"$1\" ip protocol { esp, ah } ip dscp set cs1 ip ecn set $2;
		iifname \"$1\" ip6 nexthdr { esp, ah } ip6 dscp set cs1 ip6 ecn set $2; }; }"
}

wire_writes_nothing() { in_ns wire nft "table bridge wire {}; delete table bridge wire"; }

# ping_tos TOS..., ping_with OPTION...: a ping each from the left host, answered or not.
ping_tos() {
	local value
	for value in "$@"; do ping_with -Q "$value"; done
}

ping_sizes() {
	local size
	for size in 10 300 772 1200; do ping_with -M do -s "$size"; done
}

ping_with() {
	in_ns left ping -q -c 1 -W $(scaled 5) "$@" "${host_addr[right]}" > "$work/ping.out" 2>&1 || true
}

# headers NAME FILTER FIELD: of each frame, in order; FIELD is tos, flags or length. tcpdump does
# not say that a traffic class is 0.
headers() {
	tcpdump -n -t -v -r "$work/$1.pcap" "$2" 2> /dev/null |
		sed -n "s/^IP (.*\b$3 \[\?\([0-9a-zA-Z]*\).*/\1/p
			s/^IP6 (class 0x0/IP6 (class 0x/; s/^IP6 (class \([0-9a-fx]*\),.*/\1/p; t; s/^IP6 (.*/0x0/p" | paste -s -d ' '
}

tos() { headers "$1" "$2" tos; }

# wire_headers SIDE CHILD FIELD: of the packets that the wire wrote nothing into: 4 pings from the
# left by IPv4 and by IPv6, then 4 from the right. wire_tos SIDE CHILD.
wire_headers() {
	local proto=50 at=0 ip=ip header=20
	[[ $2 != ah-* ]] || proto=51 at=4
	[ "${2: -1}" = 4 ] || ip=ip6 header=40
	headers wire "$ip proto $proto and $ip[$((header + at)):4] = 0x$(spi_of "$2" "$1")" "$3" | cut -d ' ' -f -16
}
wire_tos() { wire_headers "$1" "$2" tos; }

# spi_of CHILD SIDE: of the SA by which that sends, as the left's charon says.
spi_of() {
	local direction=out
	[ "$2" = left ] || direction=in
	swanctl_on left --list-sas --child "$1" | awk -v "direction=$direction" '$1 == direction { sub(",", "", $2); print $2 }'
}

# lan_tos SIDE CHILD FAMILY: of what has come to the host by a child after the left's ping.
lan_tos() {
	local number what
	number=$(number_of "$2")
	if [ "$1 $3" = "right 4" ]; then what='icmp[0] = 8'
	elif [ "$1 $3" = "right 6" ]; then what='ip6[40] = 128'
	elif [ "$3" = 4 ]; then what='icmp[0] = 0'
	else what='ip6[40] = 129'
	fi
	tos "$1" "$what and dst $(net_of "$1" "$3")$number"
}

# lengths SIDE: how many packets it has sent of each.
lengths() {
	headers wire "esp and src ${wan_addr[$1]}" length | tr ' ' '\n' | sort -n | uniq -c |
		awk '{ print $1 " of " $2 }' | paste -s -d , | sed 's/,/, /g'
}
