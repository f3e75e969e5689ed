# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of a command's output. The command must succeed: no output of a command that fails proves nothing. The whole
# output is read before it is searched: grep -q exits at its first match, the command dies of SIGPIPE, and with pipefail
# that is a failure. Sourced.

# prints REGEX CMD...: CMD succeeds, and a line of its output matches.
prints() {
	local output
	output=$("${@:2}") && grep -qE -- "$1" <<< "$output"
}

# prints_no REGEX CMD...: CMD succeeds, and no line of its output matches.
prints_no() {
	local output
	output=$("${@:2}") && ! grep -qE -- "$1" <<< "$output"
}

# prints_nothing CMD...: CMD succeeds without output.
prints_nothing() {
	local output
	output=$("$@") && [ -z "$output" ]
}
