# SPDX-License-Identifier: GPL-2.0-or-later
# A trap policy on the left. The ping that triggers the tunnel is queued until the tunnel is up, and is then answered;
# charon receives an acquire with the packet's protocol and type, once a second while a packet waits. If the peer is
# silent, no packet leaves in plaintext; when it answers, the queued traffic brings the tunnel up, and does so again
# after it was terminated, also if charon reads the acquire late.
may_drop=([left]="no-sa no-sa-in-time")

steps() {
	local asked before since=$SECONDS
	start_capture wire wire br0
	expect "the first ping is answered" first_ping_from left
	expect_pings
	expect "charon is asked for what a ping needs" asked_for left icmp/8 icmp/8
	expect "and at the most once a second" test \
		"$(acquires left icmp/8 icmp/8)" -le $((SECONDS - since + 2)) # 2: both numbers are rounded to seconds
	swanctl_on left --terminate --child net > /dev/null
	kill -STOP "${pids[charon-right]}"
	asked=$(frames wire 'udp port 500')
	before=$(acquires left icmp/8 icmp/8) since=$SECONDS
	pings=50 patience=1 expect_output "pings lost without an answer" 50 lost_of left
	expect "most could not wait" test "$(drops left no-sa)" -ge 30
	expect "left asked for the tunnel" wait_for 30 asked_since "$asked"
	expect "charon was asked at the most once a second" test \
		"$(($(acquires left icmp/8 icmp/8) - before))" -le $((SECONDS - since + 2))
	kill -CONT "${pids[charon-right]}"
	expect "traffic brings the tunnel up" wait_for 60 reaches left
	expect_pings
	swanctl_on left --terminate --ike gw-gw > /dev/null
	expect "the first ping after that is answered" first_ping_from left
	expect_pings
	connection_down left
	kill -STOP "${pids[charon-left]}"
	before=$(stats_of left waited_for_sa)
	udp_from left 40000 40009
	expect "a UDP packet waits, while its own charon is busy" wait_for 30 waited_more_than "$before"
	kill -CONT "${pids[charon-left]}"
	expect "charon is asked for what that packet needs" \
		wait_for 30 asked_for left udp/40000 udp/40009
	expect "and the tunnel is up" wait_for 30 established left
}

waited_more_than() { [ "$(stats_of left waited_for_sa)" -gt "$1" ]; }
asked_since() { [ "$(frames wire 'udp port 500')" -gt "$1" ]; }
