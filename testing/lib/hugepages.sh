# SPDX-License-Identifier: GPL-2.0-or-later
# Huge pages for EAL. The number is the machine's, so it is only ever raised,
# and put back unless somebody else has changed it meanwhile. Sourced.

nr_hugepages=/proc/sys/vm/nr_hugepages

hugepages_free() { awk '/^HugePages_Free/ { print $2 }' /proc/meminfo; }

# reserve_hugepages N: so many free ones of 2 MiB.
reserve_hugepages() {
	local before free
	before=$(cat "$nr_hugepages")
	free=$(hugepages_free)
	[ "$free" -lt "$1" ] || return 0
	say "reserving huge pages: $before -> $((before + $1 - free))"
	echo $((before + $1 - free)) > "$nr_hugepages"
	defer restore_hugepages "$before" "$(cat "$nr_hugepages")"
	[ "$(hugepages_free)" -ge "$1" ] || die "no $1 free huge pages of 2 MiB to be had"
}

restore_hugepages() {
	[ "$(cat "$nr_hugepages")" = "$2" ] || return 0
	echo "$1" > "$nr_hugepages"
}
