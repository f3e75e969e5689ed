# SPDX-License-Identifier: GPL-2.0-or-later
# Whatever a script makes it registers with defer. It is undone in reverse order when the script
# ends, also after a failure or a signal. Sourced.

deferred=()
defer() { deferred+=("$(printf '%q ' "$@")"); }

# run_deferred MARK: undo all that was made since there were MARK notes.
run_deferred() {
	local i
	for ((i = ${#deferred[@]} - 1; i >= $1; i--)); do
		eval "${deferred[i]}" || true
		unset "deferred[i]"
	done
}

# Set by a script that has something to say about its state when it fails, before all is removed.
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

# Background programs, by name. They are ended by their own PID only, and end
# by themselves if we are killed.
declare -A pids=()

# spawn NAME LOG CMD...: CMD has to exec its way to the program that is meant.
spawn() {
	local name=$1 log=$2
	shift 2
	: > "$log" # before anybody looks into it: the job opens it in its own time
	setpriv --pdeathsig TERM "$@" > "$log" 2>&1 < /dev/null &
	pids[$name]=$!
	defer reap "$name"
}

alive() { [ -n "${pids[$1]:-}" ] && kill -0 "${pids[$1]}" 2> /dev/null; }
gone() { ! alive "$1"; }

# reap NAME [SIGNAL [SECONDS]]: end it and wait; a program that ignores the signal for so
# long, or half a minute, is killed. Returns its exit status.
reap() {
	local pid=${pids[$1]:-}
	[ -n "$pid" ] || return 0
	kill -s "${2:-TERM}" "$pid" 2> /dev/null
	wait_for "${3:-30}" gone "$1" || kill -KILL "$pid" 2> /dev/null
	unset "pids[$1]"
	wait "$pid" 2> /dev/null
}

# reap_after NAME SECONDS: let it end by itself, within that time.
reap_after() {
	wait_for "$2" gone "$1" || reap "$1"
	[ -n "${pids[$1]:-}" ] || return 1
	local pid=${pids[$1]}
	unset "pids[$1]"
	wait "$pid"
}
