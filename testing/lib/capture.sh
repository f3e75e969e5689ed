# SPDX-License-Identifier: GPL-2.0-or-later
# Captures, and what may not be in them. Sourced.

# What a gateway may send on the wire: ARP, ESP, IKE (RFC 7296, 3.1), and both in UDP
# port 4500 (RFC 3948), with keepalives. A port alone says little: IKE has its
# version and its length where they belong, and ESP an SPI that is not reserved and a
# sequence number below a million (RFC 4303, 2.1, 2.2).
# @[N] is N bytes behind the IP header, which tcpdump cannot say of IPv6.
ike='(@[25] = 0x20 or @[25] = 0x10) and @[32:4] = @[4:2] - 8'
ike_in_natt='@[8:4] = 0 and (@[29] = 0x20 or @[29] = 0x10) and @[36:4] = @[4:2] - 12'
esp='@[0:4] > 255 and @[4:4] < 1000000'
esp_in_natt='@[8:4] > 255 and @[12:4] < 1000000'
keepalive='@[4:2] = 9 and @[8] = 0xff'
allowed="(esp and $esp) or (udp port 500 and $ike)
	or (udp port 4500 and (($esp_in_natt) or ($ike_in_natt) or ($keepalive)))"
allowed_on_wire="arp or ${allowed//@[/ip[20 + }"

# The same in IPv6, and what its links need: neighbour discovery, which comes from the
# link itself, and reports of who listens to multicast.
allowed6_on_wire="${allowed//@[/ip6[40 + }
	or (ip6[6] = 58 and ip6[7] = 255 and ip6[40] >= 133 and ip6[40] <= 136)
	or (ip6[6] = 0 and ip6[7] = 1 and ip6[40] = 58 and ip6[48] = 143)"

# Addresses of hosts, which no header on the wire may show.
inside_net='ip and net 10.0.0.0/8'

# start_capture NAME NAMESPACE DEVICE
start_capture() {
	local log=$work/$1.tcpdump
	spawn "capture-$1" "$log" ip netns exec "$net_prefix-$2" \
		tcpdump -Z root -n -U -B 16384 -s 0 -i "$3" -w "$work/$1.pcap"
	wait_for 60 grep -q 'listening on' "$log" || die "tcpdump does not start: $(cat "$log")"
}

# stop_capture NAME...: tcpdump gets packets from the kernel once a second.
stop_capture() {
	local name
	sleep 1.1
	for name in "$@"; do
		reap "capture-$name" INT || true
	done
}

# frames NAME [FILTER...]: how many frames match
frames() {
	local name=$1
	shift
	tcpdump -n -r "$work/$name.pcap" "$@" 2> /dev/null | wc -l
}

# The pattern that pings carry (traffic.sh): found in a capture, it is plaintext.
has_pattern() { grep -qaF "$plaintext" "$work/$1.pcap"; }

# only_ciphertext NAME: nothing but ESP and IKE, with no trace of the pattern;
# and there is ESP at all.
only_ciphertext() {
	local bad
	bad=$(frames "$1" "not ($allowed_on_wire)")
	[ "$bad" -eq 0 ] || {
		say "$bad frames are neither ESP, IKE nor ARP:"
		tcpdump -n -c 10 -r "$work/$1.pcap" "not ($allowed_on_wire)" 2> /dev/null
		return 1
	}
	bad=$(frames "$1" "$inside_net")
	[ "$bad" -eq 0 ] || {
		say "$bad frames have an address of a host:"
		tcpdump -n -c 10 -r "$work/$1.pcap" "$inside_net" 2> /dev/null
		return 1
	}
	! has_pattern "$1" || { say "the plaintext pattern is on the wire"; return 1; }
	[ "$(frames "$1" 'esp or udp port 4500')" -gt 0 ] || { say "no ESP on the wire"; return 1; }
}
