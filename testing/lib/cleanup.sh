# SPDX-License-Identifier: GPL-2.0-or-later
# For everything that it creates a script registers a removal with defer. Removals are run in reverse order when
# the script ends, also after a failure or a signal. Sourced.

deferred=()
defer() { deferred+=("$(printf '%q ' "$@")"); }

# run_deferred MARK: run the removals that were registered after the first MARK ones.
run_deferred() {
	local i
	for ((i = ${#deferred[@]} - 1; i >= $1; i--)); do
		eval "${deferred[i]}" || true
		unset "deferred[i]"
	done
}

# A function that a script may set, to print its state after a failure, before all is removed.
at_failure=:

cleanup() {
	local rc=$?
	trap '' INT TERM HUP
	trap - EXIT
	set +e
	[[ $rc =~ ^(0|77|130)$ ]] || $at_failure
	run_deferred 0
	exit "$rc"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'tell_waiting; exit 143' TERM HUP

# Background programs, by name. They are ended by PID, never by program name, and get a signal if this
# shell is killed.
declare -A pids=()

# spawn NAME LOG CMD...: run CMD in the background. Wrappers in CMD must exec, so that the PID is the program's.
spawn() {
	local name=$1 log=$2
	shift 2
	: > "$log" # so that the log exists when this returns: the job may open it later
	setpriv --pdeathsig TERM "$@" > "$log" 2>&1 < /dev/null &
	pids[$name]=$!
	defer reap "$name"
}

alive() { [ -n "${pids[$1]:-}" ] && kill -0 "${pids[$1]}" 2> /dev/null; }
gone() { ! alive "$1"; }

# reap NAME [SIGNAL [SECONDS]]: send the signal and wait; a program that still runs after SECONDS (30) is
# killed. Returns its exit status.
reap() {
	local pid=${pids[$1]:-}
	[ -n "$pid" ] || return 0
	kill -s "${2:-TERM}" "$pid" 2> /dev/null
	wait_for "${3:-30}" gone "$1" || kill -KILL "$pid" 2> /dev/null
	unset "pids[$1]"
	wait "$pid" 2> /dev/null
}

# reap_after NAME SECONDS: wait for the program to end by itself within that time; otherwise kill it.
reap_after() {
	wait_for "$2" gone "$1" || reap "$1"
	[ -n "${pids[$1]:-}" ] || return 1
	local pid=${pids[$1]}
	unset "pids[$1]"
	wait "$pid"
}
