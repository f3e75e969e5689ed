# SPDX-License-Identifier: GPL-2.0-or-later
# A boot: the left has no shared file any more. From the policies of the last run, cygnetd
# holds those of the tunnel: its host's packets, which a route would take to the peer, are
# dropped before charon is there, and until it has the tunnel up. (After a crash of charon:
# charon-restart.) Policies that charon does not install again in time are no longer held.

may_drop=([left]="policy-held bad-spi no-route no-neighbour not-ours")
# ICMP errors of the left's kernel about the right's IKE, for which no charon listens.
plaintext_on_wire='src host 192.168.0.1 and icmp[0] = 3 and icmp[1] = 3'

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect "hosts reach each other" wait_for 30 reaches left
	expect "the policies are kept" wait_for 90 kept
	expect_drops left
	reap charon-left || true
	expect "charon has removed its policies" test "$(policies)" = 0
	expect "cygnetd ends" reap cygnetd-left TERM 15
	expect "they are kept nevertheless" kept
	rm "$work/left/sadb"
	restart_cygnetd left
	add_route left
	expect_output "policies that are held after the boot" 3 held
	start_pings boot left 100000 0.005
	expect "pings are dropped before charon is there" wait_for 30 dropped_for left policy-held 100
	restart_charon left
	expect_output "policies that are still held" 3 held
	expect "pings are dropped before the tunnel is up" \
		wait_for 30 dropped_for left policy-held $(($(drops left policy-held) + 100))
	expect "the tunnel comes up after the boot" tunnel_up left
	expect_output "policies that are held beside the tunnel's" 0 held
	reap pings-boot INT || true
	is_over_in_time
	expect "the tunnel comes up again" tunnel_up left
	expect_pings
}

# Without pings: then they would leave in plaintext.
is_over_in_time() {
	side_options[left]="plugins { kernel-cygnet { hold_policies = 2 } }"
	write_strongswan_conf left > "$work/left/strongswan.conf"
	reap charon-left KILL || true
	restart_charon left
	expect "charon says that policies are held" logged "3 policies of an earlier charon.*for up to 2 seconds"
	expect "they are held for so long" wait_for 30 logged "removed 3 held policies"
	expect_output "policies that are left" 0 policies
}

kept() { [ "$(grep -c ' protect .* 10\.[12]\.0\.0-10\.[12]\.0\.255 ' "$work/left/state/policies" 2> /dev/null)" = 3 ]; }
policies() { ctl left --json show spd | jq length; }
held() { ctl left --json show spd | jq 'map(select(.held)) | length'; }
logged() { grep -q "$1" "$work/left/charon.log"; }
