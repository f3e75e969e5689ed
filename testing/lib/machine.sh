# SPDX-License-Identifier: GPL-2.0-or-later
# Gateways that are machines of their own: a root of a release (release-root.sh), changed by nothing but
# the test, whose systemd runs as in a container, in the network namespace of a gateway (netns.sh).
# Sourced.

declare -A init_of=()

# boot SIDE RELEASE NAME: start systemd of that root in the namespace gw-SIDE.
# reboot SIDE RELEASE NAME: after its power was cut. What was in its files stays, and so do the interfaces.
boot() {
	[ "${#init_of[@]}" -gt 0 ] || defer remove_cgroups
	mkdir -p "$work/machine-$1"/{root,changes,scratch}
	defer reap "machine-$1" KILL
	start_machine "$@"
}

reboot() {
	reap "machine-$1" KILL || true
	start_machine "$@"
}

# make_cgroup SIDE: print a cgroup of the machine's own. With one tree for two machines systemd would wait for the other's
# processes before it takes a unit for ended.
make_cgroup() {
	local group=$work/cgroup/cygnet-$net_prefix-$1
	if ! mountpoint -q "$work/cgroup"; then
		mkdir -p "$work/cgroup"
		mount -t cgroup2 cgroup2 "$work/cgroup"
	fi
	mkdir -p "$group"
	echo "$group"
}

# The processes of a machine that was killed take a moment to end.
remove_cgroups() {
	wait_for 10 cgroups_removed || true
	umount "$work/cgroup"
}
cgroups_removed() {
	find "$work/cgroup" -depth -type d -path "$work/cgroup/cygnet-$net_prefix-*" -exec rmdir {} + 2> /dev/null || true
	[ -z "$(find "$work/cgroup" -maxdepth 1 -name "cygnet-$net_prefix-*")" ]
}

start_machine() {
	local over=$work/machine-$1 group
	group=$(make_cgroup "$1")
	# systemd does not end on SIGTERM. Killing unshare ends all processes in the namespaces at once.
	# shellcheck disable=SC2016
	setpriv --pdeathsig KILL sh -e -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' "$group" \
		ip netns exec "$net_prefix-gw-$1" unshare --mount --pid --ipc --uts --cgroup \
		--propagation private --fork --kill-child "$lib/boot-root" \
		"$(release_folder "$2")/$3/root" "$over" > "$work/machine-$1.log" 2>&1 < /dev/null &
	pids[machine-$1]=$!
	disown # so that bash does not report that it was killed
	wait_for 60 booted "$1" || { cat "$work/machine-$1.log" >&2; die "the machine $1 does not boot"; }
}

booted() {
	gone "machine-$1" && return 1
	init_of[$1]=$(cat "/proc/${pids[machine-$1]}/task/${pids[machine-$1]}/children" 2> /dev/null)
	init_of[$1]=${init_of[$1]% }
	# The exit status is not 0 for a degraded system, for example one in which modules cannot be loaded.
	[ -n "${init_of[$1]}" ] &&
		[[ $(on "$1" systemctl is-system-running 2> /dev/null) =~ ^(running|degraded)$ ]]
}

# on SIDE COMMAND...: run COMMAND on that gateway.
on() {
	nsenter -t "${init_of[$1]}" -m -u -i -n -p -C -r -w env -i LC_ALL=C HOME=/root DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "${@:2}"
}

# put SIDE PATH: write standard input to a file there, and create its folder.
put() { on "$1" sh -c 'mkdir -p "$(dirname "$0")" && cat > "$0"' "$2"; }
