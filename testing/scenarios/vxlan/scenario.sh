# SPDX-License-Identifier: GPL-2.0-or-later
# VXLAN between the kernels of both gateways goes through transport mode ESP: to Cygnet its packets are those of its own
# host. The right is stock strongSwan with the ESP of Debian's kernel. Without the SAs nothing leaves.
right=kernel no_policy=drop
may_drop=([left]=no-policy [right]=)
declare -gA number=([left]=1 [right]=2)

steps() {
	local side
	for side in left right; do expect "a VXLAN device on the $side" add_vxlan "$side"; done
	expect "nothing leaves without the SAs" unanswered
	expect "the tunnel comes up" tunnel_up left
	for side in left right; do expect "small and large packets are answered to the $side" wait_for 30 answered "$side"; done
	for side in left right; do
		expect_rekey "$side"
		expect "and then, to the $side" answered "$side"
	done
	expect "the SAs have carried them" [ "$(sad left 'map(.packets) | add')" -ge 10 ]
	compared=yes
}

# Both ports are the same in the selectors.
add_vxlan() {
	local load=
	[ "$1" = left ] || load="modprobe vxlan &&"
	on_gateway "$1" "$load /sbin/ip link add vx0 type vxlan id 7 local ${wan_addr[$1]} remote ${wan_addr[$(other "$1")]} \\
		dstport 4789 srcport 4789 4790 dev wan && /sbin/ip link set vx0 mtu 1370 up &&
		/sbin/ip address add 10.99.0.${number[$1]}/24 dev vx0"
}

answered() {
	on_gateway "$1" "ping -c 3 -W 2 10.99.0.${number[$(other "$1")]} > /dev/null &&
		ping -c 2 -W 2 -s 1342 10.99.0.${number[$(other "$1")]} > /dev/null"
}

unanswered() { ! on_gateway left "ping -c 2 -W 1 10.99.0.2 > /dev/null"; }
