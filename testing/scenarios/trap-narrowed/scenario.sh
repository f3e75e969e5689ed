# SPDX-License-Identifier: GPL-2.0-or-later
# A trap of the left for a larger network than the right allows in one CHILD_SA: it narrows each negotiation to one of
# two ranges of 16 addresses, depending on the packet. Both CHILD_SAs are up at the same time, and are rekeyed under
# traffic and reauthenticated. Skipped with strongSwan before 6.0.2, whose charon takes the second one for a duplicate
# of the first, also with kernel-netlink.
version=$(/usr/lib/ipsec/charon --version)
if dpkg --compare-versions "${version##* }" lt 6.0.2; then
	echo "$version gives both the reqid of the trap"
	exit 77
fi
second=10.2.0.40

steps() {
	local reqids ike
	add_address right eth0 $second/24
	expect "the first ping is answered" first_ping_from left
	expect "and one to the second range, which waits for another SA" answered_from $second
	expect_output "ranges" "10.2.0.0/28 10.2.0.32/28" ranges
	reqids=$(reqids_of left)
	expect "they have a reqid each, and the trap has another one" test "$(wc -w <<< "$reqids")" = 3
	ike=$(ike_id left)
	start_pings first left 1000 0.01
	start_pings second left 1000 0.01 $second
	expect "left rekeys both" rekeyed_both
	expect_output "pings to the first range lost" 0 end_pings first
	expect_output "pings to the second range lost" 0 end_pings second
	expect_output "reqids" "$reqids" reqids_of left
	expect "left reauthenticates" rekey_ike left --reauth
	expect "there is another IKE_SA" wait_for 60 newer_than "$ike" ike_id left
	start_pings second left 10 0.1 $second
	expect "both are there again" wait_for 60 both_established
	end_pings second > /dev/null
	expect_output "CHILD_SAs that were taken for duplicates" 0 duplicates
	expect_pings
}

answered_from() { in_ns left ping -n -q -c 1 -W "$(scaled 20)" "$1" > /dev/null 2>&1; }
ranges() { swanctl_on left --list-sas | sed -n 's/^ *remote \(10[.].*\)/\1/p' | sort -u | paste -sd ' '; }
reqids_of() { spd "$1" 'map(select(.dir == "out").reqid) | unique | map(tostring) | join(" ")'; }
children() { swanctl_on left --list-sas | sed -n 's/^ *net: #\([0-9]*\),.*INSTALLED.*/\1/p' | sort -n | paste -sd ' '; }
both_established() { [ "$(children | wc -w)" -ge 2 ] && [ "$(ranges)" = "10.2.0.0/28 10.2.0.32/28" ]; }
duplicates() { grep -c 'existing duplicate' "$(charon_log left)" || true; }

# rekeyed_both: rekey both CHILD_SAs, which have the same name.
rekeyed_both() {
	local before
	before=$(children)
	rekey left && wait_for 60 other_children "$before"
}

# other_children NUMBERS: whether two CHILD_SAs are installed, and none of these.
other_children() {
	local id
	[ "$(children | wc -w)" -eq 2 ] || return
	for id in $1; do
		[[ " $(children) " != *" $id "* ]] || return
	done
}
