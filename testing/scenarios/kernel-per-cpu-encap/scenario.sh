# SPDX-License-Identifier: GPL-2.0-or-later
# As kernel-per-cpu, with ESP in UDP: each SA for one CPU has a source port of its own on the wire, both ways, also when
# it has been rekeyed.
. "$top/testing/scenarios/kernel-per-cpu/scenario.sh"
shapes=udp

watched() {
	local side
	for side in left right; do
		expect "as many source ports of $side's ESP as SAs for one CPU, and one" has_ports "$side"
	done
}

# Two workers of the left, and the kernel's CPU; all rekeyed twice.
has_ports() {
	local -A sas=([left]=6 [right]=3)
	local ports
	ports=$(source_ports "$1" | wc -l)
	say "$1: $ports source ports"
	[ "$ports" -gt "${sas[$1]}" ]
}

source_ports() {
	tcpdump -n -r "$work/watch-wire.pcap" "src ${wan_addr[$1]} and ${shape[udp]}" 2> "$work/tcpdump.out" |
		sed -n "s/.* IP ${wan_addr[$1]}\.\([0-9]*\) > .*/\1/p" | sort -u
}
