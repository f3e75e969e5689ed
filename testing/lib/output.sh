# SPDX-License-Identifier: GPL-2.0-or-later
# What a command prints. Who fails has not said that there is nothing, and the whole output is read first: a program that
# writes to a grep -q that has found its line dies of SIGPIPE, which with pipefail is a failure. Sourced.

# prints REGEX CMD...: it succeeds, and a line matches.
prints() {
	local output
	output=$("${@:2}") && grep -qE -- "$1" <<< "$output"
}

# prints_no REGEX CMD...: it succeeds, and no line matches.
prints_no() {
	local output
	output=$("${@:2}") && ! grep -qE -- "$1" <<< "$output"
}

# prints_nothing CMD...: it succeeds.
prints_nothing() {
	local output
	output=$("$@") && [ -z "$output" ]
}
