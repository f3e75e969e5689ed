# SPDX-License-Identifier: GPL-2.0-or-later
# Stock charon, or charon-systemd where the array daemon says so, one per gateway,
# each with files of its own. Sourced.
#
# charon and swanctl are run from copies: Debian's AppArmor profiles apply to the paths of the installed
# programs, and deny them the folders of a test.

# Plugins of charon, and of swanctl, which would otherwise warn of each default plugin that is not installed.
swanctl_plugins="random nonce openssl aes sha1 sha2 hmac kdf gcm pem x509 pubkey pkcs1 pkcs8 constraints revocation"
charon_plugins="$swanctl_plugins socket-default kernel-netlink vici"

# The installed program, or the one that lib/deps.sh has unpacked.
charon_systemd() {
	local installed=/usr/sbin/charon-systemd
	[ -x "$installed" ] || installed=${CYGNET_CACHE:-/var/cache/cygnet}/charon-systemd/usr/sbin/charon-systemd
	echo "$installed"
}

copy_charon() {
	[ -d "$work/bin" ] && return
	mkdir "$work/bin"
	cp /usr/lib/ipsec/charon /usr/sbin/swanctl "$work/bin/"
	# Only the scenarios of charon-systemd need it.
	[ ! -x "$(charon_systemd)" ] || cp "$(charon_systemd)" "$work/bin/"
}

# vici_uri SIDE, charon_log SIDE: socket and log of charon, which on a virtual machine are inside it.
vici_uri() { [ "${!1}" = kernel ] && echo "$guest_vici" || echo "unix://$work/$1/charon.vici"; }
charon_log() { [ "${!1}" = kernel ] && echo /run/charon.log || echo "$work/$1/charon.log"; }

# Plugins are listed by name, so that /etc/strongswan.d of the system has no effect; kernel-cygnet is
# configured as in the snippet that it installs. A scenario's charon_options are lines for every charon,
# its side_options those for the charon of one side.
write_strongswan_conf() {
	local side=$1 dir=$work/$1 name
	echo "${daemon[$side]:-charon} {"
	echo "  load_modular = yes"
	echo "  retransmit_tries = 5"
	echo "  retransmit_timeout = 1"
	echo "  filelog { log { path = $(charon_log "$side")"
	echo "    flush_line = yes"
	echo "    time_format = %T"
	echo "    knl = ${charon_knl:-2}"
	echo "  } }"
	echo "  $charon_options"
	echo "  ${side_options[$side]:-}"
	echo "  plugins {"
	for name in $charon_plugins; do
		echo "    $name { load = yes }"
	done
	echo "    vici { socket = $(vici_uri "$side") }"
	case ${!side} in
	cygnet)
		echo "    include $root/etc/strongswan.d/charon/kernel-cygnet.conf"
		echo "    kernel-cygnet { path = $dir/sadb }"
		echo "    kernel-cygnet { on_disk = yes }"
		;;
	libipsec) echo "    kernel-libipsec { load = yes }" ;;
	esac
	echo "  }"
	echo "}"
	echo "swanctl { load = $swanctl_plugins }"
}

# The mount namespace of a charon has its own /run for the PID file, and our plugin in Debian's plugin
# folder, unless a package has installed it there.
run_charon() {
	local dir=$1 kind=$2 daemon=$3 preload=$4
	mount -t tmpfs tmpfs /run || exit
	if [ "$kind" = cygnet ] && ! [ "$root/lib/ipsec/plugins" -ef /usr/lib/ipsec/plugins ]; then
		mount -t overlay overlay \
			-o "lowerdir=$root/lib/ipsec/plugins:/usr/lib/ipsec/plugins" \
			/usr/lib/ipsec/plugins || exit
	fi
	export STRONGSWAN_CONF=$dir/strongswan.conf
	[ -z "$preload" ] || export LD_PRELOAD=$preload KERNEL_TIMES=$dir/kernel-times
	exec "$work/bin/$daemon"
}
export -f run_charon

# start_charon SIDE CONF AUTH, await_charon SIDE: start charon with swanctl.conf CONF, and with the
# certificates of SIDE if AUTH is cert; await_charon returns when they are loaded.
start_charon() {
	local side=$1 dir=$work/$1
	copy_charon
	mkdir -p "$dir/swanctl"
	cp "$2" "$dir/swanctl/swanctl.conf"
	[ "$3" != cert ] || issue_certificate "$side" "$dir/swanctl"
	write_strongswan_conf "$side" > "$dir/strongswan.conf"
	spawn_charon "$side"
}

spawn_charon() {
	local side=$1 dir=$work/$1
	if [ "${!side}" = kernel ]; then
		run_guest_charon "$side"
	else
		rm -f "$dir/charon.vici"
		export root work
		spawn "charon-$side" "$dir/charon.out" ip netns exec "$net_prefix-gw-$side" \
			bash -c 'run_charon "$@"' charon "$dir" "${!side}" "${daemon[$side]:-charon}" \
			"${preload[$side]:-${charon_preload:-}}"
	fi
}

await_charon() {
	wait_for 30 charon_answers "$1" || charon_failed "$1"
	[ "${!1}" = kernel ] || alive "charon-$1" || charon_failed "$1"
	quiet "$work/$1/swanctl.out" swanctl_on "$1" --load-all --noprompt
}

restart_charon() { spawn_charon "$1"; await_charon "$1"; }

charon_answers() {
	[ "${!1}" = kernel ] || alive "charon-$1" || return 0
	swanctl_on "$1" --stats > /dev/null 2>&1
}

charon_failed() {
	tell_charon "$1" >&2
	die "charon $1 does not start"
}

tell_charon() {
	if [ "${!1}" = kernel ]; then
		guest_do "$1" 'grep -v "[[:space:]]0$" /proc/net/xfrm_stat
			cat /proc/net/dev /proc/net/softnet_stat
			grep -hE "^(Ip|TcpExt|IpExt):" /proc/net/snmp /proc/net/netstat
			tail -n 60 /run/charon.log /run/charon.out'
	else
		tail -n 60 "$work/$1/charon.out" "$work/$1/charon.log"
	fi
}

# swanctl_on SIDE ARGUMENT...
swanctl_on() {
	local side=$1 dir=$work/$1 command=$2
	shift 2
	SWANCTL_DIR=$dir/swanctl STRONGSWAN_CONF=$dir/strongswan.conf in_ns "gw-$side" \
		"$work/bin/swanctl" "$command" "$@" --uri "$(vici_uri "$side")"
}

# tunnel_up SIDE [CHILD]: negotiate the CHILD_SA, "net" if not named.
tunnel_up() {
	quiet "$work/$1/initiate.out" swanctl_on "$1" --initiate --child "${2:-net}" --timeout "$(scaled 20)"
}

# tunnel_down SIDE [CHILD]: terminate the CHILD_SA.
tunnel_down() {
	quiet "$work/$1/terminate.out" swanctl_on "$1" --terminate --child "${2:-net}" --timeout "$(scaled 20)"
}

# connection_down SIDE: terminate the IKE_SA with its CHILD_SAs.
connection_down() {
	quiet "$work/$1/terminate.out" swanctl_on "$1" --terminate --ike gw-gw --timeout "$(scaled 20)"
}

# established SIDE [CHILD], gone_from SIDE [CHILD]: whether it is installed, or not any more.
# child_id SIDE [CHILD]: print the number of the newest installed one.
established() { prints "${2:-net}:.*INSTALLED" swanctl_on "$1" --list-sas; }
gone_from() { prints_no "${2:-net}:.*INSTALLED" swanctl_on "$1" --list-sas; }
child_id() {
	swanctl_on "$1" --list-sas | sed -n "s/^ *${2:-net}: #\([0-9]*\),.*INSTALLED.*/\1/p" |
		sort -n | tail -n 1
}

# ike_id SIDE [CONNECTION]: print the number of the newest IKE_SA of the connection (gw-gw).
ike_id() {
	swanctl_on "$1" --list-sas | sed -n "s/^${2:-gw-gw}: #\([0-9]*\), ESTABLISHED.*/\1/p" | sort -n | tail -n 1
}

# rekey SIDE [CHILD], rekey_ike SIDE [OPTION]
rekey() { quiet "$work/$1/rekey.out" swanctl_on "$1" --rekey --child "${2:-net}"; }
rekey_ike() { quiet "$work/$1/rekey.out" swanctl_on "$1" --rekey --ike gw-gw "${@:2}"; }

# acquires SIDE HERE THERE: print how many acquires for traffic between the hosts charon has received;
# HERE and THERE are protocol and port at the two ends.
acquires() {
	local to
	to=$(other "$1")
	grep -cF "acquire job for policy ${host_addr[$1]}/32[$2] === ${host_addr[$to]}/32[$3] with" \
		"$work/$1/charon.log" || true
}
asked_for() { [ "$(acquires "$@")" -gt 0 ]; }
