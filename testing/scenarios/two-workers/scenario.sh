# SPDX-License-Identifier: GPL-2.0-or-later
# The gateway on the left has two workers. An SA belongs to one of them; packets that
# the other one receives are handed off, late if a ring of the kernel's is full and it
# gives them to that one: so the window is wide. Rekeyed under traffic.
workers[left]=2

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
	start_pings rekey left 600 0.005
	sleep 1
	expect_rekey left
	sleep 1
	expect_rekey right
	expect_output "pings lost across the rekeys" 0 end_pings rekey
	expect_output "workers" 2 stats length
	expect "packets were handed off" test "$(stats 'map(.handed_off) | add')" -gt 0
	expect "all of them arrived" nothing_dropped
}

stats() { ctl left --json show stats | jq -r "$1"; }

# For lack of room between the workers.
nothing_dropped() { [ "$(drops left handoff-full)" -eq 0 ]; }
