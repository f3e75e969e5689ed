# SPDX-License-Identifier: GPL-2.0-or-later
# cygnetd is killed (SIGKILL) and started again under traffic, in a tunnel initiated by Debian's kernel on the
# right: the kernel sees no sequence number twice. Then charon is killed: traffic continues, and the next charon
# initiates a new tunnel. Nothing leaves in plaintext at any time.
right=kernel no_policy=drop
may_drop=([left]="not-ours no-policy policy-held bad-spi no-route icmp-unprotected")

steps() {
	local child
	expect "the tunnel comes up from right" tunnel_up right
	expect "hosts reach each other" wait_for 30 reaches left
	child=$(child_id right)
	patience=1 start_pings kill left 30000 0.004
	expect "pings are answered" wait_for 30 received 100
	expect_drops left
	kill_cygnetd left
	expect "pings are answered after the kill" wait_for 60 received $(($(inbound) + 100))
	expect_output "CHILD_SA in use" "$child" child_id right
	reap pings-kill INT || true
	expect_outage kill $((absent + 3))
	expect_output "packets that the kernel took for replays" 0 kernel_counts XfrmInStateSeqError
	start_pings charon left 100 0.01
	reap charon-left KILL || true
	expect_output "pings lost while charon is dead" 0 end_pings charon
	restart_charon left
	expect "the tunnel comes up from left" tunnel_up left
	expect_pings
	expect "the connection goes down" connection_down right
	expect_empty
}

inbound() { sad left 'map(select(.dir == "in") | .packets) | add'; }
received() { [ "$(inbound)" -ge "$1" ]; }
kernel_counts() { guest_do right "cat /proc/net/xfrm_stat" | awk -v name="$1" '$1 == name { print $2 }'; }
