# SPDX-License-Identifier: GPL-2.0-or-later
# As mobike, with Debian's kernel on the right; then between addresses of IPv6 alone.
. "$top/testing/scenarios/mobike/scenario.sh"
right=kernel
may_drop[left]+=" martian" # from its link-local address, for the one that left has no more
may_drop[right]="XfrmInNoStates XfrmInStateInvalid XfrmInNoPols XfrmInTmplMismatch XfrmInPolBlock XfrmOutPolBlock"
may_drop[right]+=" XfrmOutBundleGenError"
eval "over4() $(declare -f steps | tail -n +2)"

# There is no address of IPv4 left to move to.
steps() {
	over4
	expect "the connection goes down" connection_down left
	expect_empty
	on_gateway right "/sbin/ip -4 address flush dev wan"
	moves "${wan6_addr[left]}" "${wan6_addr[right]}" /64 net6 "${host6_addr[right]}"
	expect_pings_between 6
	expect_ciphertext
	expect "ESP from the new addresses" test \
		"$(frames wire "src ${wan6_addr[left]}1 and dst ${wan6_addr[right]}1 and (esp or udp port 4500)")" -gt 100
}
