# SPDX-License-Identifier: GPL-2.0-or-later
# Traffic between the two hosts. Sourced.

plaintext=CYGNETPLAINTEXT.

other() { [ "$1" = left ] && echo right || echo left; }

# Seconds that pings wait for an answer. A scenario in which some are not answered sets fewer.
patience=5

# pings SIDE COUNT INTERVAL [ADDRESS]: ping ADDRESS (the other host) from SIDE, a host or gw-left and so on, and print a
# summary as ping does.
pings() {
	local far
	far=$(other "${1#gw-}")
	in_ns "$1" "$lib/pinger" "${4:-${host_addr[$far]}}" "$2" "$3" "$plaintext" "$patience" "$net_prefix-$far"
}

# lost: read the summary, and print the number of pings without an answer, or "duplicates": duplicate answers
# are an error too.
lost() {
	local line
	line=$(grep 'packets transmitted')
	[[ $line =~ ([0-9]+)\ packets\ transmitted,\ ([0-9]+)\ received ]] || { echo none; return; }
	[[ $line != *duplicates* ]] || { echo duplicates; return; }
	echo $((BASH_REMATCH[1] - BASH_REMATCH[2]))
}

reaches() { in_ns "$1" ping -n -q -c 1 -W 1 "${host_addr[$(other "$1")]}" > /dev/null 2>&1; }

# reaches_from SIDE ADDRESS: whether pings from SIDE, as of pings, are all answered.
reaches_from() { in_ns "$1" ping -n -q -c 3 -i 0.05 -W 2 "$2" > /dev/null; }

# Send one ping, and wait long enough for the negotiation of its tunnel.
first_ping_from() { in_ns "$1" ping -n -q -c 1 -W $(scaled 20) "${host_addr[$(other "$1")]}" > /dev/null 2>&1; }

# udp_from SIDE PORT TO-PORT: send a datagram to the other host.
udp_from() {
	in_ns "$1" python3 -c 'import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", int(sys.argv[2])))
sock.sendto(sys.argv[4].encode(), (sys.argv[1], int(sys.argv[3])))' \
		"${host_addr[$(other "$1")]}" "$2" "$3" "$plaintext"
}

# start_pings NAME SIDE COUNT INTERVAL [ADDRESS]: pings in the background.
# end_pings NAME [SECONDS]: wait for the end, and print how many were lost.
start_pings() {
	local far
	far=$(other "${2#gw-}")
	spawn "pings-$1" "$work/pings-$1.out" ip netns exec "$net_prefix-$2" \
		"$lib/pinger" "${5:-${host_addr[$far]}}" "$3" "$4" "$plaintext" "$patience" "$net_prefix-$far"
}

end_pings() {
	reap_after "pings-$1" "${2:-90}" || true
	lost < "$work/pings-$1.out"
}

# throughput SIDE AMOUNT [ADDRESS]: print the rate of a TCP stream to the other host in Mbit/s. AMOUNT is an option of
# iperf3: "-t 3" for seconds, or "-n 4M" for bytes.
throughput() {
	local to address
	to=$(other "$1")
	address=${3:-${host_addr[$to]}}
	spawn iperf3-server "$work/iperf3-server.out" ip netns exec "$net_prefix-$to" iperf3 -s -1 --forceflush
	wait_for 30 grep -q listening "$work/iperf3-server.out" || return
	in_ns "$1" timeout --foreground "$(scaled 20)" iperf3 -c "$address" $2 -f m \
		> "$work/iperf3.out" 2>&1 || { cat "$work/iperf3.out" >&2; reap iperf3-server; return 1; }
	reap iperf3-server || true
	awk '/receiver/ { print $7 }' "$work/iperf3.out"
}
