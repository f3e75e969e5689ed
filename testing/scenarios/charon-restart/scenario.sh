# SPDX-License-Identifier: GPL-2.0-or-later
# charon is killed (SIGKILL) while the hosts talk: the traffic goes on. Its
# successor cleans up what it left, negotiates anew, and nothing old remains. The
# keys are wiped even if charon ends while cygnetd hangs. With no_policy = drop
# nothing leaves in plaintext at any time, though for a while there are no policies.

no_policy=drop
may_drop=([left]="no-policy bad-spi")

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" reaches left
	start_pings kill left 500 0.005
	reap charon-left KILL || true
	expect_output "pings lost while charon is dead" 0 end_pings kill
	start_pings restart left 100000 0.005
	restart_charon left
	expect_output "SAs that the dead charon left" 0 sas left
	expect "pings met a gateway without policies" dropped_without_policy
	expect "the tunnel comes up again" tunnel_up left
	reap pings-restart INT || true
	expect_outage restart 10
	expect_output "SAs of the new one" 2 sas left
	expect_pings
	expect_output "deleted SAs and policies that have keys" 0 to_be_wiped left
	keys_are_wiped
}

dropped_without_policy() { [ "$(drops left no-policy)" -gt 0 ]; }

keys_are_wiped() {
	kill -STOP "${pids[cygnetd-left]}"
	reap charon-left || true
	expect "charon cannot wipe while cygnetd hangs" test "$(to_be_wiped left)" -gt 0
	kill -CONT "${pids[cygnetd-left]}"
	expect "cygnetd wipes for it" wait_for 30 all_wiped left
}

# cygnetctl check also looks whether free slots have keys.
to_be_wiped() { ctl "$1" check | sed -n 's/.*, \([0-9]*\) deleted ones.*/\1/p'; }
all_wiped() { [ "$(to_be_wiped "$1")" = 0 ]; }

sas() { ctl "$1" --json show sad | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'; }
