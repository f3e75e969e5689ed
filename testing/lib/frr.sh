# SPDX-License-Identifier: GPL-2.0-or-later
# FRR on a gateway of Cygnet's, with its files in $work/SIDE/frr. Sourced.

# start_frr SIDE DAEMON...: zebra and the daemons, whose DAEMON.conf are there.
start_frr() {
	local side=$1 dir=$work/$1/frr name
	: > "$dir/zebra.conf"
	chown -R frr "$dir" # as whom FRR runs
	run_frr "$side" zebra
	# A bgpd that does not know the interfaces yet refuses the IPv6 routes of a peer, and does not ask for them again.
	wait_for 30 test -S "$dir/zserv.api"
	for name in "${@:2}"; do run_frr "$side" "$name"; done
}

run_frr() {
	local dir=$work/$1/frr options=()
	[ "$2" != bfdd ] || options=(--bfdctl "$dir/bfdd.sock")
	spawn "$2-$1" "$dir/$2.out" ip netns exec "$net_prefix-gw-$1" "/usr/lib/frr/$2" -f "$dir/$2.conf" \
		-z "$dir/zserv.api" -i "$dir/$2.pid" --vty_socket "$dir" -P 0 --log "file:$dir/$2.log" "${options[@]}"
}

# end_frr SIDE...: end the daemons, before all that was sent is counted.
end_frr() {
	local side name
	for side in "$@"; do
		for name in bgpd bfdd zebra; do reap "$name-$side" TERM || true; done
	done
}

tell_frr() { tail -n 40 "$work/$1"/frr/*.log "$work/$1"/frr/*.out; }
