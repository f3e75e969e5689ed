# SPDX-License-Identifier: GPL-2.0-or-later
# A trap of the left for any peer, in transport mode: each destination address needs its own SA. Debian's kernel on the
# right has ten such addresses. Another address does not answer, and the left pings it a hundred times a second.
# Meanwhile the first packets to one peer, then to eight at the same time, are answered; then those to the last one,
# while charon waits for a thousand silent peers, for each of which it has received an acquire. For the address that
# does not answer it receives one acquire a second at most.
right=kernel
may_drop=([left]="no-sa no-sa-in-time")
silent=192.168.0.17 peers=$(echo 192.168.0.{18..27})

steps() {
	local peer since
	# shellcheck disable=SC2086
	set -- $peers
	for peer; do on_gateway right "/sbin/ip address add $peer/32 dev wan"; done
	on_gateway left "ip neigh replace $silent lladdr 02:00:00:00:00:17 dev wan nud permanent
		ip route add 198.18.0.0/16 via $silent"
	since=$SECONDS
	spawn pings-silent "$work/pings-silent.out" ip netns exec "$net_prefix-gw-left" \
		ping -n -q -i 0.01 "$silent"
	expect "charon is asked for the silent peer" wait_for 30 asked_for_peer "$silent"
	expect "packets for it are too many" wait_for 30 dropped_for left no-sa 100
	pings_to "$1" 10 > "$work/pings-beside.out"
	expect_output "pings lost beside it" 0 lost < "$work/pings-beside.out"
	for peer in "${@:2:8}"; do
		patience=30 start_pings "$peer" gw-left 1 0 "$peer"
	done
	for peer in "${@:2:8}"; do
		expect_output "first packet to $peer lost" 0 end_pings "$peer" 60
		expect "charon was asked for $peer" asked_for_peer "$peer"
	done
	thousand_peers
	pings_to "${10}" 10 > "$work/pings-last.out"
	expect_output "pings to the last peer lost" 0 lost < "$work/pings-last.out"
	expect "the silent peer was pinged all the time" alive pings-silent
	expect "charon was asked for it at the most once a second" test \
		"$(grep -c " === $silent/32\[.*with" "$work/left/charon.log")" -le $((SECONDS - since + 2)) # both are whole seconds
	reap pings-silent INT || true
	expect_sas
	note_counters
	pings_to 192.168.0.18 10 > "$work/pings-counted.out"
	expect_output "pings lost" 0 lost < "$work/pings-counted.out"
	expect_counted 10 2080 # bytes without the IP header, as in Linux
}

# Send one datagram to each of a thousand peers at once.
thousand_peers() {
	in_ns gw-left python3 -c 'import socket
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for peer in range(1000):
	sock.sendto(b"first", (f"198.18.{peer // 250}.{1 + peer % 250}", 9))'
	expect "charon is asked for a thousand peers" wait_for 30 asked_for_thousand
}

pings_to() { patience=30 pings gw-left "$2" 0.05 "$1"; }
asked_for_peer() { grep -q "acquire job for policy 192.168.0.1/32\[.*\] === $1/32\[" "$work/left/charon.log"; }
asked_for_thousand() {
	[ "$(grep -o "acquire job for policy .* === 198\.18\.[0-9.]*/32" "$work/left/charon.log" | sort -u | wc -l)" -eq 1000 ]
}
