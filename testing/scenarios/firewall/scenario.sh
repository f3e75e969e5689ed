# SPDX-License-Identifier: GPL-2.0-or-later
# The left gateway's kernel has rp_filter, and a firewall that drops everything but IKE. The updown script adds rules
# that accept decrypted packets: to the gateway's inner address, and to a host behind an interface that is no port of
# cygnetd. Plaintext with the same addresses is dropped, with and without the tunnel, and so are frames with the
# source MAC address of decrypted packets.
charon_plugins+=" updown"
# Before the bridge has learned the left's address it floods frames to both gateways.
may_drop=([left]="policy-plaintext forged-source" [right]=not-ours)
plaintext_on_wire="ip src 10.2.0.10 and ip dst 10.1.0.1 and udp dst port 7777"
decrypted=02:43:59:47:4e:54 # TAP_DECRYPTED_MAC
behind=10.1.0.200

# Use the updown script of the installed build.
conf_of() {
	local own=$scenario/$1.conf
	[ -f "$own" ] || { echo "$top/testing/scenarios/$conf/$1.conf"; return; }
	sed "s|/usr/libexec|$root/libexec|" "$own" > "$work/$1.swanctl.conf"
	echo "$work/$1.swanctl.conf"
}

steps() {
	close_left
	expect_refused "a tunnel"
	expect "the tunnel comes up" tunnel_up left
	expect "the updown script has added 4 rules" wait_for 30 has_rules 4
	in_ns gw-left sysctl -q -w net.ipv4.conf.wan.rp_filter=1
	expect_tunnel
	expect "a host reaches the gateway's inner address" answers right 10.1.0.1
	expect "a host reaches one behind the kernel" answers right "$behind"
	expect "the one behind the kernel reaches a host" answers behind "${host_addr[right]}"
	expect "the gateway reaches a host" answers gw-left "${host_addr[right]}" -I 10.1.0.1
	expect_dropped policy-plaintext 02:00:00:00:00:07
	expect_dropped forged-source "$decrypted"
	in_ns gw-left sysctl -q -w net.ipv4.conf.wan.rp_filter=0
	expect "the tunnel goes down" tunnel_down left
	expect "the updown script has removed them" wait_for 30 has_rules 0
	expect_refused "a tunnel any more"
	expect_dropped forged-source "$decrypted"
}

# Add a host on an interface of the kernel, and the firewall.
close_left() {
	add_ns behind
	add_veth gw-left other behind eth0
	add_address behind eth0 "$behind/32"
	ip -n "$net_prefix-behind" route add default dev eth0
	ip -n "$net_prefix-gw-left" route add "$behind/32" dev other
	in_ns gw-left sysctl -q -w net.ipv4.conf.other.proxy_arp=1
	in_ns gw-left iptables-restore <<-END
		*filter
		:INPUT DROP
		:FORWARD DROP
		:OUTPUT DROP
		-A INPUT -i wan -p udp --dport 500 -j ACCEPT
		-A INPUT -p udp --dport 7777 -m comment --comment refused
		-A OUTPUT -o wan -p udp --sport 500 -j ACCEPT
		COMMIT
	END
}

has_rules() { [ "$(in_ns gw-left iptables -S | grep -c '10\.2\.0\.0/24')" = "$1" ]; }

answers() { in_ns "$1" ping -n -q -c 3 -i 0.05 -W "$(scaled 5)" "${@:3}" "$2" > /dev/null; }

# plain FROM: send a datagram in plaintext to the inner address on the wire, with FROM as its source MAC address.
plain() {
	in_ns wire /usr/bin/python3 -c 'import sys
from scapy.all import IP, UDP, Ether, sendp
sendp(Ether(src=sys.argv[1], dst=sys.argv[2]) / IP(src="10.2.0.10", dst="10.1.0.1") / UDP(sport=7777, dport=7777) / b"plain",
	iface="br0", verbose=False)' "$1" "$(in_ns gw-left cat /sys/class/net/wan/address)"
}

# expect_dropped REASON FROM: cygnetd drops such a datagram for this reason.
expect_dropped() {
	local before
	before=$(drops left "$1")
	plain "$2"
	expect "plaintext from $2 is dropped: $1" wait_for 30 dropped_for left "$1" $((before + 1))
}

# expect_refused WHAT: while there is no WHAT, plaintext is dropped by the firewall: it reaches the counting last rule.
expect_refused() {
	local before
	before=$(refused)
	plain 02:00:00:00:00:07
	expect "the firewall drops plaintext without $1" wait_for 30 refused_more_than "$before"
}

refused() { in_ns gw-left iptables -L INPUT -v -x -n | awk '/refused/ { print $1 }'; }
refused_more_than() { [ "$(refused)" -gt "$1" ]; }
