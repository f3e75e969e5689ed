# SPDX-License-Identifier: GPL-2.0-or-later
# IKEv1 with pre-shared keys, Debian's kernel on the right. Main mode from either side: the CHILD_SA and the
# ISAKMP SA are rekeyed under traffic, and only packets that arrive before the initiator has the keys are lost
# (counted as unknown SPI). TFC padding is configured, but IKEv1 cannot negotiate it, so nothing is padded.
# Then transport mode in UDP without a NAT, and the right as a road warrior: aggressive mode, with a password
# (XAuth) and an address by mode config. At last the wire is cut: dead peer detection on the left restarts the
# tunnel when it is mended.
. "$top/testing/scenarios/kernel-reauth/scenario.sh"
. "$top/testing/scenarios/kernel-pool/scenario.sh"
sides="left right" shapes="esp udp" old_sas=stay
charon_plugins+=" xauth-generic"
# Packets that arrive before the initiator has the keys.
may_drop=([left]=bad-spi [right]="XfrmInNoStates XfrmInStateInvalid XfrmAcquireError")
# charon does not recognise a retransmitted IKEv1 request if another one arrived in between: retransmit late.
charon_options="retransmit_timeout = 4
  i_dont_care_about_security_and_use_aggressive_mode_psk = yes"

steps() {
	local side
	for side in left right; do
		main_mode "$side"
		hosts "$side"
	done
	warrior
	vanishes
}

# main_mode SIDE: SIDE initiates. The responder installs the SAs when the initiator's third message has arrived, and
# would answer in plaintext before.
main_mode() {
	local lost before
	expect "the tunnel comes up from $1" tunnel_up "$1"
	expect "the responder has it, too" wait_for 30 established "$(other "$1")"
	if [ "$1" = left ]; then expect_tunnel; else expect_pings; fi
	before=$(unknown_spis)
	start_capture wire wire br0
	start_pings rekey left 30000 0.01
	expect_rekey "$1"
	expect_rekey "$1" rekey_ike
	expect "the hosts have been talking all the time" alive pings-rekey
	reap pings-rekey INT || true
	lost=$(lost < "$work/pings-rekey.out")
	expect_output "pings lost, and what came for an unknown SPI" "$lost" unknown_since "$before"
	expect_pings
	expect_ciphertext
	expect_output "packets that have been padded" 0 frames wire esp and greater 400
	# The previous ISAKMP SA is kept for ten seconds; --terminate fails if it is deleted meanwhile.
	connection_down "$1" > "$work/down.out" 2>&1 || true
	expect "no ISAKMP SA is left" wait_for 30 no_ike_sa
	expect_empty
}

no_ike_sa() { prints_nothing swanctl_on left --list-sas && prints_nothing swanctl_on right --list-sas; }
unknown_since() { echo $(($(unknown_spis) - $1)); }

# hosts SIDE: transport mode, initiated by SIDE
hosts() {
	expect "host comes up from $1" tunnel_up "$1" host
	expect "the responder has it, too" wait_for 30 established "$(other "$1")" host
	expect_output "SAs in transport mode in UDP" 2 \
		sad left 'map(select(.mode == "transport" and .encap == "udp")) | length'
	expect_sas
	start_pings host gw-left 50 0.01 "${wan_addr[right]}"
	expect_output "pings lost" 0 end_pings host
	expect_counted 50 $((50 * (ping_bytes - 20))) # as in Linux, bytes do not include the IP header
	expect "the connection goes down" quiet "$work/$1/terminate.out" \
		swanctl_on "$1" --terminate --ike hosts --timeout "$(scaled 20)"
	expect_empty
}

warrior() {
	expect "the client connects" tunnel_up right warrior
	expect "the password was asked for" \
		grep "XAuth authentication of 'client' successful" "$(charon_log left)"
	expect "it has an address of the pool" test -n "$(vip right)"
	expect "the responder has it, too" wait_for 30 established left warrior
	expect_sas
	start_pings client left 50 0.02 "$(vip right)"
	expect_output "pings from the client lost" 0 client_pings right
	expect_output "pings to the client lost" 0 end_pings client
	expect_counted 60 $((50 * ping_bytes + 10 * 84))
	expect "it disconnects" quiet "$work/right/terminate.out" \
		swanctl_on right --terminate --ike warrior --timeout "$(scaled 20)"
	expect_empty
	expect_output "addresses in use" 0 leases
}

vanishes() {
	local child
	expect "the tunnel comes up" tunnel_up left back
	expect_pings
	child=$(child_id left back)
	cut_wire
	expect "left finds its peer dead" wait_for 60 gone_from left back
	expect "right finds its peer dead" wait_for 60 gone_from right back
	mend_wire
	expect "the tunnel comes back" wait_for 60 established left back
	expect "it is another" test "$(child_id left back)" -gt "$child"
	expect_pings
}
