# SPDX-License-Identifier: GPL-2.0-or-later
# CHILD_SAs and what they have carried, as charon says and as the dataplane does.
# Sourced by scenario.

# Set when counters have been compared with what was sent: every scenario does it.
compared=

# charon_sas SIDE, dataplane_sas SIDE: direction, SPI, protocol, mode, whether in UDP, whether
# with ESN, packets and bytes of all that are in use. charon's are of established IKE_SAs.
charon_sas() {
	swanctl_on "$1" --list-sas --raw | awk '
		/ state=ESTABLISHED / {
			for (n = split($0, children, "{name="); n > 1; n--) show(children[n])
		}
		function show(child, sa, words, i) {
			sub(/[{}].*/, "", child)
			split("", sa)
			for (i = split(child, words, " "); i; i--)
				sa[substr(words[i], 1, index(words[i], "=") - 1)] = \
					substr(words[i], index(words[i], "=") + 1)
			if (sa["state"] != "INSTALLED") return
			for (i = 1; i <= 2; i++) print_one(sa, i == 1 ? "in" : "out")
		}
		function print_one(sa, dir) {
			print dir, sa["spi-" dir], tolower(sa["protocol"]), tolower(sa["mode"]),
				("encap" in sa ? sa["encap"] : "no"), ("esn" in sa ? "yes" : "no"),
				sa["packets-" dir], sa["bytes-" dir]
		}' | sort
}

dataplane_sas() {
	sad "$1" '.[] | select(.state == "live") |
		[.dir, .spi[2:], .proto, .mode, if .encap == "udp" then "yes" else "no" end,
		 if .esn then "yes" else "no" end, .packets, .bytes] | join(" ")' | sort
}

# known_sas SIDE: the dataplane's, if old_sas is stay without those that charon has rekeyed.
known_sas() {
	if [ "${old_sas:-}" = stay ]; then
		dataplane_sas "$1" | grep -F "$(charon_sas "$1" | cut -d ' ' -f 2)"
	else
		dataplane_sas "$1"
	fi
}

# SAs of each side, in charon's words, when they were last looked at.
declare -A seen_sas=()

# What each side takes in, and what each sends: the same SPIs. (Between two of three gateways,
# too.) There is an IKE_SA, and what charon calls installed is what cygnetd has.
sas_fit() {
	local side all=""
	for side in $sides; do
		seen_sas[$side]=$(charon_sas "$side")
		[ -n "${seen_sas[$side]}" ] || return
		[ "${!side}" != cygnet ] || same_sas "${seen_sas[$side]}" "$(known_sas "$side")" || return
		all+=${seen_sas[$side]}$'\n'
	done
	[ "$(spis_of in <<< "$all")" = "$(spis_of out <<< "$all")" ]
}

same_sas() { [ "$(cut -d ' ' -f -6 <<< "$1")" = "$(cut -d ' ' -f -6 <<< "$2")" ]; }
spis_of() { sed -n "s/^$1 \([^ ]* [^ ]* [^ ]* [^ ]*\).*/\1/p" | sort; }

# After a rekeying the old ones stay for a while.
expect_sas() { expect "all sides have the same SAs" wait_for 30 sas_fit; }

# note_counters, expect_counted PACKETS BYTES [SIDE...]: since then (or since expect_sas) all
# CHILD_SAs of a side together have carried so many in either direction, as its charon says,
# and as cygnetd does.
note_counters() {
	local side
	for side in $sides; do seen_sas[$side]=$(charon_sas "$side"); done
}

# still: the counters are noted, and stay for half a second. On a busy machine packets are under way when ping has gone.
still() {
	note_counters
	sleep 0.5
	[ "${seen_sas[left]}" = "$(charon_sas left)" ]
}

expect_counted() {
	local side what="$1 $2"
	[ $# -gt 2 ] || set -- "$@" left right
	for side in "${@:3}"; do expect_carried "$side" "$what" "$what"; done
}

# expect_carried SIDE "PACKETS BYTES" "PACKETS BYTES": in and out
expect_carried() {
	local now
	now=$(charon_sas "$1")
	expect_output "packets and bytes in on the $1" "$2" carried in "${seen_sas[$1]}" "$now"
	expect_output "packets and bytes out on the $1" "$3" carried out "${seen_sas[$1]}" "$now"
	[ "${!1}" != cygnet ] ||
		expect "$1's charon and cygnetd count alike" same "$now" "$(known_sas "$1")"
	compared=yes
}

# carried DIRECTION BEFORE NOW: packets and bytes of all SAs, now less before.
carried() {
	{ sed 's/^/-/' <<< "$2"; echo "$3"; } | awk -v "dir=$1" '
		$1 == dir { packets += $7; bytes += $8 }
		$1 == "-" dir { packets -= $7; bytes -= $8 }
		END { print packets + 0, bytes + 0 }'
}

same() { [ "$1" = "$2" ] || { diff <(echo "$1") <(echo "$2"); return 1; }; }
