# SPDX-License-Identifier: GPL-2.0-or-later
# Messages for people. Sourced.

# heading TEXT: with the time since the start of the script, once it is a minute.
heading() {
	local after=
	[ "$SECONDS" -lt 60 ] || after="  ($((SECONDS / 60)) min $((SECONDS % 60)) s)"
	printf '\n== %s%s\n' "$*" "$after"
}

say() { printf '   %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# show PROMPT CMD...: print the command line behind PROMPT, and its output, indented.
show() {
	printf '   %s\n' "$1"
	shift
	"$@" 2>&1 | sed 's/^/     /'
	return "${PIPESTATUS[0]}"
}

# quiet LOG CMD...: output goes to the log, which is shown if the command fails.
quiet() {
	local log=$1
	shift
	"$@" > "$log" 2>&1 && return
	local rc=$?
	printf '   failed (%d): %s\n' "$rc" "$*" >&2
	tail -n 60 "$log" | sed 's/^/   | /' >&2
	return "$rc"
}
