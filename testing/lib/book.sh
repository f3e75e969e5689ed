# SPDX-License-Identifier: GPL-2.0-or-later
# The blocks of README.md and of the book, docs/*.md. Sourced.
#
# The line before a block says what becomes of it, and docs/tests/test-book that no block is without:
#
#   <!-- run -->                each line is a command line behind "# ", run by testing/docs on its gateway
#   <!-- run on the host -->    the same behind "$ ", on a host of the gateway's LAN
#   <!-- file PATH -->          testing/docs writes the block to that file on the gateway
#   <!-- testing/deb: NAME -->  command lines behind "# ", run by testing/deb, in as_documented
#   <!-- not run: WHY -->       WHY names the test that does the same, or what is missing for one
#
# Blocks of the language text, drawings and outputs, need none.

# blocks PAGE: print each marked block of the file in a line: the mark, a tab, and the block's lines, a record separator
# behind each.
blocks() {
	awk '
		inside && /^ *```/ { print mark "\t" text; mark = ""; inside = 0; next }
		inside { text = text $0 "\036"; next }
		/^ *```/ { inside = 1; text = ""; next }
		{ mark = "" }
		match($0, /^ *<!-- .* -->$/) { mark = $0; sub(/^ *<!-- /, "", mark); sub(/ -->$/, "", mark) }' "$1"
}

# block_of PAGE MARK: print the block that has this mark.
block_of() {
	blocks "$1" | MARK="$2	" awk 'index($0, ENVIRON["MARK"]) == 1 { printf "%s", substr($0, length(ENVIRON["MARK"]) + 1) }' |
		tr '\036' '\n'
}

# commands_of PROMPT: print the command lines of the block in standard input.
commands_of() { sed -n "s/^ *$1 //p"; }

# documented PAGE NAME: print the command lines of the block for testing/deb.
documented() { block_of "$top/docs/$1.md" "testing/deb: $2" | commands_of '#'; }
