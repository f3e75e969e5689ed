# SPDX-License-Identifier: GPL-2.0-or-later
# Fields of the outer header, against Debian's kernel: DSCP, ECN and DF are copied from the inner header as
# configured in charon, in ESP and AH, for all combinations of IPv4 and IPv6. The wire marks congestion (CE)
# and rewrites DSCP in both directions; the decapsulated packet must have the ECN of the table of RFC 6040,
# or, from the kernel, of RFC 3168. Traffic flow confidentiality hides the length of packets shorter than 800
# bytes, then of all packets. Left and right initiate in turn.
right=kernel shapes="esp ah" allowed_on_wire+=" or ah" readable_on_wire=ah
may_drop=([left]=ecn)

steps() {
	copied
	hidden
	padded
}

# A child's name has its copy_dscp of swanctl.conf (out is the default; with no, ECN and DF are not copied
# either) and the family of the outer header.
modes="out yes in no"
children=""
for child in {esp,ah}-{out,yes,in,no}{4,6}; do children+=" $child"; done

# All children are up at the same time, and each step is done with all of them, for inner IPv4 and IPv6.
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

# 0xb8 is DSCP EF; the lowest two bits are ECN. Linux answers a ping with the same TOS.
each="0xb8 0xb9 0xba 0xbb"
pings_as_sent() {
	expect_output "pings from the left" 128 ping_marked left 5 0xb8d 0xb9d 0xba 0xbb
	expect_output "pings from the right" 128 ping_marked right 5 0xb8d 0xb9d 0xba 0xbb
}

# The wire writes DSCP CS1 and each value of ECN into the outer headers of packets from the right, then from the
# left. A packet without ECN inside and CE outside must be dropped (RFC 6040, 4.2): such pings are sent without
# waiting for an answer.
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

# expect_copied CHILD: check TOS on the wire, and behind the tunnel, by what the child copies. Linux does not copy CE
# (0xbb) of the inner header to the outer one.
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

# Two of the pings have DF; answers in IPv4 have none. IPv6 inside counts as DF, except for packets up to 1,280 bytes,
# which every link must carry: Cygnet sends ESP around them without DF (RFC 4213, 3.2.2).
expect_df() {
	local two="DF DF none none" all="DF DF DF DF" not="none none none none"
	if [[ $1 = *-no* ]]; then two=$not all=$not; fi
	expect_output "$1: left's DF on the wire" "$two $two $not $two" wire_headers left "$1" flags
	expect_output "$1: right's DF on the wire" "$not $all $two $all" wire_headers right "$1" flags
}

# Nothing is copied to the outer header or from it, and packets of up to 800 bytes all have the same length: 36 bytes
# of headers (IP, ESP, IV), 800, 4 of trailer, 16 of ICV.
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

# begin SIDE CHILD, finish CHILD: SIDE initiates the child, which is the only one; wire and left LAN are captured until
# finish.
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

# number_of CHILD: print the last number of its hosts' addresses. net_of SIDE FAMILY: print their prefix.
number_of() {
	local number=21 child
	for child in {esp,ah}-{out,yes,in,no}4 {esp,ah}-{out,yes,in,no}6; do
		[ "$child" != "$1" ] || echo "$number"
		number=$((number + 1))
	done
}
net_of() { if [ "$2" = 6 ]; then echo "${lan6_net[$1]}::"; else echo "${lan_net[$1]}."; fi; }

# Add the children's hosts, and routes: charon adds none for networks in which the gateway has no address.
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

# ping_marked SIDE PATIENCE TOS...: send pings with each TOS through each child in both families, and print how many are
# answered.
ping_marked() {
	local side=$1 patience=$2 number family
	for number in {21..36}; do
		for family in 4 6; do
			echo "$(net_of "$side" "$family")$number $(net_of "$(other "$side")" "$family")$number ${*:3}"
		done
	done | in_ns "$side" "$lib/marked" "$patience"
}

# wire_writes SIDE MARK: have the bridge write DSCP CS1 and this ECN into the outer headers of packets from SIDE.
wire_writes() {
	wire_writes_nothing
	in_ns wire nft "table bridge wire { chain marks { type filter hook prerouting priority 0;
		iifname \"$1\" ip protocol { esp, ah } ip dscp set cs1 ip ecn set $2;
		iifname \"$1\" ip6 nexthdr { esp, ah } ip6 dscp set cs1 ip6 ecn set $2; }; }"
}

wire_writes_nothing() { in_ns wire nft "table bridge wire {}; delete table bridge wire"; }

# ping_tos TOS..., ping_with OPTION...: send a ping from the left host, answered or not (ping_tos: one for each TOS).
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

# headers NAME FILTER FIELD: print a field of each frame in order: tos, flags or length. tcpdump omits a traffic class
# of 0.
headers() {
	tcpdump -n -t -v -r "$work/$1.pcap" "$2" 2> /dev/null |
		sed -n "s/^IP (.*\b$3 \[\?\([0-9a-zA-Z]*\).*/\1/p
			s/^IP6 (class 0x0/IP6 (class 0x/; s/^IP6 (class \([0-9a-fx]*\),.*/\1/p; t; s/^IP6 (.*/0x0/p" | paste -s -d ' '
}

tos() { headers "$1" "$2" tos; }

# wire_headers SIDE CHILD FIELD, wire_tos SIDE CHILD: print a field of the first 16 packets, sent before the wire
# rewrote any: for 4 pings from the left in IPv4 and in IPv6, then for those from the right.
wire_headers() {
	local proto=50 at=0 ip=ip header=20
	[[ $2 != ah-* ]] || proto=51 at=4
	[ "${2: -1}" = 4 ] || ip=ip6 header=40
	headers wire "$ip proto $proto and $ip[$((header + at)):4] = 0x$(spi_of "$2" "$1")" "$3" | cut -d ' ' -f -16
}
wire_tos() { wire_headers "$1" "$2" tos; }

# spi_of CHILD SIDE: print the SPI of the SA with which SIDE sends, from the left's charon.
spi_of() {
	local direction=out
	[ "$2" = left ] || direction=in
	swanctl_on left --list-sas --child "$1" | awk -v "direction=$direction" '$1 == direction { sub(",", "", $2); print $2 }'
}

# lan_tos SIDE CHILD FAMILY: print the TOS of packets that the child's host has received: pings from the left on the
# right, and their answers on the left.
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

# lengths SIDE: print how many packets of each length it has sent.
lengths() {
	headers wire "esp and src ${wan_addr[$1]}" length | tr ' ' '\n' | sort -n | uniq -c |
		awk '{ print $1 " of " $2 }' | paste -s -d , | sed 's/,/, /g'
}
