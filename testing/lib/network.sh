# SPDX-License-Identifier: GPL-2.0-or-later
# A network with both gateways running, for a scenario or the demo. Sourced.

lib=$top/testing/lib
for file in say wait output cleanup hugepages build netns pki charon guest cygnetd databases capture watch counters ipv6 traffic tunnel frr; do
	# shellcheck source=/dev/null
	. "$lib/$file.sh"
done

# A folder for the files of this run.
make_work() {
	work=$(mktemp -d "/tmp/cyg-$$.XXXXXX")
	chmod 711 "$work" # cygnetd, which is not root, reads its configuration again
	defer rm -rf "$work"
}

# read_scenario NAME: run its scenario.sh, which defines the function steps and may set:
#   left, right                       kinds of the gateways
#   sides                             names of the gateways, if there are more than left and right
#   daemon, workers, preload, side_options   arrays by side; preload is a library for charon
#   idle, no_policy                   options of cygnetd
#   port_sections                     further sections of cygnetd.conf, of VLANs
#   auth                              psk or cert
#   charon_options                    lines for all charons
#   segment, uplink, more_network     arrays and a function, for more network than one wire
#   conf                              the scenario whose left.conf and right.conf are used where it has none
read_scenario() {
	scenario=$top/testing/scenarios/$1
	[ -f "$scenario/scenario.sh" ] || die "there is no scenario $1"
	sides="left right" left=cygnet right=cygnet auth=psk conf=net2net-psk charon_options=
	unset workers daemon preload side_options
	declare -gA workers=() daemon=() preload=() side_options=()
	# shellcheck source=/dev/null
	. "$scenario/scenario.sh"
}

# conf_of SIDE: print the path of its swanctl.conf.
conf_of() {
	local own=$scenario/$1.conf
	[ -f "$own" ] && echo "$own" || echo "$top/testing/scenarios/$conf/$1.conf"
}

# start_gateways ENGINE [CMD...]: create the scenario's network, run CMD in it, and start the gateways.
start_gateways() {
	local side
	# shellcheck disable=SC2086
	add_network $sides
	"${@:2}"
	for side in $sides; do
		case ${!side} in
		cygnet) start_cygnetd "$side" "$1" ;;
		kernel) start_guest "$side" ;;
		esac
	done
	for side in $sides; do
		case ${!side} in
		cygnet) await_cygnetd "$side"; meet_host "$side" ;;
		kernel) await_guest "$side" ;;
		esac
		start_charon "$side" "$(conf_of "$side")" "$auth"
	done
	for side in $sides; do
		await_charon "$side"
	done
}
