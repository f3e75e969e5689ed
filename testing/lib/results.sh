# SPDX-License-Identifier: GPL-2.0-or-later
# Runs tests, one line each, and counts. Sourced.

passed=0 failed=0 skipped=0
filters=()
test_pid=
# Tests in the background: by process id name, log and start. By name how they are counted, the
# limit in seconds and the command; those that have failed are in again until their second run.
declare -A running=() counted_by=() limit_of=() command_of=()
started=0 again=() second_runs=()

# selected NAME: whether the command line asks for it.
selected() {
	local filter
	[ "${#filters[@]}" -gt 0 ] || return 0
	for filter in "${filters[@]}"; do
		# shellcheck disable=SC2053
		[[ $1 == $filter* ]] && return 0
	done
	return 1
}

# count RESULT NAME [REMARK]: RESULT is ok, not ok or skip.
count() {
	case $1 in
	ok) passed=$((passed + 1)) ;;
	"not ok") failed=$((failed + 1)) ;;
	skip) skipped=$((skipped + 1)) ;;
	esac
	printf '   %-7s %s%s\n' "$1" "$2" "${3:+  ($3)}"
}

# start_limited SECONDS LOG CMD...: in the background, so that Ctrl-C and SIGTERM find us
# waiting; timeout gives it a process group, which ends as a whole. On a slow machine it has more
# time.
start_limited() {
	timeout -k "$(scaled 30)" "$(scaled "$1")" "${@:3}" > "$2" 2>&1 < /dev/null &
}

limited() {
	local rc=0
	start_limited "$@"
	test_pid=$!
	wait "$test_pid" || rc=$?
	test_pid=
	return "$rc"
}

end_test() {
	local pids=("${!running[@]}" ${test_pid:+"$test_pid"})
	[ "${#pids[@]}" -eq 0 ] && return
	kill -TERM "${pids[@]}" 2> /dev/null
	wait "${pids[@]}" 2> /dev/null
}

why() { if [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then echo "timed out"; else echo "exit status $1"; fi; }

# tell_log LOG: without the lines of a group's tests that have passed.
tell_log() { sed -E '/^(ok|skip) - /d; s/^/   | /' "$1"; }

# count_test NAME STATUS LOG START: one that has ended; exit status 77 skips.
count_test() {
	case $2 in
	0) count ok "$1" "$((SECONDS - $4)) s" ;;
	77) count skip "$1" "$(tail -n 1 "$3")" ;;
	*)
		count "not ok" "$1" "$(why "$2")"
		tell_log "$3"
		;;
	esac
}

# run_test NAME SECONDS CMD...: one test.
run_test() {
	local name=$1 limit=$2 log=$work/test.log rc=0 start=$SECONDS
	shift 2
	selected "$name" || return 0
	limited "$limit" "$log" "$@" || rc=$?
	count_test "$name" "$rc" "$log" "$start"
}

# start_test NAME SECONDS CMD..., start_group NAME SECONDS CMD..., finish_tests: what mostly
# waits, $at_once at a time. They are counted as they end. One that fails is run again, alone, when
# the others have ended, and only its second run is counted; unless its exit status is 99, which says
# that it has failed for a reason that no slow machine is. Of a group only the tests that failed are run again.
at_once=2
start_test() { start_counted count_test "$@"; }
start_group() { start_counted count_group "$@"; }

start_counted() {
	local name=$2 log=$work/test-$((++started)).log
	selected "$name" || return 0
	[ "${#running[@]}" -lt "$at_once" ] || finish_one
	counted_by[$name]=$1 limit_of[$name]=$3 command_of[$name]=$(printf '%q ' "${@:4}")
	start_limited "$3" "$log" "${@:4}"
	running[$!]="$name $log $SECONDS"
}

finish_one() {
	local pid rc=0 name log start
	wait -n -p pid "${!running[@]}" || rc=$?
	read -r name log start <<< "${running[$pid]}"
	unset "running[$pid]"
	case $rc in
	0 | 77 | 99) "${counted_by[$name]}" "$name" "$rc" "$log" "$start" ;;
	*)
		again+=("$name")
		printf '   %-7s %s  (%s: it is run again, alone)\n' again "$name" "$(why "$rc")"
		tell_log "$log"
		[ "${counted_by[$name]}" != count_group ] || keep_passed "$name" "$log"
		;;
	esac
}

# keep_passed GROUP LOG: count its tests that have passed, and run the others again. A group that was
# cut off, or did not end well, is run again as a whole.
keep_passed() {
	local failures
	failures=$(sed -n 's/^not ok - //p' "$2" | paste -sd ,)
	grep -q '^ok - ends' "$2" && [ "$failures" ] || return 0
	count_group_tests "$1" <(grep -vE '^not ok - |^ok - (ends|sanitizers)$' "$2")
	command_of[$1]+=$(printf -- '--names %q' "$failures")
}

finish_tests() {
	local name
	while [ "${#running[@]}" -gt 0 ]; do finish_one; done
	for name in "${again[@]}"; do run_again "$name"; done
	again=()
}

run_again() {
	local name=$1 log=$work/test-$((++started)).log rc=0 start=$SECONDS command
	eval "command=(${command_of[$name]})"
	limited "${limit_of[$name]}" "$log" "${command[@]}" || rc=$?
	[ "$rc" -ne 0 ] || second_runs+=("$name")
	"${counted_by[$name]}" "$name" "$rc" "$log" "$start"
}

# count_group NAME STATUS LOG START: a program that reports its own tests, in lines
# "ok - test", "not ok - test" and "skip - test: why". Its end is a test, too.
count_group() {
	count_group_tests "$1" "$3"
	if [ "$2" -eq 0 ] && grep -q '^ok - ' "$3"; then
		count ok "$1 ends well" "$((SECONDS - $4)) s"
	else
		count "not ok" "$1 ends well" "$(why "$2")"
		tell_log "$3"
	fi
}

# count_group_tests NAME LOG
count_group_tests() {
	local line
	while read -r line; do
		count "${line%% - *}" "$1/${line#* - }"
	done < <(grep -E '^(ok|not ok|skip) - ' "$2")
}

# reasons LOG: the lines in which our checks, cmocka's or a sanitizer say what has failed. They may
# stand far above the end: cmocka goes on with the other tests, a sanitizer with what it has seen.
reasons() {
	grep -aE -m 20 ': failed: |^test-[a-z-]+: |^\[ +(ERROR|LINE|FAILED) +\]|Sanitizer|: runtime error: ' "$1" ||
		true
}

# count_make_check NAME BUILD: the results that automake left of make check.
count_make_check() {
	local trs program result
	while read -r trs; do
		program=${trs#"$2/"}
		program=${program%.trs}
		result=$(sed -n 's/^:test-result: *//p' "$trs")
		case $result in
		PASS*) count ok "$1/$program" ;;
		SKIP*) count skip "$1/$program" "$(tail -n 1 "${trs%.trs}.log")" ;;
		*)
			count "not ok" "$1/$program"
			reasons "${trs%.trs}.log" | sed 's/^/   > /'
			tail -n 60 "${trs%.trs}.log" | sed 's/^/   | /'
			;;
		esac
	done < <(find "$2" -name '*.trs' -not -path "*/root/*" | sort)
}

summary() {
	echo
	[ "${#second_runs[@]}" -eq 0 ] ||
		echo "${#second_runs[@]} needed a second run: ${second_runs[*]}"
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
