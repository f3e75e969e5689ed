# SPDX-License-Identifier: GPL-2.0-or-later
# Faults of all kinds under traffic, one after the other: rekeying storms, CHILD_SAs and routes added and removed,
# links down, kill -9 of charon and cygnetd, programs that hang, reloads, a full disk, memory that runs out, a clock that
# jumps, a crypto device that fails.
# After each fault no packet is lost any more, both ends count the same, and the numbers of SAs, policies, sessions,
# buffers and the memory in use have not grown.
#
# The order and the sides are derived from SOAK_SEED. A round injects each fault once; no new round is started after
# SOAK_SECONDS.
charon_options="delete_rekeyed_delay = 1"
soak_seconds=${SOAK_SECONDS:-0} soak_seed=${SOAK_SEED:-1}

faults=(rekey_storm children routes wan_down lan_down tap_down kill_charon kill_cygnetd kill_both
	stop_charon stop_cygnetd reload full_disk no_memory clock_jumps)
device_faults=(refuse error hang) # of OpenCL (packet/cl-faults.c)

# The peer of a killed charon has no policies for a moment, and then packets, for which there is a route, must not
# leave in plaintext.
no_policy=drop
# After a link was down, and after a start, cygnetd has to learn neighbours and routes again; a TAP that is down drops
# packets.
recovering="no-policy policy-held no-route no-neighbour not-ours icmp-unprotected bad-spi sa-gone tap-full tap-down"
may_drop=([left]=$recovering [right]=$recovering)
# ICMP errors of a gateway's kernel about the other's IKE, for which no charon listens.
plaintext_on_wire='src net 192.168.0.0/24 and icmp[0] = 3 and icmp[1] = 3'

# Growth of a process that is no leak: arenas of the allocator, and packets waiting in queues.
declare -gA most_growth=([KiB]=6144 [huge-KiB]=0 [buffers]=64 [sessions]=0)
# ASan keeps freed memory for a while, and looks for leaks when a process ends.
[ "${CYGNET_VARIANT:-normal}" != sanitizers ] || most_growth[KiB]=1048576

round=0 soak=
declare -gA count_of=() at_start=()

more_network() {
	local side
	for side in $sides; do
		mkdir -p "$work/$side/state" "$work/$side/cygnetd.conf.d"
		mount -t tmpfs -o size=256k tmpfs "$work/$side/state"
		defer umount "$work/$side/state"
		head -c 64 /dev/zero > "$work/$side/faults"
	done
	cygnetd_preload=
	# With ASan the allocator is ASan's.
	[ "${CYGNET_VARIANT:-normal}" = sanitizers ] || cygnetd_preload=$build/testing/lib/.libs/faults.so
	[ "$engine" = cpu ] || cygnetd_preload+=:$build/testing/packet/.libs/cl-faults.so
}

steps() {
	local begun=$SECONDS fault side
	RANDOM=$soak_seed
	say "SOAK_SEED=$soak_seed, for $soak_seconds s and until all faults have been injected once"
	for side in $sides; do add_route "$side"; done
	expect "the tunnel comes up" tunnel_up left
	check_all
	terse=yes
	until [ "$round" -gt 0 ] && [ $((SECONDS - begun)) -ge "$soak_seconds" ]; do
		shuffle_faults
		for fault in "${turn[@]}"; do one_fault "$fault"; done
	done
	terse=
	end_soak
	soak=over
	say "$round faults in $((SECONDS - begun)) s: $(counts)"
}

# Must be called in the main shell, because a subshell has its own RANDOM sequence.
shuffle_faults() {
	local i j other
	turn=("${faults[@]}")
	[ "$engine" = cpu ] || turn+=(device_fails)
	for ((i = ${#turn[@]} - 1; i > 0; i--)); do
		j=$((RANDOM % (i + 1)))
		other=${turn[i]} turn[i]=${turn[j]} turn[j]=$other
	done
}

# one_fault NAME: inject a fault on one side under traffic, and check the state afterwards.
one_fault() {
	local side=left begun=${EPOCHREALTIME/./}
	[ $((RANDOM % 2)) = 0 ] || side=right
	draw=$RANDOM
	round=$((round + 1)) count_of[$1]=$((${count_of[$1]:-0} + 1))
	start_pings soak left 65535 0.005
	"$1" "$side"
	expect "hosts reach each other after $1" wait_for 60 reaches left
	reap pings-soak || true
	check_all
	say "round $round: $1 on the $side, all is well after $(((${EPOCHREALTIME/./} - begun) / 1000)) ms"
}

counts() {
	local fault
	for fault in "${!count_of[@]}"; do echo "${count_of[$fault]} $fault"; done | sort -k 2 | paste -sd , | sed 's/,/, /g'
}

# --- faults; $draw is a random number for each ---

rekey_storm() {
	local i
	for i in {1..10}; do
		sleep 0.1
		rekey left
		[ $(((draw >> i) % 2)) = 0 ] || rekey right
		[ $((i % 5)) != 0 ] || rekey_ike "$1"
	done
}

# Each of these children is rekeyed every one to two seconds.
children() {
	local i
	for i in 1 2 3 4; do expect "more-$i comes up" comes_up "$1" "more-$i"; done
	sleep 2.5
	for i in 1 2 3 4; do expect "more-$i goes down" wait_for 60 goes_down "more-$i"; done
}

# comes_up SIDE CHILD: initiate a child. charon reports a failure if the other side has rekeyed the child meanwhile.
comes_up() { tunnel_up "$1" "$2" || established "$1" "$2"; }

# goes_down CHILD: whether the child is down; otherwise terminate it, which fails during a rekeying and is then
# repeated.
goes_down() {
	local side
	for side in $sides; do
		established "$side" "$1" || continue
		swanctl_on "$side" --terminate --child "$1" --timeout "$(scaled 20)" > "$work/$side/terminate.out" 2>&1
		return 1
	done
}

routes() {
	change_routes "$1" add
	expect "cygnetd has the routes" wait_for 30 test_routes "$1" -eq 200
	change_routes "$1" del
	expect "cygnetd has removed them" wait_for 30 test_routes "$1" -eq 0
}

# change_routes SIDE add|del: add or remove 200 routes
change_routes() {
	local i
	for i in {1..200}; do echo "route $2 198.18.$i.0/24 via ${wan_addr[$(other "$1")]}"; done |
		ip -n "$net_prefix-gw-$1" -batch -
}
test_routes() { test "$(ctl "$1" --json show routes | jq 'map(select(.prefix | startswith("198.18."))) | length')" "$2" "$3"; }

wan_down() { link_down "$1" wan-veth; }
lan_down() { link_down "$1" lan-veth; }
tap_down() { link_down "$1" wan; add_tap_addresses "$1"; }

# link_down SIDE DEVICE: set a link down and up again. The kernel removes its routes; charon restores its own,
# and this function the other one.
link_down() {
	ip -n "$net_prefix-gw-$1" link set "$2" down
	sleep "0.$((draw % 10))"
	ip -n "$net_prefix-gw-$1" link set "$2" up
	ip -n "$net_prefix-gw-$1" route replace "${lan_net[$(other "$1")]}.0/24" via "${wan_addr[$(other "$1")]}"
}

kill_charon() {
	reap "charon-$1" KILL 2> /dev/null || true
	sleep "0.$((draw % 10))"
	restart_charon "$1"
	expect "the tunnel comes up again" tunnel_up "$1"
}

kill_cygnetd() {
	expect_drops "$1"
	reap "cygnetd-$1" KILL 2> /dev/null || true
	start_again "$1"
}

kill_both() {
	expect_drops "$1"
	reap "cygnetd-$1" KILL 2> /dev/null || true
	reap "charon-$1" KILL 2> /dev/null || true
	start_again "$1"
	restart_charon "$1"
	expect "the tunnel comes up again" tunnel_up "$1"
}

# The exit status also shows whether a sanitizer has found an error.
stop_in_order() {
	expect_drops "$1"
	expect "cygnetd ends with status 0 on SIGTERM" reap "cygnetd-$1" TERM 30
	start_again "$1"
}

start_again() { restart_cygnetd "$1"; add_route "$1"; }

stop_charon() { hang "charon-$1" "$1"; }
stop_cygnetd() { hang "cygnetd-$1" "$1"; }

# hang NAME SIDE: stop a program while the other side rekeys, and continue it.
hang() {
	kill -STOP "${pids[$1]}"
	rekey "$(other "$2")"
	sleep "1.$((draw % 10))"
	kill -CONT "${pids[$1]}"
}

reload() {
	local i before
	for i in 1 2 3; do
		printf '%s\n' "[cygnetd]" "police_ike=$((1000 + draw % 1000 + i))" > "$work/$1/cygnetd.conf.d/soak.conf"
		before=$(reloads "$1")
		kill -HUP "${pids[cygnetd-$1]}"
		expect "cygnetd reloads" wait_for 30 reloaded "$1" "$before"
	done
}

# Each call fills the disk, or frees it again.
full_disk() {
	if [ -f "$work/$1/state/full" ]; then
		rm "$work/$1/state/full"
	else
		head -c 1M /dev/zero > "$work/$1/state/full" 2> /dev/null || true
		expect "the disk is full" disk_full "$1"
	fi
}

# fault_is SIDE TEXT: what lib/faults.c makes fail from now on.
fault_is() {
	{ printf '%s' "$2"; head -c $((64 - ${#2})) /dev/zero; } | dd of="$work/$1/faults" conv=notrunc status=none
}

# Allocations fail while SAs and routes come, the configuration is read again, and everything is asked for.
no_memory() {
	local what
	fault_is "$1" "malloc $((2 + draw % 4))"
	rekey left
	change_routes "$1" add
	kill -HUP "${pids[cygnetd-$1]}"
	for what in sad spd ports routes engines stats drops stages; do
		ctl "$1" show "$what" > "$work/show.out" 2>&1 || true
	done
	rekey right
	sleep 1
	fault_is "$1" ""
	expect "cygnetd has the routes after all" wait_for 30 test_routes "$1" -eq 200
	change_routes "$1" del
	expect "cygnetd has removed them" wait_for 30 test_routes "$1" -eq 0
}

# The clock of the day is a day ahead, then behind. Nothing of cygnetd may depend on it but its logs.
clock_jumps() {
	local by
	for by in 86400 -86400; do
		fault_is "$1" "clock $by"
		rekey "$1"
		sleep "0.$((draw % 10))"
		rekey "$(other "$1")"
	done
	fault_is "$1" ""
}

device_fails() {
	local how=${device_faults[draw % ${#device_faults[@]}]}
	echo -n "$how" > "$work/$1/fault"
	expect "the device is given up" wait_for 60 device_failed "$1"
	rm "$work/$1/fault"
	stop_in_order "$1"
}

device_failed() { [ "$(ctl "$1" --json show engines | jq -r '.[] | select(.engine == "opencl") | .state')" = failed ]; }
disk_full() { ! head -c 8192 /dev/zero > "$work/$1/state/more" 2> /dev/null; }
reloads() { grep -c 'cygnetd.conf: reloaded' "$work/$1/cygnetd.log" || true; }
reloaded() { [ "$(reloads "$1")" -gt "$2" ]; }

# Free the disk, restart cygnetd in order, and check that it writes its files again.
end_soak() {
	local side
	for side in $sides; do
		rm -f "$work/$side/state/"*
		stop_in_order "$side"
	done
	for side in $sides; do
		expect "the policies of the $side are kept on its disk" wait_for 60 kept "$side"
	done
	expect "hosts reach each other" wait_for 60 reaches left
	check_all
}

kept() { [ "$(grep -c ' protect ' "$work/$1/state/policies" 2> /dev/null)" = 3 ]; }

# --- checks after each fault ---

check_all() {
	local side name
	for side in $sides; do
		for name in charon cygnetd; do expect "$name on the $side runs" alive "$name-$side"; done
		expect "$side has two SAs, three policies" wait_for 60 only_net "$side"
	done
	expect "no packet is under way" wait_for 30 silent
	expect_pings
	for side in $sides; do
		expect "the databases of the $side are right" quiet "$work/check.out" ctl "$side" check
		expect_no_growth "$side"
	done
}

only_net() {
	[ "$(sad "$1" 'map(.state) | join(" ")')" = "live live" ] &&
		[ "$(spd "$1" 'map(select(.held | not)) | length')/$(spd "$1" length)" = 3/3 ]
}

silent() {
	local before
	before=$(dataplane_sas left)$(dataplane_sas right)
	sleep 0.2
	[ "$before" = "$(dataplane_sas left)$(dataplane_sas right)" ]
}

# expect_no_growth SIDE: memory, huge pages, packet buffers and crypto sessions have not grown since the first sample of
# each process. (Workers free sessions a while after their SAs are deleted. An SA may have one on each device.)
expect_no_growth() {
	local process what now
	while read -r process what now; do
		: "${at_start[$process-$what]:=$now}"
	done < <(resources "$1")
	wait_for 30 no_growth "$1" || growth "$1"
	expect "processes of the $1 use what they did" no_growth "$1"
}

no_growth() { [ -z "$(growth "$1")" ]; }
growth() {
	local process what now most
	resources "$1" | while read -r process what now; do
		most=$((at_start[$process-$what] + most_growth[$what]))
		[ "$now" -le "$most" ] || say "$what of $process: $now, had ${at_start[$process-$what]}, may have $most"
	done
}

# resources SIDE: print lines of process, resource, amount
resources() {
	local name process
	for name in charon cygnetd; do
		process=$name-$1-${pids[$name-$1]}
		awk -v "process=$process" '$1 in what { print process, what[$1], $2 }
			BEGIN { what["RssAnon:"] = "KiB"; what["HugetlbPages:"] = "huge-KiB" }' "/proc/${pids[$name-$1]}/status"
	done
	echo "$process buffers $(stats_of "$1" buffers)"
	echo "$process sessions $(ctl "$1" --json show engines | jq 'map(.sas) | max')"
}

watched() {
	expect "the soak has come to its end" test "$soak" = over
	say "on the wire: $(grep -c '^SPI' "$work/sequence.out") SAs with $(awk '{ n += $3 } END { print n }' "$work/sequence.out") packets"
}
