# SPDX-License-Identifier: GPL-2.0-or-later
# charon is killed (SIGKILL) while the hosts talk: the traffic goes on. Its
# successor removes the SAs that it left and holds its policies, so that nothing leaves
# in plaintext until it has negotiated anew; then nothing old remains. The keys are
# wiped even if charon ends while cygnetd hangs.

may_drop=([left]="policy-held bad-spi")
# ICMP errors of the left's kernel about the right's IKE, for which no charon listens.
plaintext_on_wire='src host 192.168.0.1 and icmp[0] = 3 and icmp[1] = 3'

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	start_pings kill left 200 0.005
	reap charon-left KILL || true
	expect_output "pings lost while charon is dead" 0 end_pings kill
	start_pings restart left 100000 0.005
	restart_charon left
	expect_output "SAs that the dead charon left" 0 sas left
	expect "pings met held policies" dropped_for left policy-held 1
	expect "held policies are shown" test "$(held left)" -gt 0
	expect "the tunnel comes up again" tunnel_up left
	expect_output "policies that are still held" 0 held left
	reap pings-restart INT || true
	expect_outage restart 10
	expect_output "SAs of the new one" 2 sas left
	expect_pings
	expect_output "deleted SAs and policies that have keys" 0 to_be_wiped left
	keys_are_wiped
}

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

held() { ctl "$1" --json show spd | jq 'map(select(.held)) | length'; }
sas() { ctl "$1" --json show sad | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'; }
