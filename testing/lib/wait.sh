# SPDX-License-Identifier: GPL-2.0-or-later
# Waiting for something, and for how long. Sourced.
#
# Time limits of tests are for a machine whose cores, all at once, do a small job within usual_ms.
# For a slower or a busy one they are multiplied by CYGNET_SLOWDOWN, a whole number above 0, which
# testing/run and testing/scenario measure at their start. Tests in C (testing/slowdown.h) and in
# Python (testing/packet/network.py) read it from the environment, too.

usual_ms=200 most_slowdown=20

# The same kinds of work as tests: starting programs, and computing.
small_job() {
	local i
	for i in {1..60}; do /bin/true; done
	for ((i = 0; i < 60000; i++)); do :; done
}

# measure_slowdown: set CYGNET_SLOWDOWN unless it is in the environment. The elapsed time of a job is measured, so that
# load of other programs counts.
measure_slowdown() {
	local begun=$EPOCHREALTIME ms core jobs=()
	if [ -n "${CYGNET_SLOWDOWN:-}" ]; then
		say "time limits are multiplied by $CYGNET_SLOWDOWN, as CYGNET_SLOWDOWN says"
		return
	fi
	for ((core = $(nproc); core; core--)); do
		small_job &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	ms=$(((${EPOCHREALTIME/./} - ${begun/./}) / 1000))
	CYGNET_SLOWDOWN=$(((ms + usual_ms - 1) / usual_ms))
	[ "$CYGNET_SLOWDOWN" -le "$most_slowdown" ] || CYGNET_SLOWDOWN=$most_slowdown
	export CYGNET_SLOWDOWN
	say "time limits are multiplied by $CYGNET_SLOWDOWN: a job of at most $usual_ms ms took $ms ms," \
		"load average $(cut -d ' ' -f 1 /proc/loadavg)"
}

# scaled SECONDS: print the seconds times CYGNET_SLOWDOWN.
scaled() { echo $(($1 * ${CYGNET_SLOWDOWN:-1})); }

# The current expectation, and the condition that is waited for, which is in a file because a subshell may wait for it.
expecting=
note_waiting() { [ ! -d "${work:-}" ] || echo "$*" > "$work/waiting-for"; }

# tell_waiting: print what a test was waiting for when it is ended, for example by its time limit.
tell_waiting() {
	local since
	say "ended after $SECONDS s${expecting:+, expecting: $expecting}"
	[ -s "${work:-}/waiting-for" ] || return 0
	since=$(stat -c %Y "$work/waiting-for")
	say "waiting for $((EPOCHSECONDS - since)) s for: $(cat "$work/waiting-for")"
}

# wait_for SECONDS CMD...: try the command until it succeeds, ten times for each second. Tries are counted, because a
# machine may stand still for longer than any limit.
wait_for() {
	local limit=$(($1 * ${CYGNET_SLOWDOWN:-1})) tries=0
	shift
	note_waiting "$*"
	until "$@"; do
		if [ $((++tries)) -gt $((10 * limit)) ]; then
			say "waited $limit s in vain for: $*" >&2
			return 1
		fi
		sleep 0.1
	done
	note_waiting
}
