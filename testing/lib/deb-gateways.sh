# SPDX-License-Identifier: GPL-2.0-or-later
# Two gateways that have the packages, for testing/deb: install, upgrade, remove and purge. Sourced after
# machine.sh and deb-packages.sh.

sides="left right" left=cygnet right=cygnet
scenario=$top/testing/scenarios/net2net-psk
declare -A trap=([left]="start_action = trap" [right]=) policies=([left]=6 [right]=3)
ours="cygnetd cygnetd-opencl libcygnet0 strongswan-kernel-cygnet cygnet-doc cygnet-exporter libcygnet-dev"

# make_gateway_root NAME [PACKAGE...]: a gateway before our packages are installed: strongSwan, systemd, and the
# dependencies of our packages.
make_gateway_root() {
	local package needs
	mapfile -t needs < <(
		for package in $(installable "$packages/first"); do dpkg-deb -f "$package" Depends; echo; done |
			tr , '\n' | sed 's/|.*//; s/(.*//; s/ //g; /^$/d' | sort -u | grep -vxF "${ours//[[:space:]]/$'\n'}" |
			if [ "$release" = bookworm ]; then grep -vx openssl-provider-legacy; else cat; fi # that of libssl3
	)
	make_root "$release" "$1" "${@:2}" apparmor apt charon-systemd iproute2 libstrongswan-standard-plugins procps \
		strongswan-swanctl systemd systemd-sysv "${needs[@]}"
}

# files SIDE: print all files that a package may have left, with checksums. Left out are the records of dpkg and apt,
# files that the gateway's system writes (logs, its identity, networkd), users and groups, which stay, and a folder that
# dh_apparmor removes if empty.
files() {
	on "$1" sh -c 'cd / && find etc usr var/lib var/cache var/spool run lib bin sbin opt srv root home -xdev \
		\( -path var/lib/dpkg -o -path var/lib/apt -o -path var/cache/apt -o -path var/cache/debconf \
		   -o -path var/lib/systemd -o -path run/systemd -o -path run/log -o -path var/cache/ldconfig \
		   -o -path etc/ld.so.cache -o -path "etc/passwd*" -o -path "etc/group*" -o -path "etc/*shadow*" -o -path etc/apparmor.d/disable -o -path run/dbus -o -path run/user -o -path run/lock -o -path run/udev -o -path run/utmp \) \
		-prune -o \( -type f -exec sha256sum {} + \) -o \( -type s -o -type p \) -o -printf "%y %M %u:%g %p %l\n"' |
		sort -k 4 -k 2
}

# as_documented SIDE CHAPTER NAME: run the command lines that the book has for this, in the folder with the packages. In
# the book the interfaces are eth0 and eth1, and the addresses those of the left gateway. Of settings of the kernel a gateway here
# can change only those of its network.
as_documented() {
	local side=$1 line lines
	mapfile -t lines < <(documented "$2" "$3")
	[ "${#lines[@]}" -gt 0 ] || return
	for line in "${lines[@]}"; do
		line=${line//eth0/wan-veth} line=${line//eth1/lan-veth}
		line=${line//192.168.0.1\//${wan_addr[$side]}/} line=${line//10.1.0./${lan_net[$side]}.}
		echo "# $line"
		[[ $line == "sysctl --system"* ]] || on "$side" sh -c "cd /srv && $line" || return
	done
}

# apt asks nobody, and has no archive for what is only recommended.
quiet_apt() {
	put "$1" /etc/apt/apt.conf.d/90test <<-END
		APT::Get::Assume-Yes "true";
		APT::Install-Recommends "false";
	END
}

# As on a gateway that has no GPU; the upgrade brings cygnetd-opencl.
install_first() {
	local side=$1 package
	for package in $(installable "$2" | grep -v cygnetd-opencl); do put "$side" "/srv/${package##*/}" < "$package"; done
	as_documented "$side" packages install
	on "$side" sh -c 'apt-get -q install /srv/*.deb && rm -f /srv/*.deb'
}

# Where root may not raise the limit of locked memory, as in a container, systemd cannot either.
write_configuration() {
	local side=$1
	put "$side" /etc/cygnet/cygnetd.conf <<-END
		[cygnetd]
		idle = sleep
		$(bash -c 'ulimit -l unlimited' 2> /dev/null || echo lock_memory = no)
		[port wan]
		device = net_af_packet0,iface=wan-veth
		[port lan]
		device = net_af_packet1,iface=lan-veth
	END
	put "$side" /etc/systemd/network/wan.network <<-END
		[Match]
		Name=wan
		[Network]
		Address=${wan_addr[$side]}/24
		LinkLocalAddressing=no
	END
	put "$side" /etc/systemd/network/lan.network <<-END
		[Match]
		Name=lan
		[Network]
		Address=${lan_net[$side]}.1/24
		LinkLocalAddressing=no
	END
	sed "s/esp_proposals = .*/&\n\t\t\t\t${trap[$side]}/" "$scenario/$side.conf" | put "$side" /etc/swanctl/conf.d/gw.conf
}

remove_configuration() {
	on "$1" systemctl -q disable --now systemd-networkd.service systemd-networkd.socket
	on "$1" rm -rf /etc/systemd/network/wan.network /etc/systemd/network/lan.network \
		/etc/swanctl/conf.d/gw.conf /etc/systemd/system/cygnetd.service.d /run/systemd/netif
}

start_gateway() {
	on "$1" systemctl enable --now systemd-networkd
	as_documented "$1" packages start
}

# Print what may explain a failure.
tell_gateways() {
	local side
	for side in "${!init_of[@]}"; do
		{
			on "$side" systemctl --no-pager --lines=0 status cygnetd strongswan systemd-networkd
			on "$side" journalctl -b -q --no-pager -n 60
			on "$side" ip -brief address
		} 2>&1 | sed "s/^/   $side: /" || true
	done
}

status_is() { prints "$2" on "$1" systemctl show -p StatusText --value cygnetd; }
address_there() { prints "${wan_addr[$1]//./\\.}/24" ip -n "$net_prefix-gw-$1" -o address show dev wan 2> /dev/null; }
settled() { address_there "$1" && on "$1" systemctl is-active -q cygnetd strongswan; }
initiate() { on left swanctl --initiate --child net --timeout "$(scaled 20)"; }
talks() { [ "$( { pings left 20 0.02 || true; } | lost)" = 0 ]; }
pid_of() { on "$1" systemctl show -p MainPID --value "$2"; }
spis() { on "$1" cygnetctl --json show sad | jq -r '.[].spi' | sort; }
is_version() { [ "$(on "$1" dpkg-query -W -f '${Version}' "$2")" = "$3" ]; }

# fails COMMAND...: the command fails. (set -e ignores the status of "! COMMAND".)
fails() { if "$@"; then return 1; fi; }

# log_has SIDE PATTERN: wait for a line, because journald writes with a delay. The whole journal is searched, because
# journald may not know the unit of a process that has ended.
log_has() { wait_for 10 log_line "$@"; }
log_line() { on "$1" journalctl -b -q --no-pager | grep -E "$2"; }

# No line of the start is a warning, and it took less than 2 seconds, as systemd has it: with the default engine, and
# without OpenCL.
starts_quietly() {
	local began ready
	began=$(on "$1" systemctl show -p InactiveExitTimestampMonotonic --value cygnetd)
	ready=$(on "$1" systemctl show -p ActiveEnterTimestampMonotonic --value cygnetd)
	echo "$(((ready - began) / 1000)) ms"
	[ "$ready" -gt "$began" ]
	[ "$((ready - began))" -lt "$(($(scaled 2) * 1000000))" ]
	on "$1" journalctl -b -q --no-pager _SYSTEMD_UNIT=cygnetd.service | grep -c ready
	on "$1" journalctl -b -q --no-pager -p warning _SYSTEMD_UNIT=cygnetd.service | tee "$work/warnings"
	[ ! -s "$work/warnings" ]
}

# systemd's watchdog restarts a cygnetd whose threads are stopped.
stop_cygnetd() {
	local before
	put right /etc/systemd/system/cygnetd.service.d/watchdog.conf <<-END
		[Service]
		WatchdogSec=$(scaled 3)
	END
	on right systemctl daemon-reload
	on right systemctl restart cygnetd
	before=$(pid_of right cygnetd)
	wait_for 30 settled right
	on right kill -STOP "$before"
	wait_for 60 another_pid right "$before"
	wait_for 25 settled right
	log_has right 'cygnetd.service: Watchdog timeout'
	on right rm -r /etc/systemd/system/cygnetd.service.d
	on right systemctl daemon-reload
	on right systemctl restart cygnetd
	wait_for 25 settled right
}
another_pid() { ! [[ $(pid_of "$1" cygnetd) =~ ^(0|$2)$ ]] && on "$1" systemctl is-active -q cygnetd; }

# Another process takes over from the one that runs, as after an upgrade.
take_over() {
	local before
	before=$(pid_of left cygnetd)
	as_documented left operations "take over"
	wait_for 60 another_pid left "$before"
	log_has left 'process [0-9]* has taken over'
	wait_for 25 settled left
	wait_for 30 talks
}

# What the book says for a shared file of another version works with any. Not while a capture is to have nothing but
# ciphertext: without a charon the kernel answers IKE by ICMP.
restart_both() {
	as_documented right packages "restart both"
	wait_for 25 settled right
	on left swanctl --terminate --ike gw-gw --force || true
	initiate
	wait_for 30 talks
}

# upgrade SIDE [FOLDER]: upgrade all packages at once, as apt does, or go back.
upgrade() {
	local package
	for package in $(installable "$packages/${2:-newer}"); do put "$1" "/srv/${package##*/}" < "$package"; done
	on "$1" sh -c 'apt-get -q -y --no-install-recommends --allow-downgrades install /srv/*.deb && rm -f /srv/*.deb'
	wait_for 25 settled "$1"
}

# upgraded SIDE PID [VERSION]: all packages are of that version, and cygnetd is another process.
upgraded() {
	local package
	for package in $ours; do is_version "$1" "$package" "${3:-$newer}" || return; done
	[ "$(pid_of "$1" cygnetd)" != "$2" ]
}

# has_abi SIDE VERSION: of the shared file.
has_abi() { [ "$(on "$1" od -An -tu4 -j8 -N4 /run/cygnet/sadb | tr -d ' ')" = "$2" ]; }

# to_layout FOLDER VERSION ABI: the packages of the left gateway, whose shared file has another layout than the one that is in
# use, under traffic.
to_layout() {
	local before
	before=$(pid_of left cygnetd)
	upgrade left "$1"
	upgraded left "$before" "$2"
	has_abi left "$3"
	wait_for 30 talks # by the trap
}

# lans_hidden NAME: a capture has ESP, and no packet between the LANs that is not in it. Between two charons there may be ICMP
# errors about IKE.
lans_hidden() {
	[ "$(frames "$1" "${shape[esp]}")" -gt 0 ]
	[ "$(frames "$1" "$inside_net")" -eq 0 ]
}

# silence_below SECONDS: no gap between answers to the pings was longer.
silence_below() {
	cat "$work/pings-upgrade.out"
	awk -v most="$1" -v slow="$(scaled 1)" '/transmitted/ { sent = 1 } /^longest outage:/ { long = $3 > most * slow }
		END { exit !sent || long }' "$work/pings-upgrade.out"
}

# install_again: install the package on the right again, which configures it as an upgrade does.
install_again() {
	local package=cygnetd_${newer}_amd64.deb
	put right "/srv/$package" < "$packages/newer/$package"
	on right dpkg -i "/srv/$package"
	on right rm "/srv/$package"
}

# If the newer cygnetd refuses the configuration, the running one goes on.
keeps_running() {
	local before
	before=$(pid_of right cygnetd)
	put right /etc/cygnet/cygnetd.conf.d/wrong.conf <<< $'[cygnetd]\nno_such_key = 1'
	install_again
	on right rm /etc/cygnet/cygnetd.conf.d/wrong.conf
	[ "$(pid_of right cygnetd)" = "$before" ]
	talks
}

# A cygnetd that refuses a takeover is restarted.
restarts_hung() {
	local before
	before=$(pid_of right cygnetd)
	on right kill -STOP "$before"
	install_again
	wait_for 25 settled right
	[ "$(pid_of right cygnetd)" != "$before" ]
	wait_for 30 talks
}

# wire_settings SIDE: print what cygnetd changes at the interface of the WAN's port.
wire_settings() {
	on "$1" sh -c 'cd /proc/sys/net && grep . ipv4/conf/wan-veth/rp_filter ipv4/conf/wan-veth/forwarding \
		ipv4/conf/wan-veth/arp_ignore ipv6/conf/wan-veth/disable_ipv6 && cat /sys/class/net/wan-veth/mtu /sys/class/net/wan-veth/flags'
}

# The kernel has the interface again after a stop, of a cygnetd that does not end by itself, too (what puts the settings back then
# has as long as cygnetd had, and waits three seconds for charon's rules); not after kill -9, when
# systemd starts the next one.
gives_back() {
	local before
	before=$(pid_of right cygnetd)
	wire_settings right > "$work/settings-isolated"
	on right kill -KILL "$before"
	wire_settings right | diff "$work/settings-isolated" -
	wait_for 60 another_pid right "$before"
	wait_for 25 settled right
	on right systemctl stop cygnetd
	wire_settings right | diff "$work/settings-right" -
	on right systemctl start cygnetd
	on right systemctl kill --kill-whom=main --signal=STOP cygnetd
	put right /etc/systemd/system/cygnetd.service.d/stop.conf <<< $'[Service]\nTimeoutStopSec=6'
	on right systemctl daemon-reload
	on right systemctl stop cygnetd
	wire_settings right | diff "$work/settings-right" -
	on right rm -r /etc/systemd/system/cygnetd.service.d
	on right systemctl daemon-reload
	on right systemctl start cygnetd
	wait_for 25 settled right
	wait_for 30 talks
}

# An archive with strongSwan in another upstream version: empty packages with the names of the installed ones.
# Unattended upgrades must not install them, because the plugin needs its version of strongSwan.
other_strongswan() {
	local archive=$work/archive folder=$work/fake package
	mkdir "$archive" "$folder" "$folder/DEBIAN"
	for package in $(on left dpkg-query -W -f '${source:Package} ${Package}\n' | sed -n 's/^strongswan //p'); do
		printf '%s\n' "Package: $package" 'Version: 99.1-1' 'Architecture: amd64' \
			'Maintainer: testing/deb' 'Description: another strongSwan' > "$folder/DEBIAN/control"
		dpkg-deb --root-owner-group -b "$folder" "$archive/$package.deb" > "$work/dpkg-deb.log"
	done
	(cd "$archive" && dpkg-scanpackages . 2> "$work/scan.log" > Packages)
	tar -C "$work" -c archive | on left tar -C /srv -x
	put left /etc/apt/sources.list.d/other.list <<< 'deb [trusted=yes] file:/srv/archive ./'
	on left apt-get -q update -o Dir::Etc::sourcelist=sources.list.d/other.list -o Dir::Etc::sourceparts=-
	on left apt-get -q -s --with-new-pkgs upgrade | tee "$work/upgrade"
	on left rm -r /srv/archive /etc/apt/sources.list.d/other.list
	sed -n '/kept back/,/^[^ ]/p' "$work/upgrade" | grep -w strongswan-libcharon
	grep '^Inst strongswan-swanctl ' "$work/upgrade"
	fails grep -E '^(Inst strongswan-libcharon|Remv)' "$work/upgrade"
}

# The plugin is installed, but not marked as required.
ends_if_not_critical() {
	on right sed -i.before 's/^kernel-cygnet! {/kernel-cygnet {/' /etc/strongswan.d/charon/kernel-cygnet.conf
	fails on right systemctl restart strongswan
	log_has right 'kernel-cygnet is not a critical plugin'
	on right mv /etc/strongswan.d/charon/kernel-cygnet.conf.before /etc/strongswan.d/charon/kernel-cygnet.conf
	on right systemctl restart strongswan
}

remove_plugin() { on right apt-get -q -y remove strongswan-kernel-cygnet; }
charon_refuses() {
	fails on right systemctl restart strongswan
	log_has right "plugin 'kernel-cygnet': failed to load"
}

# Purge what is left of the packages.
purge() {
	# shellcheck disable=SC2046,SC2086
	on "$1" apt-get -q -y purge $(on "$1" dpkg-query -W -f '${Package} ' $ours 2> /dev/null)
	fails on "$1" pgrep -x cygnetd
}

# Back to the kernel, as the book says: it protects what charon negotiates.
back_to_kernel() {
	as_documented right migration back
	on right ip -o address show dev wan-veth | grep -F "${wan_addr[right]}/24"
	on right systemctl is-active strongswan
	fails on right pgrep -x cygnetd
}

# Nothing of the packages is left, not even the additions to charon's AppArmor profiles; charon runs as before.
nothing_left() {
	on "$1" systemctl reset-failed
	remove_configuration "$1"
	files "$1" > "$work/files-after"
	diff "$work/files-$1" "$work/files-after"
	# shellcheck disable=SC2086
	[ -z "$(on "$1" dpkg-query -W $ours 2> /dev/null)" ]
	on "$1" systemctl restart strongswan
}

try_gateways() {
	local side child
	make_gateway_root gateway
	# What the package reserves, for each gateway: two cygnetd with the default configuration.
	reserve_hugepages $((2 * $(sed -n 's/^vm.nr_hugepages = //p' "$top/debian/sysctl.d/30-cygnet.conf")))
	add_network left right
	for side in left right; do
		boot "$side" "$release" gateway
		on "$side" systemctl -q mask --now apt-daily.timer apt-daily-upgrade.timer || true
		quiet_apt "$side"
		files "$side" > "$work/files-$side"
		wire_settings "$side" > "$work/settings-$side"
	done
	closed_from_installation
	must "right: apt installs the packages" install_first right "$packages/first"
	write_configuration right
	for side in left right; do
		must "$side: systemd starts cygnetd and charon" start_gateway "$side"
		must "$side: the ports have their addresses" wait_for 25 settled "$side"
		check "$side: it starts without a warning, in less than 2 s" starts_quietly "$side"
	done
	start_capture wire wire br0
	must "the tunnel comes up" initiate
	must "traffic passes" wait_for 30 talks
	for side in left right; do
		check "$side: systemctl status has SAs and charon" wait_for 10 status_is "$side" "2 SAs, ${policies[$side]} policies, charon is connected"
	done
	check "the watchdog restarts a cygnetd that stands still" stop_cygnetd
	must "traffic passes" wait_for 30 talks
	must "left: the documented command has another cygnetd take over" take_over

	spis left > "$work/spis"
	start_pings upgrade left 60000 0.01
	for side in left right; do
		child=$(pid_of "$side" cygnetd)
		must "$side: apt upgrades the packages under traffic" upgrade "$side"
		check "$side: all are newer, cygnetd is another process" upgraded "$side" "$child"
		check "$side: the new cygnetd has taken over from the old one" log_has "$side" 'process [0-9]* has taken over'
	done
	must "traffic passes" wait_for 30 talks
	reap pings-upgrade INT || true
	say "$(sed -n '/transmitted/p; /outage/p' "$work/pings-upgrade.out" | paste -sd ' ')"
	check "traffic stopped for less than 0.3 s" silence_below 0.3
	check "the SAs are those of before" same_spis
	check "left: the documented look at the gateway" wait_for 10 as_documented left packages look
	check "right: an upgrade does not end a cygnetd whose configuration the new one refuses" keeps_running
	check "right: an upgrade restarts a cygnetd that does not answer" restarts_hung
	check "right: the kernel has the interfaces again when cygnetd is stopped" gives_back
	check "apt does not let another strongSwan in" other_strongswan
	stop_capture wire
	check "only ciphertext on the wire" only_ciphertext wire
	check "no ESP sequence number twice" "$lib/esp-sequence" "$work/wire.pcap"
	must "right: the documented commands restart both daemons" restart_both

	start_capture layout wire br0
	start_pings layout left 60000 0.01
	must "left: apt upgrades to another layout of the shared file under traffic" to_layout changed "$changed" 7
	must "left: apt goes back" to_layout newer "$newer" "$(sed -n 's/^#define CYGNET_ABI_VERSION //p' "$top/lib/cygnet.h")"
	reap pings-layout INT || true
	say "$(sed -n '/transmitted/p; /outage/p' "$work/pings-layout.out" | paste -sd ' ')"
	stop_capture layout
	check "nothing of the LANs in plaintext meanwhile" lans_hidden layout
	check "no ESP sequence number twice" "$lib/esp-sequence" "$work/layout.pcap"

	closed_without_cygnetd
	closed_at_purge

	check "right: charon does not start if the plugin is not critical" ends_if_not_critical
	check "right: the plugin can be removed" remove_plugin
	check "right: charon does not start without it" charon_refuses
	check "right: the documented commands lead back to the kernel" back_to_kernel
	check "right: apt purges the packages" purge right
	for side in left right; do
		check "$side: nothing is left, and charon starts" nothing_left "$side"
	done
}

same_spis() { [ -s "$work/spis" ] && spis left | diff "$work/spis" -; }
