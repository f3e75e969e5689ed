# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon on the left is charon-systemd, which has a section of its own in
# strongswan.conf. (It also runs without systemd.) Its gateway has two workers. An SA belongs to one of them; packets
# that the other one receives are handed off. If one ring of AF_PACKET is full, the kernel gives packets to the other
# worker, and they are handed off late: therefore the replay window is wide. The CHILD_SA is rekeyed under traffic.
daemon[left]=charon-systemd workers[left]=2

steps() {
	local side
	expect "the tunnel comes up" tunnel_up left
	expect_pings
	start_pings rekey left 30000 0.005
	for side in left right; do
		sleep 0.3
		expect_rekey "$side"
	done
	sleep 0.3
	expect_none_lost rekey
	expect_output "workers" 2 stats length
	expect "packets were handed off" test "$(stats 'map(.handed_off) | add')" -gt 0
	expect "all of them arrived" nothing_dropped
	expect "the connection goes down" connection_down left
	expect_empty
	expect "it ends with status 0 on SIGTERM" reap charon-left TERM 15
}

stats() { ctl left --json show stats | jq -r "$1"; }

# nothing_dropped: whether no packet was dropped because a queue between the workers was full
nothing_dropped() { [ "$(drops left handoff-full)" -eq 0 ]; }
