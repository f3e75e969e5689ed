# SPDX-License-Identifier: GPL-2.0-or-later
# Packet captures, and checks that they contain no plaintext. Sourced.

# What a gateway may send on the wire: ARP, ESP, IKE (RFC 7296, 3.1), and both in UDP
# port 4500 (RFC 3948), with keepalives. The port alone would also let plaintext pass, so the filter
# checks version and length of IKE, and that ESP has an SPI that is not reserved and a sequence number
# below a million (RFC 4303, 2.1, 2.2). @[N] stands for the byte N behind the IP header, because
# tcpdump has no such expression for IPv6.
ike='(@[25] = 0x20 or @[25] = 0x10) and @[32:4] = @[4:2] - 8'
ike_in_natt='@[8:4] = 0 and (@[29] = 0x20 or @[29] = 0x10) and @[36:4] = @[4:2] - 12'
esp='@[0:4] > 255 and @[4:4] < 1000000'
esp_in_natt='@[8:4] > 255 and @[12:4] < 1000000'
keepalive='@[4:2] = 9 and @[8] = 0xff'
allowed="(esp and $esp) or (udp port 500 and $ike)
	or (udp port 4500 and (($esp_in_natt) or ($ike_in_natt) or ($keepalive)))"
allowed_on_wire="arp or ${allowed//@[/ip[20 + }"

# The same for IPv6, with neighbour discovery (hop limit 255, so that it is from the link itself) and
# multicast listener reports.
allowed6_on_wire="${allowed//@[/ip6[40 + }
	or (ip6[6] = 58 and ip6[7] = 255 and ip6[40] >= 133 and ip6[40] <= 136)
	or (ip6[6] = 0 and ip6[7] = 1 and ip6[40] = 58 and ip6[48] = 143)"

# The three shapes of protected packets: ESP, ESP in UDP (with SPI 0 it would be IKE), AH.
declare -A shape=([esp]=esp [ah]=ah
	[udp]="(udp port 4500 and ((${esp_in_natt//@[/ip[20 + }) or (${esp_in_natt//@[/ip6[40 + })))")

# Addresses of hosts, which no header on the wire may show.
inside_net='ip and net 10.0.0.0/8'

# Filters that a scenario may set: plaintext that its policies allow, and packets that are authenticated
# but not encrypted, so that the pattern of pings is visible in them. Default: none.
plaintext_on_wire='less 0'
readable_on_wire='less 0'

# start_capture NAME NAMESPACE DEVICE [OPTION...]: with options of tcpdump, which receives each packet at once.
# start_long_capture: tcpdump receives packets once a second, and so keeps up with TCP.
start_capture() { start_long_capture "$@" --immediate-mode; }

start_long_capture() {
	local log=$work/$1.tcpdump
	spawn "capture-$1" "$log" ip netns exec "$net_prefix-$2" \
		tcpdump -Z root -n -U -B 16384 -s 2048 -i "$3" -w "$work/$1.pcap" "${@:4}"
	wait_for 60 grep -q 'listening on' "$log" || die "tcpdump does not start: $(cat "$log")"
}

# stop_capture NAME...: first wait until tcpdump sleeps, for then it has processed all packets.
stop_capture() {
	local name
	for name in "$@"; do
		wait_for 30 sleeps_or_gone "capture-$name" || true
		reap "capture-$name" INT || true
	done
}

sleeps_or_gone() { gone "$1" || grep -qs '^State:.*sleeping' "/proc/${pids[$1]}/status"; }

# frames NAME [FILTER...]: print the number of frames that match, or nothing if tcpdump refuses the filter,
# so that an error does not read as 0 frames.
frames() {
	local name=$1
	shift
	tcpdump -n --count -r "$work/$name.pcap" "$@" 2> /dev/null | sed -n 's/^\([0-9]*\) packets\?$/\1/p'
}

# no_frames WHAT NAME FILTER: check that no frame matches; otherwise print those that do.
no_frames() {
	local bad
	bad=$(frames "$2" "$3")
	[ "$bad" != 0 ] || return 0
	say "${bad:-unknown} frames $1:"
	tcpdump -n -c 10 -r "$work/$2.pcap" "$3" 2>&1
	return 1
}

# The payload of pings (traffic.sh): a frame of a capture that contains it is plaintext.
has_pattern() { grep -qaF "$plaintext" "$work/$1.pcap"; }

# no_plaintext NAME: the capture has only ESP, IKE and what the scenario allows, and the pattern is in
# no frame.
no_plaintext() {
	local rest="not ($plaintext_on_wire)"
	no_frames "are neither ESP, IKE nor ARP" "$1" "not ($allowed_on_wire) and $rest" || return
	no_frames "have an address of a host" "$1" "($inside_net) and $rest" || return
	quiet "$work/tcpdump.out" tcpdump -r "$work/$1.pcap" -w "$work/secret.pcap" \
		"$rest and not ($readable_on_wire)" || return
	! has_pattern secret || { say "the plaintext pattern is on the wire"; return 1; }
}

# only_ciphertext NAME: as no_plaintext, and there is ESP at all.
only_ciphertext() {
	no_plaintext "$1" || return
	[ "$(frames "$1" "${shape[esp]} or ${shape[udp]}")" -gt 0 ] || { say "no ESP on the wire"; return 1; }
}
