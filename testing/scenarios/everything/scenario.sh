# SPDX-License-Identifier: GPL-2.0-or-later
# Both gateways protect all addresses by policy, the right one with the ESP of Debian's kernel. What each does is the same:
# the gateways speak through the tunnel, but hosts do not, since their plaintext matches the policy of what has to come
# protected; and a gateway's packet to an address that neither has comes back once, and is refused for its source.
right=kernel
may_drop=([left]="policy-plaintext martian" [right]=XfrmInTmplMismatch)

steps() {
	local side
	expect "the tunnel comes up" tunnel_up left
	for side in left right; do
		expect "the gateway on the $side reaches the other one through it" wait_for 30 on_gateway "$side" \
			"ping -c 1 -W 2 ${wan_addr[$(other "$side")]} > /dev/null"
	done
	expect "the plaintext of a host on the left is refused" refused left policy-plaintext
	expect "so is that of a host on the right" refused right XfrmInTmplMismatch
	for side in left right; do
		expect "a packet of the $side to nowhere crosses the wire twice" comes_back "$side"
	done
	expect_output "the left has refused its own" 1 drops left martian
	compared=yes
}

# refused SIDE REASON: each of three packets of a host.
refused() {
	local before
	before=$(dropped "$1" "$2")
	in_ns "$1" ping -n -q -c 3 -i 0.05 -W 1 10.99.0.1 > /dev/null && return 1
	[ $(($(dropped "$1" "$2") - before)) -eq 3 ]
}

dropped() {
	if [ "$1" = left ]; then
		drops left "$2"
	else
		guest_do right "cat /proc/net/xfrm_stat" | awk -v name="$2" '$1 == name { print $2 }'
	fi
}

# comes_back SIDE: a packet of the gateway's: each SA has carried it.
comes_back() {
	local before
	before=$(carried_by_both)
	on_gateway "$1" "ping -c 1 -W 1 10.99.0.1 > /dev/null" && return 1
	[ "$(carried_by_both)" = "$(awk '{ print $1 + 1, $2 + 1 }' <<< "$before")" ]
}

carried_by_both() { ctl left --json show sad | jq -r '[("in", "out") as $dir | .[] | select(.dir == $dir).packets] | "\(.[0]) \(.[1])"'; }
