# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of the left gateway are killed under traffic. cygnetd is killed (SIGKILL) and started again: the tunnel
# continues with the same SAs within seconds, without any IKE message, and no sequence number is used twice. charon
# is killed: traffic continues. The next charon removes the old SAs and holds the old policies, so that nothing leaves
# in plaintext until it has negotiated a new tunnel; then nothing old is left. It is the same when charon is restarted
# in an orderly way. Keys are wiped even if charon ends while
# cygnetd hangs. Then a reboot, simulated by removing the shared file: cygnetd holds the tunnel's policies of the last
# run, and drops packets of the host, for which there is a route to the peer, before charon runs and until the tunnel
# is up. Policies that charon does not install again are held for as long as a connection wants them.

# no-route, no-neighbour: until charon has installed the route again and the next hop of the new TAP has answered ARP.
# not-ours: a starting port may receive a frame or two for other MAC addresses.
may_drop=([left]="not-ours no-route no-neighbour icmp-unprotected")
# ICMP errors of the left's kernel about the right's IKE, for which no charon listens.
plaintext_on_wire='src host 192.168.0.1 and icmp[0] = 3 and icmp[1] = 3'

steps() {
	cygnetd_killed
	may_drop[left]+=" policy-held bad-spi"
	charon_killed
	charon_restarted
	keys_are_wiped
	booted_again
	held_while_wanted
	expect "the tunnel comes up again" tunnel_up left
	expect_pings
}

cygnetd_killed() {
	local child round
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	start_capture wire wire br0
	child=$(child_id left)
	patience=1 start_pings kill left 30000 0.002
	for round in 1 2; do
		expect "pings are answered before kill $round" answered 100
		expect_drops left
		kill_cygnetd left
		expect "hosts reach each other after kill $round" wait_for 60 reaches left
	done
	expect "pings are answered after the kills" answered 100
	reap pings-kill INT || true
	expect "the host has had those answers" test "$(replies)" -ge 300
	expect_outage kill $((absent + 3))
	stop_capture wire
	expect_output "CHILD_SA in use" "$child" child_id left
	expect_output "IKE messages since" 0 frames wire 'udp port 500 or (udp port 4500 and udp[8:4] = 0)'
	expect_output "ICMP errors" 0 frames wire "$plaintext_on_wire"
	expect_pings
	expect_drops left
}

# answered COUNT: wait until COUNT more pings are answered. The inbound SA counts the answers; its counter is in the
# shared file, so that it survives a restart of cygnetd.
answered() { wait_for 60 received $(($(inbound) + $1)); }
received() { [ "$(inbound)" -ge "$1" ]; }
inbound() { sad left 'map(select(.dir == "in") | .packets) | add'; }
replies() { sed -n 's/.* \([0-9]*\) received.*/\1/p' "$work/pings-kill.out"; }

charon_killed() {
	start_pings charon left 200 0.005
	reap charon-left KILL || true
	expect_output "pings lost while charon is dead" 0 end_pings charon
	patience=1 start_pings restart left 100000 0.005
	restart_charon left
	expect_output "SAs that the dead charon left" 0 sas left
	expect "pings met held policies" wait_for 30 dropped_for left policy-held 1
	expect "held policies are shown" test "$(held left)" -gt 0
	expect "the tunnel comes up again" tunnel_up left
	expect_output "policies that are still held" 0 held left
	expect "pings are answered through the new tunnel" answered 100
	reap pings-restart INT || true
	expect_output "SAs of the new one" 2 sas left
	expect_pings
	expect_output "deleted SAs and policies that have keys" 0 to_be_wiped left
}

charon_restarted() {
	local before
	patience=1 start_pings stop left 100000 0.005
	reap charon-left || true
	expect_output "SAs that it left" 0 sas left
	expect_output "policies that are held" 3 held left
	before=$(drops left policy-held)
	expect "pings meet held policies before there is a charon" wait_for 30 dropped_for left policy-held $((before + 20))
	restart_charon left
	expect "the tunnel comes up again" tunnel_up left
	expect_output "policies that are still held" 0 held left
	expect "pings are answered through the new tunnel" answered 100
	reap pings-stop INT || true
	expect_pings
}

keys_are_wiped() {
	kill -STOP "${pids[cygnetd-left]}"
	reap charon-left || true
	expect "charon cannot wipe while cygnetd hangs" test "$(to_be_wiped left)" -gt 0
	kill -CONT "${pids[cygnetd-left]}"
	expect "cygnetd wipes for it" wait_for 30 all_wiped left
}

# Print the number of deleted SAs and policies that still have keys, as reported by cygnetctl check.
to_be_wiped() { ctl "$1" check | sed -n 's/.*, \([0-9]*\) deleted ones.*/\1/p'; }
all_wiped() { [ "$(to_be_wiped "$1")" = 0 ]; }

booted_again() {
	restart_charon left
	expect "the tunnel comes up before the boot" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	expect "the policies are kept" wait_for 90 kept
	expect_drops left
	reap charon-left || true
	expect_output "policies that charon has left, and are held" 3 held left
	expect "cygnetd ends" reap cygnetd-left TERM 15
	expect "they are kept nevertheless" kept
	rm "$work/left/sadb"
	restart_cygnetd left
	add_route left
	expect_output "policies that are held after the boot" 3 held left
	start_pings boot left 100000 0.005
	expect "pings are dropped before charon is there" wait_for 30 dropped_for left policy-held 50
	restart_charon left
	expect_output "policies that are still held" 3 held left
	expect "pings are dropped before the tunnel is up" \
		wait_for 30 dropped_for left policy-held $(($(drops left policy-held) + 20))
	expect "the tunnel comes up after the boot" tunnel_up left
	expect_output "policies that are held beside the tunnel's" 0 held left
	reap pings-boot || true
}

# No pings here: they would leave in plaintext once the policies are no longer held.
held_while_wanted() {
	side_options[left]="plugins { kernel-cygnet { hold_policies = 2 } }"
	write_strongswan_conf left > "$work/left/strongswan.conf"
	reap charon-left KILL || true
	restart_charon left
	expect "charon says that policies are held" logged "3 policies of an earlier charon.*loaded for 2 seconds"
	expect "they stay, because the connection wants them" wait_for 30 logged "3 held policies drop packets until"
	expect_output "policies that are held" 3 held left
	connect_to 10.9.0.0
	expect "they are not held any more" wait_for 30 logged "removed 3 held policies"
	expect_output "policies that are left" 0 policies
	connect_to 10.2.0.0
}

# connect_to NET: the left connection's peer has NET/24.
connect_to() {
	sed -i "s,remote_ts = .*,remote_ts = $1/24," "$work/left/swanctl/swanctl.conf"
	expect "the connection is for $1" swanctl_on left --load-conns
}

kept() { [ "$(grep -c ' protect .* 10\.[12]\.0\.0-10\.[12]\.0\.255 ' "$work/left/state/policies" 2> /dev/null)" = 3 ]; }
policies() { ctl left --json show spd | jq length; }
held() { ctl "$1" --json show spd | jq 'map(select(.held)) | length'; }
logged() { grep -q "$1" "$work/left/charon.log"; }
sas() { ctl "$1" --json show sad | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'; }
