# SPDX-License-Identifier: GPL-2.0-or-later
# CHILD_SAs and their packet counters, as reported by charon and by the dataplane.
# Sourced by scenario.

# Set once counters have been compared with what was sent; a scenario fails if this never happened.
compared=

# charon_sas SIDE, dataplane_sas SIDE: direction, SPI, protocol, mode, whether in UDP, whether
# with ESN, packets and bytes of all SAs in use. charon_sas lists those of established IKE_SAs.
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

# known_sas SIDE: print the SAs of the dataplane; with old_sas=stay only those that charon lists.
known_sas() {
	if [ "${old_sas:-}" = stay ]; then
		dataplane_sas "$1" | grep -F "$(charon_sas "$1" | cut -d ' ' -f 2)"
	else
		dataplane_sas "$1"
	fi
}

# Output of charon_sas for each side at the last note_counters or expect_sas.
declare -A seen_sas=()

# The SPIs of the inbound SAs of one side are those of the outbound SAs of the other, also between two of
# three gateways; there is an IKE_SA, and the SAs that charon lists as installed are those of cygnetd.
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

# expect_sas: wait until sas_fit, because after a rekeying the old SAs stay for a while.
expect_sas() { expect "all sides have the same SAs" wait_for 30 sas_fit; }

# note_counters, expect_counted PACKETS BYTES [SIDE...]: since note_counters (or expect_sas) all CHILD_SAs
# of a side together have carried so many packets and bytes in each direction, by the counters of charon
# and by those of cygnetd.
note_counters() {
	local side
	for side in $sides; do seen_sas[$side]=$(charon_sas "$side"); done
}

# still: note the counters once they have not changed for half a second: on a busy machine packets may still be in
# flight when ping has ended.
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

# expect_carried SIDE "PACKETS BYTES" "PACKETS BYTES": carried inbound and outbound since note_counters
expect_carried() {
	local now
	now=$(charon_sas "$1")
	expect_output "packets and bytes in on the $1" "$2" carried in "${seen_sas[$1]}" "$now"
	expect_output "packets and bytes out on the $1" "$3" carried out "${seen_sas[$1]}" "$now"
	[ "${!1}" != cygnet ] ||
		expect "$1's charon and cygnetd count alike" same "$now" "$(known_sas "$1")"
	compared=yes
}

# carried DIRECTION BEFORE NOW: print the packets and bytes of all SAs in NOW minus those in BEFORE.
carried() {
	{ sed 's/^/-/' <<< "$2"; echo "$3"; } | awk -v "dir=$1" '
		$1 == dir { packets += $7; bytes += $8 }
		$1 == "-" dir { packets -= $7; bytes -= $8 }
		END { print packets + 0, bytes + 0 }'
}

# carried_in SIDE PACKETS: whether the SAs of SIDE have carried so many packets inbound since note_counters.
# all_arrived PACKETS: whether this holds for left and right.
carried_in() { [[ $(carried in "${seen_sas[$1]}" "$(charon_sas "$1")") = "$2 "* ]]; }
all_arrived() { carried_in left "$1" && carried_in right "$1"; }

same() { [ "$1" = "$2" ] || { diff <(echo "$1") <(echo "$2"); return 1; }; }
