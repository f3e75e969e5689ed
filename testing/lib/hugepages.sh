# SPDX-License-Identifier: GPL-2.0-or-later
# Huge pages for EAL. Their number is a setting of the machine, which several runs may change at once, so a run adds the
# pages that it needs and removes as many at its end. What a run has is in a file that is named by its process; pages of a
# run that was killed are removed by the next one. Sourced.

nr_hugepages=/proc/sys/vm/nr_hugepages my_hugepages=/run/cyg-$$-hugepages

# reserve_hugepages N: add N pages of 2 MiB until this run ends. Called once. Retried for half a minute: the kernel may
# have to compact memory, or another run may release pages.
reserve_hugepages() {
	local tries
	say "reserving $1 huge pages"
	defer locked release_hugepages
	for ((tries = 30; tries; tries--)); do
		! locked add_hugepages "$1" || return 0
		echo 1 > /proc/sys/vm/compact_memory
		sleep 1
	done
	die "no $1 more huge pages of 2 MiB to be had: $(grep -E '^(MemAvailable|HugePages_Total)' /proc/meminfo | tr -s '\n ' ' ')"
}

# locked FUNCTION [ARGUMENT...]: alone among all runs, and not interrupted in the middle.
locked() (
	trap '' INT TERM HUP
	exec {lock}< "$nr_hugepages"
	flock "$lock"
	"$@"
)

# add_hugepages N: all of them or none. The file comes last: without it the pages are lost if this is killed, but none of
# another run are.
add_hugepages() {
	local before
	forget_killed
	before=$(cat "$nr_hugepages")
	echo "$((before + $1))" > "$nr_hugepages"
	if [ "$(cat "$nr_hugepages")" -lt "$((before + $1))" ]; then
		echo "$before" > "$nr_hugepages"
		return 1
	fi
	echo "$1" > "$my_hugepages.new" && mv "$my_hugepages.new" "$my_hugepages"
}

release_hugepages() { ! [ -e "$my_hugepages" ] || remove_hugepages "$my_hugepages"; }

forget_killed() {
	local file pid
	for file in /run/cyg-*-hugepages; do
		pid=${file#/run/cyg-}
		! [ -e "$file" ] || [ -e "/proc/${pid%-hugepages}" ] || remove_hugepages "$file"
	done
}

remove_hugepages() {
	local left
	left=$(($(cat "$nr_hugepages") - $(cat "$1")))
	echo "$((left > 0 ? left : 0))" > "$nr_hugepages"
	rm "$1"
}
