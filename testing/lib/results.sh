# SPDX-License-Identifier: GPL-2.0-or-later
# Runs tests, prints a line for each, and counts them. Sourced.

passed=0 failed=0 skipped=0
filters=()
# The filters that have selected a test.
declare -A matched=()
# Tests by name: the function that counts the result, the limit in seconds, the command, the lane, and the test that
# must end before. queue: tests not yet started. running: name, log and start of the running ones by process ID.
# again: tests that have failed and will be run a second time.
declare -A counted_by=() limit_of=() command_of=() lane_of=() after_of=() running=() ended=()
started=0 queue=() again=() second_runs=()
# CPU time in seconds of the test that ended last, and of all tests that have ended.
cpu_time=0 cpu_time_of_all=0
# The tests of a lane are started in order; at_once is the number that may run at the same time: tests that compute,
# tests that wait most of their time, and tests that need the machine for themselves.
declare -A at_once=([computing]=2 [waiting]=4 [alone]=1)
lane=waiting after=
# With --repeat: how often each test is run; by name how often it has run and failed, and the reasons.
repeat=
declare -A runs_of=() failures_of=() reasons_of=()

# selected NAME: whether the command line asks for that test, or for a part of it.
selected() {
	local filter is_not=1
	[ "${#filters[@]}" -gt 0 ] || return 0
	for filter in "${filters[@]}"; do
		[[ $1 != "$filter"* && $filter != "$1"/* ]] || { matched[$filter]=yes is_not=0; }
	done
	return "$is_not"
}

# count_unmatched: a filter that has selected no test is a failure.
count_unmatched() {
	local filter
	for filter in "${filters[@]}"; do
		[ "${matched[$filter]:-}" ] || count "not ok" "$filter" "there is no such test"
	done
}

# parts_of GROUP: print the beginnings of names of tests of that group for which the command line asks, with commas
# between; nothing if it asks for the whole group.
parts_of() {
	local filter parts=()
	for filter in "${filters[@]}"; do
		[[ $1 != "$filter"* ]] || return 0
		[[ $filter != "$1"/* ]] || parts+=("${filter#"$1"/}")
	done
	(IFS=,; echo "${parts[*]}")
}

# count RESULT NAME [REMARK [LOG]]: RESULT is ok, not ok or skip. LOG has the reason for which a test has failed.
count() {
	case $1 in
	ok) passed=$((passed + 1)) ;;
	"not ok") failed=$((failed + 1)) ;;
	skip) skipped=$((skipped + 1)) ;;
	esac
	printf '   %-7s %s%s\n' "$1" "$2" "${3:+  ($3)}"
	[ -z "$repeat" ] || note_run "$@"
}

note_run() {
	runs_of[$2]=$((${runs_of[$2]:-0} + 1))
	[ "$1" = "not ok" ] || return 0
	failures_of[$2]=$((${failures_of[$2]:-0} + 1))
	reasons_of[$2]+="      ${3:-failed}: $([ -z "${4:-}" ] || reasons "$4" | tail -n 1)"$'\n'
}

# start_limited SECONDS LOG CMD...: run a command in the background, so that bash handles Ctrl-C and SIGTERM at once;
# timeout gives it a process group, which is ended as a whole. The limit is longer on a slow machine.
start_limited() {
	timeout -k "$(scaled 30)" "$(scaled "$1")" "${@:3}" > "$2" 2>&1 < /dev/null &
}

end_tests() {
	local pids=("${!running[@]}")
	[ "${#pids[@]}" -eq 0 ] && return
	kill -TERM "${pids[@]}" 2> /dev/null
	wait "${pids[@]}" 2> /dev/null
}

# why STATUS START: print why a test has failed
why() {
	local after="after $((SECONDS - $2)) s"
	if [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then echo "timed out $after"; else echo "exit status $1 $after"; fi
}

# took START: print elapsed and CPU time of the test that ended last. The CPU time lacks daemons that nobody waited for.
took() { echo "$((SECONDS - $1)) s, CPU time $cpu_time s"; }

note_cpu_time() {
	local all
	times > "$work/times"
	all=$(awk -F '[ms ]+' 'NR == 2 { printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4 }' "$work/times")
	cpu_time=$((all - cpu_time_of_all)) cpu_time_of_all=$all
}

# tell_log LOG: print a log without the lines of tests that have passed.
tell_log() { sed -E '/^(ok|skip) - /d; s/^/   | /' "$1"; }

# reasons LOG: print the lines in which our checks, cmocka, Python or a sanitizer name a failure. They may be far from
# the end of the log: cmocka goes on with other tests, and a sanitizer prints details.
reasons() {
	grep -aE -m 20 ': failed: |^test-[a-z-]+: |^\[ +(ERROR|LINE|FAILED) +\]|Sanitizer|: runtime error: |DOES NOT HOLD|s in vain for|^waiting for: |^[A-Za-z.]+Error' "$1" || true
}

# count_test NAME STATUS LOG START: count a test that has ended; exit status 77: it is skipped.
count_test() {
	case $2 in
	0) count ok "$1" "$(took "$4")" ;;
	77) count skip "$1" "$(tail -n 1 "$3")" ;;
	*)
		count "not ok" "$1" "$(why "$2" "$4")" "$3"
		tell_log "$3"
		;;
	esac
}

# start_test NAME SECONDS CMD..., start_group NAME SECONDS CMD..., start_nested NAME SECONDS CMD...: put a test, a
# program that reports several tests, or one that uses this file, into the lane $lane, behind the test $after.
# finish_tests: run what is in the lanes. Tests are counted as they end. A test that fails is run again, alone, when
# the others have ended, and only its second run is counted. With exit status 99 (a sanitizer's report, a crash, a
# wrong packet) it is not run again, because that does not depend on how fast the machine is. Of a group only the
# tests that failed are run again. With --repeat all run one at a time, and none has a second run.
start_test() { put_in_lane count_test "$@"; }
start_nested() { put_in_lane count_nested "$@"; }

start_group() {
	local parts
	parts=$(parts_of "$1")
	[ -z "$parts" ] || set -- "$@" --names "$(sed 's/,\|$/*&/g' <<< "$parts")"
	put_in_lane count_group "$@"
}

put_in_lane() {
	selected "$2" || return 0
	counted_by[$2]=$1 limit_of[$2]=$3 command_of[$2]=$(printf '%q ' "${@:4}") lane_of[$2]=$lane after_of[$2]=$after
	queue+=("$2")
}

# begin NAME: start a test in the background.
begin() {
	local log=$work/test-$((++started)).log command
	eval "command=(${command_of[$1]})"
	start_limited "${limit_of[$1]}" "$log" "${command[@]}"
	running[$!]="$1 $log $SECONDS"
}

# begin_some: begin the tests for which there is room.
begin_some() {
	local name pid left=()
	declare -A busy=()
	for pid in "${!running[@]}"; do
		name=${lane_of[${running[$pid]%% *}]}
		busy[$name]=$((${busy[$name]:-0} + 1))
	done
	for name in "${queue[@]}"; do
		if [ "${busy[${lane_of[$name]}]:-0}" -lt "${at_once[${lane_of[$name]}]}" ] &&
			{ [ -z "${after_of[$name]}" ] || [ "${ended[${after_of[$name]}]:-}" ]; } &&
			{ [ -z "$repeat" ] || [ "${#running[@]}" -eq 0 ]; }; then
			begin "$name"
			busy[${lane_of[$name]}]=$((${busy[${lane_of[$name]}]:-0} + 1))
		else
			left+=("$name")
		fi
	done
	queue=("${left[@]}")
}

finish_one() {
	local pid rc=0 name log start
	wait -n -p pid "${!running[@]}" || rc=$?
	note_cpu_time
	read -r name log start <<< "${running[$pid]}"
	unset "running[$pid]"
	[ "$rc" -ne 0 ] || ended[$name]=yes
	if [ "$repeat" ] || [[ $rc =~ ^(0|77|99)$ ]] || [ "${counted_by[$name]}" = count_nested ]; then
		"${counted_by[$name]}" "$name" "$rc" "$log" "$start"
		return
	fi
	again+=("$name")
	printf '   %-7s %s  (%s: it is run again, alone)\n' again "$name" "$(why "$rc" "$start")"
	tell_log "$log"
	[ "${counted_by[$name]}" != count_group ] || keep_passed "$name" "$log"
}

# keep_passed GROUP LOG: count the tests of a group that have passed, and have only the others run again. A group that
# was cut off, or did not end well, is run again as a whole.
keep_passed() {
	local failures
	failures=$(sed -n 's/^not ok - //p' "$2" | paste -sd ,)
	grep -q '^ok - ends' "$2" && [ "$failures" ] || return 0
	grep -vE '^not ok - |^ok - (ends|sanitizers)$' "$2" > "$work/passed"
	count_group_tests "$1" "$work/passed"
	command_of[$1]+=$(printf -- '--names %q' "$failures")
}

finish_tests() {
	local name
	note_cpu_time
	while begin_some && [ $((${#running[@]} + ${#again[@]})) -gt 0 ]; do
		if [ "${#running[@]}" -gt 0 ]; then finish_one; else run_again; fi
	done
	for name in "${queue[@]}"; do count "not ok" "$name" "${after_of[$name]} has failed"; done
	queue=()
}

# run_again: start the second run of the first test in again.
run_again() {
	local pid rc=0 name log start
	begin "${again[0]}"
	again=("${again[@]:1}")
	pid=$!
	wait "$pid" || rc=$?
	note_cpu_time
	read -r name log start <<< "${running[$pid]}"
	unset "running[$pid]"
	[ "$rc" -ne 0 ] || { ended[$name]=yes; second_runs+=("$name"); }
	"${counted_by[$name]}" "$name" "$rc" "$log" "$start"
}

# count_group NAME STATUS LOG START: count the tests of a program that reports them in lines "ok - test",
# "not ok - test" and "skip - test: why". Its exit status counts as one more test.
count_group() {
	count_group_tests "$1" "$3"
	if [ "$2" -eq 0 ] && grep -q '^ok - ' "$3"; then
		count ok "$1 ends well" "$(took "$4")"
	else
		count "not ok" "$1 ends well" "$(why "$2" "$4")" "$3"
		tell_log "$3"
	fi
}

# count_group_tests NAME LOG: count each result; the lines that follow "not ok - test" are the log of that test.
count_group_tests() {
	local line
	while read -r line; do
		[[ $line != not* ]] || awk -v begin="$line" '
			/^(ok|not ok|skip) - / { about = $0 == begin }
			about' "$2" > "$work/about"
		count "${line%% - *}" "$1/${line#* - }" "" "$work/about"
	done < <(grep -E '^(ok|not ok|skip) - ' "$2")
}

# count_line PREFIX LINE: count a result in the output of a program that uses this file; print other lines.
count_line() {
	case $2 in
	"   ok      "*) count ok "$1/${2#"   ok      "}" ;;
	"   not ok  "*) count "not ok" "$1/${2#"   not ok  "}" ;;
	"   skip    "*) count skip "$1/${2#"   skip    "}" ;;
	"== "*) printf '\n== %s: %s\n' "$1" "${2#== }" ;;
	*passed,*failed,*skipped | "CPU time: "* | "") ;;
	*) printf '%s\n' "$2" ;;
	esac
}

# count_nested NAME STATUS LOG START: count the tests of a program that uses this file. It has run its tests again
# itself.
count_nested() {
	local line before=$failed
	while IFS= read -r line; do count_line "$1" "$line"; done < "$3"
	[ "$2" -eq 0 ] || [ "$failed" -gt "$before" ] || count "not ok" "$1 ends well" "$(why "$2" "$4")" "$3"
	say "$1: $(took "$4")"
}

# summary: the last line counts the tests. The exit status is 0 if some were run and none has failed.
summary() {
	echo
	[ -z "$repeat" ] || tell_repeated
	note_cpu_time
	echo "CPU time: $((cpu_time_of_all / 60)) min"
	[ "${#second_runs[@]}" -eq 0 ] ||
		echo "${#second_runs[@]} needed a second run: ${second_runs[*]}"
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

tell_repeated() {
	local name names
	mapfile -t names < <(printf '%s\n' "${!failures_of[@]}" | sort | sed '/^$/d')
	for name in "${names[@]}"; do
		printf '   %s: %d of %d failed\n%s' "$name" "${failures_of[$name]}" "${runs_of[$name]}" \
			"${reasons_of[$name]}"
	done
	say "$((${#runs_of[@]} - ${#failures_of[@]})) of ${#runs_of[@]} tests never failed"
}
