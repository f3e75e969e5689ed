# SPDX-License-Identifier: GPL-2.0-or-later
# Huge pages for EAL. Their number is the machine's, and several runs may change it at once, so a run adds the pages that
# it needs and takes them away again. Sourced.

nr_hugepages=/proc/sys/vm/nr_hugepages

# reserve_hugepages N: so many more pages of 2 MiB, until this run ends.
reserve_hugepages() {
	say "reserving $1 huge pages"
	defer change_hugepages "-$1"
	change_hugepages "$1" || die "no $1 more huge pages of 2 MiB to be had"
}

# change_hugepages N: fails if there are fewer afterwards than wanted.
change_hugepages() {
	local lock wanted rc=0
	exec {lock}< "$nr_hugepages"
	flock "$lock"
	wanted=$(($(cat "$nr_hugepages") + $1))
	[ "$wanted" -ge 0 ] || wanted=0
	echo "$wanted" > "$nr_hugepages"
	[ "$(cat "$nr_hugepages")" -ge "$wanted" ] || rc=1
	exec {lock}>&-
	return "$rc"
}
