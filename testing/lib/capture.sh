# SPDX-License-Identifier: GPL-2.0-or-later
# Captures, and what may not be in them. Sourced.

# What a gateway may send on the wire: ESP, IKE and ESP in UDP, ARP.
allowed_on_wire='arp or esp or udp port 500 or udp port 4500'

# start_capture NAME NAMESPACE DEVICE
start_capture() {
	local log=$work/$1.tcpdump
	spawn "capture-$1" "$log" ip netns exec "$net_prefix-$2" \
		tcpdump -Z root -n -U -B 16384 -s 0 -i "$3" -w "$work/$1.pcap"
	wait_for 10 grep -q 'listening on' "$log" || die "tcpdump does not start: $(cat "$log")"
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
	! has_pattern "$1" || { say "the plaintext pattern is on the wire"; return 1; }
	[ "$(frames "$1" 'esp or udp port 4500')" -gt 0 ] || { say "no ESP on the wire"; return 1; }
}
