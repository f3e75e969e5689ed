# SPDX-License-Identifier: GPL-2.0-or-later
# A CHILD_SA that closes when it has not been used for four seconds. Traffic, in
# either direction, keeps it.

steps() {
	expect "the tunnel comes up" tunnel_up left
	local child
	child=$(child_id left)
	start_capture wire wire br0
	expect_output "pings lost in five seconds" 0 slow_pings
	expect_output "CHILD_SA in use" "$child" child_id left
	expect "it closes when nothing is sent" wait_for 60 closed
	expect_empty
	expect_ciphertext
}

slow_pings() { pings right 10 0.5 | lost; }
closed() { ! established left; }
