# SPDX-License-Identifier: GPL-2.0-or-later
# AH with Debian's kernel on the right: networks of both families through tunnels over
# IPv4 and IPv6, and the gateways themselves in transport mode, with and without ESN. Left and
# right initiate in turn. (All algorithms: kernel-algorithms.) Then proposals for ESP and for AH: they
# are alternatives, and charon negotiates one of them, never ESP inside AH.
right=kernel
shapes="ah esp" allowed_on_wire+=" or ah" readable_on_wire=ah

steps() {
	add_ipv6
	tunnel left tunnel hmac-sha256 16 4
	tunnel right tunnel-esn hmac-sha512 32 4 6
	tunnel left tunnel6 hmac-sha384 24 4 6
	hosts right hosts hmac-sha1 12 4
	hosts left hosts-esn aes-xcbc 12 4
	hosts right hosts6 hmac-md5 12 6
	add_route right
	one_of_two either ah
	one_of_two no-ah esp
}

# one_of_two CHILD PROTOCOL: a CHILD_SA with proposals for both protocols has SAs of this one only.
one_of_two() {
	expect "$1 comes up from left" tunnel_up left "$1"
	expect_output "SAs" "$2 $2" sad left 'map(select(.state == "live").proto) | join(" ")'
	expect_output "protocols in the kernel" "$2 $2" kernel_protocols
	expect_pings
	child_down left "$1"
}

kernel_protocols() { guest_xfrm right state | awk '$1 == "proto" { print $2 }' | paste -s -d ' '; }

# tunnel SIDE CHILD AUTH ICV FAMILY...: test a CHILD_SA in tunnel mode, for inner packets of these families
tunnel() {
	child_up "${@:1:4}" tunnel
	expect_pings_between "${@:5}"
	expect "TCP flows in IPv${!#}" tcp_flows "${!#}"
	child_down "$1" "$2"
}

# hosts SIDE CHILD AUTH ICV FAMILY: test a CHILD_SA in transport mode between the gateways
hosts() {
	local side size payload=$((4 * (3 + 1000) + 8 * 8))
	child_up "${@:1:4}" transport
	expect_sas
	for side in left right; do
		for size in 3 1000; do
			expect "$side is answered, $size bytes" ping_gateway "$side" "$5" "$size"
		done
	done
	wait_for 30 all_arrived 8 || true
	expect_counted 8 "$payload" # as in Linux, bytes do not include the IP header
	child_down "$1" "$2"
}

# child_up SIDE CHILD AUTH ICV MODE
child_up() {
	expect "$2 comes up from $1" tunnel_up "$1" "$2"
	expect_output "SAs" "2 2" sas_of "$5"
	expect_output "algorithm in cygnetd" "null 0 $3 $4" algorithms
	[[ $2 != *esn && $2 != hosts6 ]] || expect_output "SAs with ESN" "2 2" esn
}

algorithms() { cygnet_algorithms left | cut -d ' ' -f 3- | sort -u; }

# sas_of MODE: print the number of AH SAs in cygnetd and in the kernel.
sas_of() {
	echo "$(sad left "map(select(.proto == \"ah\" and .mode == \"$1\")) | length")" \
		"$(guest_xfrm right state | grep -c "proto ah .* mode $1")"
}

esn() {
	echo "$(sad left 'map(select(.esn)) | length')" "$(guest_xfrm right state | grep -c 'flag.* esn')"
}

child_down() {
	expect "$2 goes down from $1" tunnel_down "$1" "$2"
	expect_empty
}

# ping_gateway SIDE FAMILY BYTES: ping the other gateway from this one. ping exits before an answer that a busy machine
# delays, so all_arrived checks the counters.
ping_gateway() {
	local to
	to=$(other "$1")
	if [ "$2" = 6 ]; then to=${wan6_addr[$to]}; else to=${wan_addr[$to]}; fi
	on_gateway "$1" "/bin/ping -q -c 2 -i 0.02 -W $(scaled 5) -s $3 $to" > "$work/ping.out"
}
