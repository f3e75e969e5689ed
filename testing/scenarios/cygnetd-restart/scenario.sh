# SPDX-License-Identifier: GPL-2.0-or-later
# cygnetd is killed (SIGKILL) and started again while the hosts talk. The tunnel
# goes on with the SAs it had, soon, without a word between the IKE daemons, and no
# sequence number is used twice.

# Until charon has installed the route again, and the next hop of the new TAP has answered ARP. A
# frame or two that a starting port finds may be for another MAC address.
may_drop=([left]="not-ours no-route no-neighbour icmp-unprotected")

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	start_capture wire wire br0
	local child
	child=$(child_id left)
	start_pings kill left 30000 0.002
	local round
	for round in 1 2 3; do
		expect "pings are answered before kill $round" answered 100
		expect_drops left
		reap cygnetd-left KILL || true
		restart_cygnetd left
		expect "hosts reach each other after kill $round" wait_for 60 reaches left
	done
	expect "pings are answered after the kills" answered 100
	reap pings-kill INT || true
	expect "the host has had those answers" test "$(replies)" -ge 400
	expect_outage kill 5
	stop_capture wire
	expect_output "CHILD_SA in use" "$child" child_id left
	expect_output "IKE messages since" 0 frames wire 'udp port 500 or (udp port 4500 and udp[8:4] = 0)'
	expect_pings
	expect_drops left
	expect "cygnetd ends with status 0 on SIGTERM" reap cygnetd-left TERM 15
}

# answered COUNT: so many more, and soon; the SA knows, also across a restart.
answered() { wait_for 60 received $(($(inbound) + $1)); }
received() { [ "$(inbound)" -ge "$1" ]; }
inbound() { sad left 'map(select(.dir == "in") | .packets) | add'; }
replies() { sed -n 's/.* \([0-9]*\) received.*/\1/p' "$work/pings-kill.out"; }
