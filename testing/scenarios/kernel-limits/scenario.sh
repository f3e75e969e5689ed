# SPDX-License-Identifier: GPL-2.0-or-later
# CHILD_SAs with limits of packets and bytes, on both sides, and of time, on the left, initiated by the left and by
# Debian's kernel on the right in turn. At the soft limit they are rekeyed under traffic, and no packet is lost. At
# the hard limit the dataplane sends no further packet, and charon closes the expired CHILD_SA and negotiates another
# one. (Children that the right initiates have their own networks, by which the left identifies its child.)
right=kernel no_policy=drop
may_drop=([left]="sa-expired no-policy")

steps() {
	local child side=left
	for child in packets bytes time; do
		expect "child $child comes up from $side" tunnel_up "$side" "$child"
		if [ "$child" = time ]; then # the child is rekeyed before counters can be compared
			expect "hosts reach each other" wait_for 30 reaches left
		else
			expect_pings
		fi
		start_capture wire wire br0
		start_pings limit left 30000 0.005
		expect "three SAs and more each way" wait_for 60 eval '[ "$(spis)" -ge 6 ]'
		expect_none_lost limit
		expect_ciphertext
		expect "the connection goes down" connection_down "$side"
		expect_empty
		side=$(other "$side")
	done
	hard_limit right hard 100
	# Pings count 229 bytes here; only the left has this limit.
	hard_limit left hard-bytes 88
	hard_time
	expect "charon's log has the SPI of each limit that cygnetd's log has" same_spis
}

# Whether charon's log has the SPI of each limit in cygnetd's log, and there is at least one.
same_spis() {
	local spi found=
	for spi in $(sed -nE 's/^cygnetd: SA ([0-9a-f]{8}): (soft|hard) limit reached.*/\1/p' "$work/left/cygnetd.log"); do
		grep -q "$spi" "$work/left/charon.log" || return 1
		found=yes
	done
	[ "$found" ]
}

# hard_limit SIDE CHILD PACKETS: SIDE initiates, and no SA carries more than so many packets. The left's charon is
# stopped until a packet beyond the limit was dropped. If both sides have the limit, either may close the CHILD_SA.
hard_limit() {
	local here there
	expect "child $2 comes up from $1" tunnel_up "$1" "$2"
	here=$(child_id left "$2") there=$(child_id right "$2")
	start_capture wire wire br0
	kill -STOP "${pids[charon-left]}"
	start_pings limit left 30000 0.01
	expect "what comes too late is dropped as that" \
		wait_for 30 dropped_for left sa-expired $(($(drops left sa-expired) + 1))
	kill -CONT "${pids[charon-left]}"
	expect "the CHILD_SA is replaced" wait_for 60 eval "[ \"0\$(child_id left $2)\" -gt $here ]"
	expect "hosts reach each other by another one" wait_for 30 reaches left
	reap pings-limit || true
	expect_ciphertext
	expect "no SA has sent more than $3 packets" test "$(most_packets)" -eq "$3"
	expect "charon has closed it as expired" wait_for 30 eval \
		"closed_as_expired left $2 $here || closed_as_expired right $2 $there"
	expect "the connection goes down" connection_down "$1"
	expect_empty
}

# A time limit expires without any traffic, too.
hard_time() {
	local before
	expect "child hard-time comes up" tunnel_up left hard-time
	before=$(child_id left hard-time)
	expect "charon closes it as expired" wait_for 30 closed_as_expired left hard-time "$before"
	expect "the CHILD_SA is replaced" wait_for 30 eval "[ \"0\$(child_id left hard-time)\" -gt $before ]"
}

# closed_as_expired SIDE CHILD NUMBER: whether charon of SIDE has logged that it closed this CHILD_SA as expired
closed_as_expired() { on_gateway "$1" "grep -q 'closing expired CHILD_SA $2{$3}' '$(charon_log "$1")'"; }

sequences() { "$lib/esp-sequence" "$work/wire.pcap"; }
spis() { sequences | grep -c '^SPI'; }
most_packets() { sequences | sed 's/.* to //' | sort -n | tail -n 1; }
