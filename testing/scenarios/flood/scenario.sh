# SPDX-License-Identifier: GPL-2.0-or-later
# CHILD_SA and IKE_SA are rekeyed from both sides while the left gateway is flooded with IKE_SA_INIT and fragments
# from unknown addresses, ARP, and ESP for unknown SPIs. Policing drops most of the frames for the kernel.
auth=cert conf=net2net-cert
may_drop[left]="bad-spi policed-ike policed-arp policed-fragments reassembly"

steps() {
	local side reason
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	police_little
	spawn flood "$work/flood.out" ip netns exec "$net_prefix-wire" "$lib/flood" br0 "$(wan_mac_of left)" "${wan_addr[left]}"
	expect "the flood is policed" wait_for 30 dropped_for left policed-ike 200
	for side in left right; do
		expect_rekey "$side"
		expect_rekey "$side" rekey_ike
	done
	expect "hosts reach each other through the flood" wait_for 30 reaches left
	expect "the flood goes on" alive flood
	reap flood || true
	for reason in policed-arp policed-fragments bad-spi; do
		expect "$reason has been counted" dropped_for left "$reason" 200
	done
	expect_pings
}

# Set low rates, so that the flood exceeds them on a slow machine, too.
police_little() {
	mkdir "$work/left/cygnetd.conf.d"
	printf '%s\n' "[cygnetd]" police_ike=50 police_arp=50 police_fragments=50 > "$work/left/cygnetd.conf.d/little.conf"
	kill -HUP "${pids[cygnetd-left]}"
	expect "the rates apply" wait_for 30 grep -q 'cygnetd.conf: reloaded' "$work/left/cygnetd.log"
}

wan_mac_of() { ctl "$1" --json show ports | jq -r '.[] | select(.name == "wan") | .mac'; }
