# SPDX-License-Identifier: GPL-2.0-or-later
# cygnetd on a gateway: its two veths are its ports. Sourced.

# On machines with two cores or more each gateway has its own core, because workers poll.
core_of() { [ "$1" = left ] && echo 0 || echo $(($(nproc) > 1)); }

# If a scenario's array workers asks for several workers, each has its own core.
cores_of() {
	local n=${workers[$1]:-1}
	if [ "$n" -gt 1 ]; then seq -s , 0 $((n - 1)); else core_of "$1"; fi
}

# port_device INDEX INTERFACE QUEUES: print the device of a port on a kernel interface, with the driver $port_driver, or
# net_af_packet if that is empty.
port_device() {
	case ${port_driver:-net_af_packet} in
	net_af_packet) echo "net_af_packet$1,iface=$2,qpairs=$3" ;;
	net_af_xdp) echo "net_af_xdp$1,iface=$2,queue_count=$3" ;;
	*) die "port_driver: $port_driver" ;;
	esac
}

# user_lines: cygnetd becomes nobody's user. Its threads can lock memory where root can lift the limit.
user_lines() {
	echo "user = 64199"
	(ulimit -l unlimited) 2> /dev/null || echo "lock_memory = no"
}

# Lines of [cygnetd] that a run adds are in cygnetd_lines. Further sections of a scenario are in port_sections.
write_cygnetd_conf() {
	local side=$1 engine=$2 dir=$work/$1 n=${workers[$1]:-1}
	cat <<-EOF
		[cygnetd]
		sadb = $dir/sadb
		sadb_on_disk = yes
		state = $dir/state
		$(user_lines)
		engine = $engine
		workers = $n
		idle = ${idle:-poll}
		cores = $(cores_of "$side")
		eal = --no-pci --in-memory --file-prefix=$net_prefix-$side -m $((128 + 64 * n))
		driver_path = $root/lib/dpdk
		no_policy = ${no_policy:-pass}
		${cygnetd_lines:-}
		[port wan]
		device = $(port_device 0 wan-veth "$n")
		[port lan]
		${no_policy:+side = inside}
		device = $(port_device 1 lan-veth "$n")
		${port_sections:-}
	EOF
}

# start_cygnetd SIDE ENGINE, await_cygnetd SIDE: when await_cygnetd returns, the gateway forwards.
start_cygnetd() {
	local side=$1 dir=$work/$1
	mkdir -p "$dir"
	write_cygnetd_conf "$side" "$2" > "$dir/cygnetd.conf"
	defer rm -rf "/run/dpdk/$net_prefix-$side" "/run/dpdk/$net_prefix-$side-readers"
	run_cygnetd "$side"
}

declare -A cygnetd_starts=()

# cygnetd_preload: libraries for LD_PRELOAD; packet/cl-faults.c reads the file in $CL_FAULT, lib/faults.c that in $FAULTS.
run_cygnetd() {
	cygnetd_starts[$1]=$((${cygnetd_starts[$1]:-0} + 1))
	spawn "cygnetd-$1" "$work/$1/cygnetd.log" ip netns exec "$net_prefix-gw-$1" \
		env CL_FAULT="$work/$1/fault" FAULTS="$work/$1/faults" ${cygnetd_preload:+LD_PRELOAD="$cygnetd_preload"} \
		"$cygnetd" -c "$work/$1/cygnetd.conf"
}

await_cygnetd() {
	wait_for 60 cygnetd_settled "$1" || true
	cygnetd_ready "$1" || { cat "$work/$1/cygnetd.log" >&2; die "cygnetd $1 does not start"; }
	add_tap_addresses "$1"
}

restart_cygnetd() { run_cygnetd "$1"; await_cygnetd "$1"; }

# kill_cygnetd SIDE: by SIGKILL, and start it again. absent: the longest time that this has taken, s, which is longer on a
# busy machine, and which a limit of outages is beyond.
absent=0
kill_cygnetd() {
	local since=$SECONDS
	reap "cygnetd-$1" KILL || true
	restart_cygnetd "$1"
	[ $((SECONDS - since)) -le "$absent" ] || absent=$((SECONDS - since))
}

cygnetd_ready() { grep -qs '^cygnetd: ready' "$work/$1/cygnetd.log"; }
cygnetd_settled() { cygnetd_ready "$1" || gone "cygnetd-$1"; }

add_tap_addresses() {
	local ns=$net_prefix-gw-$1
	ip -n "$ns" address replace "${wan_addr[$1]}/24" dev wan
	ip -n "$ns" address replace "${lan_net[$1]}.1/24" dev lan
	ip -n "$ns" link set wan up
	ip -n "$ns" link set lan up
	ask_neighbours_long "gw-$1" wan
	ask_neighbours_long "gw-$1" lan
	add_uplink "$1" wan
}

# meet_host SIDE: have the host resolve its gateway, which then has the host's MAC address from the ARP request.
# Otherwise a busy machine may drop the first pings while it resolves the address.
meet_host() {
	ip -n "$net_prefix-$1" neighbour replace "${lan_net[$1]}.1" dev eth0 use
	wait_for 30 knows_host "$1" || die "cygnetd $1 does not answer ARP"
}

knows_host() { prints lladdr ip -n "$net_prefix-gw-$1" neighbour show to "${host_addr[$1]}" dev lan; }

# ctl SIDE ARGUMENT...
ctl() {
	local side=$1
	shift
	in_ns "gw-$side" "$cygnetctl" -c "$work/$side/cygnetd.conf" "$@"
}

# drops SIDE REASON: print the number of packets dropped for this reason
drops() {
	ctl "$1" --json show drops | /usr/bin/python3 -c '
import json, sys
reason = sys.argv[1]
print(next(row["packets"] for row in json.load(sys.stdin) if row["reason"] == reason))' "$2"
}

# stats_of SIDE COUNTER: print the sum of a counter over all workers
stats_of() {
	ctl "$1" --json show stats | /usr/bin/python3 -c '
import json, sys
print(sum(row[sys.argv[1]] for row in json.load(sys.stdin)))' "$2"
}

# engine_packets SIDE ENGINE: print how many packets the devices of an engine have processed; with auto, all devices
engine_packets() {
	ctl "$1" --json show engines | /usr/bin/python3 -c '
import json, sys
print(sum(row["packets"] for row in json.load(sys.stdin) if sys.argv[1] in (row["engine"], "auto")))' "$2"
}
