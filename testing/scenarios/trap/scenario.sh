# SPDX-License-Identifier: GPL-2.0-or-later
# A trap policy on the left, and a peer that is silent at first: not one packet
# leaves in plaintext. When the peer answers, the waiting traffic brings the
# tunnel up, and again after the tunnel was taken down.

steps() {
	kill -STOP "${pids[charon-right]}"
	start_capture wire wire br0
	expect_output "pings lost without an answer" 50 lost_of left
	expect "packets were dropped for want of an SA" test "$(drops left no-sa)" -ge 40
	expect "left asked for the tunnel" wait_for 30 asked
	kill -CONT "${pids[charon-right]}"
	expect "traffic brings the tunnel up" wait_for 60 reaches left
	expect_output "pings lost" 0 lost_of left
	swanctl_on left --terminate --child net > /dev/null
	expect "traffic brings it up again" wait_for 60 reaches left
	expect_output "pings lost" 0 lost_of left
	stop_capture wire
	expect "only ciphertext on the wire" only_ciphertext wire
}

asked() { [ "$(frames wire 'udp port 500')" -gt 0 ]; }
