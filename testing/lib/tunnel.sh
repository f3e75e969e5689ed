# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that every tunnel must pass. Sourced by scenario.

# Send pings with the pattern from both sides: none is lost, and charon and the dataplane of each side agree about the
# SAs.
expect_answered() {
	expect_sas
	note_counters
	start_pings left left "$pings" 0.01
	start_pings right right "$pings" 0.01
	expect_output "pings from left lost" 0 end_pings left
	expect_output "pings from right lost" 0 end_pings right
}

# The same, and the counters are those of the pings alone.
expect_pings() {
	expect_answered
	expect_counted $((2 * pings)) $((2 * pings * ping_bytes))
}

# Pings and TCP pass the tunnel in both directions and are counted. (watch.sh checks that they are encrypted.)
expect_tunnel() {
	start_capture lan left eth0 -c 10 icmp
	expect_pings
	expect "a host's pings are captured" reap_after capture-lan 30
	expect "TCP flows" tcp_flows
	expect "hosts send the pattern in plaintext" has_pattern lan
}

# add_route SIDE: add a route to the other side's hosts, also for packets that no policy selects.
add_route() {
	on_gateway "$1" "ip route add ${lan_net[$(other "$1")]}.0/24 via ${wan_addr[$(other "$1")]}"
}

# expect_silence REASON SIDE...: pings of the host, for which there is a route, are dropped for this reason. (If one
# left in plaintext, watch.sh would find it on the wire.)
expect_silence() {
	local side before
	for side in "${@:2}"; do
		before=$(drops "$side" "$1")
		in_ns "$side" ping -n -q -c 3 -i 0.05 -W 0.2 "${host_addr[$(other "$side")]}" > /dev/null || true
		expect "pings from $side are dropped: $1" wait_for 30 dropped_for "$side" "$1" $((before + 3))
	done
}

dropped_for() { [ "$(drops "$1" "$2")" -ge "$3" ]; }

# expect_rekey SIDE [rekey [CHILD] | rekey_ike [OPTION]]: rekey from SIDE, and wait until left has a newer CHILD_SA, or
# IKE_SA.
expect_rekey() {
	local id=(child_id left "${@:3}") before
	[ "${2:-rekey}" = rekey ] || id=(ike_id left)
	before=$("${id[@]}")
	expect "${2:-rekey} from $1" "${2:-rekey}" "$1" "${@:3}"
	expect "there is another one" wait_for 60 newer_than "${before:-none}" "${id[@]}"
}

newer_than() {
	local id
	id=$("${@:2}")
	[ "${id:-0}" -gt "$1" ]
}

# cut_wire, mend_wire: have the bridge between the gateways drop all frames, and pass them again. Frames that a gateway
# sends are captured before they are dropped.
cut_wire() {
	in_ns wire nft "table bridge cut { chain forward { type filter hook forward priority 0; policy drop; }; }"
}

mend_wire() { in_ns wire nft "delete table bridge cut"; }

# only_newest: whether only the newest SAs of "net" are left.
only_newest() { [ "$(sad left length) $(spd left length)" = "2 3" ]; }

# Check the capture of the wire, and end it if it still runs: only ESP and IKE, no sequence number twice.
expect_ciphertext() {
	! alive capture-wire || stop_capture wire
	expect_always "only ciphertext on the wire" only_ciphertext wire
	expect_always "no ESP sequence number twice" "$lib/esp-sequence" "$work/wire.pcap"
}

# expect_outage NAME SECONDS: the longest outage of pings that have ended (traffic.sh) was no longer than that.
expect_outage() {
	local ms most
	most=$(scaled "$2")
	ms=$(sed -n 's/^longest outage: \([0-9]*\)\.\([0-9]*\) s$/\1\2/p' "$work/pings-$1.out")
	expect "the longest time without an answer: $((10#${ms:-0})) ms, at most $most s" \
		test "$((10#${ms:-0}))" -le "$((1000 * most))"
}

# expect_none_lost NAME: the pings of start_pings still run; end them, and check that all were answered.
expect_none_lost() {
	expect "the hosts have been talking all the time" alive "pings-$1"
	reap "pings-$1" INT || true
	expect_output "pings of $1 lost" 0 lost < "$work/pings-$1.out"
}

pings=30 ping_bytes=228 ping6_bytes=248 # number of pings; bytes of one with IP and ICMP headers
lost_of() { { pings "$1" "$pings" 0.01 || true; } | lost; }

# tcp_flows [FAMILY]: a TCP stream from the left host to the right one ends.
tcp_flows() {
	local rate
	rate=$(throughput left "-n 4M" "$(host_of right "${1:-4}")") || return
	say "TCP: $rate Mbit/s"
	[ "${rate%.*}" -gt 0 ]
}

# expect_engine SIDE: devices of the scenario's engine have processed packets.
expect_engine() {
	expect "engine $engine carried $1's packets" test "$(engine_packets "$1" "$engine")" -gt 0
}
