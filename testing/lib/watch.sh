# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of every scenario, whatever its steps: all wires are captured from before the first packet to the end. Then
# there must be no plaintext in the captures, and cygnetd's counters must agree with them. Sourced by scenario.

# Settings of a scenario. shapes: the shapes of protected packets (capture.sh) that its wires must show; no other may be
# there. may_drop: by side, the reasons for which packets may be dropped: cygnetd's, or those of a kernel in
# /proc/net/xfrm_stat.
shapes=esp
declare -A may_drop=()

declare -A drops_seen=() encapsulated=() decapsulated=() dropped=() port_received=() wan_mac=()

segments() {
	local side
	for side in $sides; do echo "${segment[$side]}"; done | sort -u
}

# The first 256 bytes of a frame are enough: headers, and the pattern if it is in plaintext.
start_watch() {
	local name
	for name in $(segments); do
		start_long_capture "watch-$name" "$name" br0 -s 256 -B 65536
	done
}

stop_watch() {
	local name
	for name in $(segments); do set -- "$@" "watch-$name"; done
	sleep 1.1
	stop_capture "$@"
}

# expect_drops SIDE: packets were dropped only for the reasons in may_drop.
expect_drops() {
	expect_output "drops on the $1 beside ${may_drop[$1]:-none}" "" unnamed_drops "$1"
	drops_seen[$1]=yes
}

unnamed_drops() {
	local reason packets
	all_drops "$1" | while read -r reason packets; do
		[[ $packets = 0 || " ${may_drop[$1]:-} " == *" $reason "* ]] || echo "$packets $reason"
	done
}

# all_drops SIDE: print a line of reason and number of packets for each reason
all_drops() {
	case ${!1} in
	cygnet) ctl "$1" --json show drops | jq -r '.[] | "\(.reason) \(.packets)"' ;;
	kernel) guest_do "$1" 'cat /proc/net/xfrm_stat' ;;
	esac
}

# The checks at the end of a scenario.
expect_watched() {
	local side
	expect "counters have been compared with what was sent" test -n "$compared"
	for side in $sides; do
		case ${!side} in
		cygnet) note_stats "$side" ;;
		kernel) expect_drops "$side" ;;
		libipsec) drops_seen[$side]="it does not count them" ;;
		esac
		expect "drops on the $side have been looked at" test -n "${drops_seen[$side]:-}"
	done
	stop_watch
	for side in $(segments); do
		expect_wire "$side"
	done
	for side in $sides; do
		expect_side "$side"
	done
	watched
}

# A scenario may replace this function by further checks of the finished captures.
watched() { :; }

# note_stats SIDE: check the drops of a running cygnetd and store its counters. A scenario that ends cygnetd calls
# expect_drops before.
note_stats() {
	alive "cygnetd-$1" || return 0
	expect_drops "$1"
	expect_engine "$1"
	read -r "encapsulated[$1]" "decapsulated[$1]" "dropped[$1]" < <(ctl "$1" --json show stats |
		jq -r '[map(.encapsulated), map(.decapsulated + .dummies), map(.dropped) | add] | join(" ")')
	# Frames of a VLAN are counted at the VLAN.
	read -r "wan_mac[$1]" "port_received[$1]" < <(ctl "$1" --json show ports |
		jq -r 'map(select(.name == "wan" or .on == "wan")) | "\(.[0].mac) \(map(.rx_packets) | add)"')
}

# expect_wire SEGMENT: check the capture of a segment
expect_wire() {
	local capture=watch-$1 name
	expect "the capture of $1 is complete" grep -q '^0 packets dropped by kernel' "$work/$capture.tcpdump"
	expect_always "no plaintext on $1, at any time" no_plaintext "$capture"
	for name in "${!shape[@]}"; do
		if [[ " $shapes " == *" $name "* ]]; then
			expect "${name^^} on $1" seen "$capture" "${shape[$name]}"
		else
			expect_output "frames of ${name^^} on $1" 0 frames "$capture" "${shape[$name]}"
		fi
	done
	expect_always "no sequence number twice on $1" \
		quiet "$work/sequence.out" "$lib/esp-sequence" "$work/$capture.pcap"
}

# seen CAPTURE FILTER: whether a frame matches
seen() { [ "$(frames "$@")" -gt 0 ]; }

# frames_of SIDE FILTER: print the number of matching frames on its wire; MAC in FILTER stands for its port's address.
# Of a fragmented packet only the first fragment counts.
frames_of() {
	frames "watch-${segment[$1]}" "(${2//MAC/${wan_mac[$1]}}) and not (ip[6:2] & 0x1fff != 0 or
		(ip6[6] = 44 and ip6[42:2] & 0xfff8 != 0))"
}

# expect_side SIDE: cygnetd has counted no more packets than were on the wire and, if it was started only once, all that
# its port received. (A ring of the kernel may have been full.)
expect_side() {
	local any="(${shape[esp]} or ${shape[udp]} or ${shape[ah]})" sent received missed
	[ -n "${encapsulated[$1]:-}" ] || return 0
	sent=$(frames_of "$1" "ether src MAC and $any")
	received=$(frames_of "$1" "ether dst MAC and $any")
	missed=$(frames "watch-${segment[$1]}" \
		"ether dst ${wan_mac[$1]} or ether multicast and not ether src ${wan_mac[$1]}")
	missed=$((missed - port_received[$1]))
	say "$1: $sent sent, $received to it; counted ${encapsulated[$1]} and ${decapsulated[$1]}, missed $missed"
	expect "$1 has both sent and received" test "$((sent > 0 && received > 0))" = 1
	expect_at_most "counted as sent on the $1" "${encapsulated[$1]}" "$((sent + dropped[$1]))"
	expect_at_most "counted as received on the $1" "${decapsulated[$1]}" "$received"
	[ "${cygnetd_starts[$1]}" -eq 1 ] || return 0
	expect_at_most "sent and not counted on the $1" "$((sent - encapsulated[$1]))" 0
	expect_at_most "received and not counted on the $1" \
		"$((received - decapsulated[$1] - dropped[$1]))" "$missed"
}

expect_at_most() { expect "$1: $2, at most $3" test "$2" -le "$3"; }
