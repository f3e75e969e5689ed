# SPDX-License-Identifier: GPL-2.0-or-later
# charon is killed (SIGKILL) while the hosts talk: the traffic goes on. Its
# successor cleans up what it left, negotiates anew, and nothing old remains.

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" reaches left
	start_pings kill left 500 0.005
	reap charon-left KILL || true
	expect_output "pings lost while charon is dead" 0 end_pings kill
	restart_charon left cygnet
	expect_output "SAs that the dead charon left" 0 sas left
	start_capture wire wire br0
	expect "the tunnel comes up again" tunnel_up left
	expect_output "SAs of the new one" 2 sas left
	expect_output "pings lost" 0 lost_of left
	expect_output "pings lost from right" 0 lost_of right
	stop_capture wire
	expect "only ciphertext on the wire" only_ciphertext wire
}

sas() { ctl "$1" --json show sad | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'; }
