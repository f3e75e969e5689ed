# SPDX-License-Identifier: GPL-2.0-or-later
# What several maintainer scripts do. debian/rules puts it into each of them, in the place of its token: a script may run
# while no other package is unpacked.

# charon_units: print strongSwan's units that run, of which one has started charon.
charon_units() { systemctl list-units --plain --no-legend --state=active,activating 'strongswan*.service' | sed 's/ .*//'; }

# is_of_unit PID: whether it is of cygnetd's unit or of one of these.
is_of_unit() { grep -Eqs '/(cygnetd|strongswan[^/]*)\.service$' "/proc/$1/cgroup"; }

# load_charon_profiles: Debian's profiles of charon include what the plugin needs beside,
# abstractions/authentication.d/kernel-cygnet. A profile that is installed later does so by itself.
load_charon_profiles() {
	aa-enabled --quiet 2> /dev/null || return 0
	for profile in usr.lib.ipsec.charon usr.sbin.charon-systemd; do
		[ ! -e "/etc/apparmor.d/$profile" ] || apparmor_parser -r -T -W "/etc/apparmor.d/$profile" || true
	done
}

# remove_shared_file: unless a process has it mapped, which may use it until it ends: then it stays, in memory, until the
# next boot.
remove_shared_file() { grep -qs ' /run/cygnet/' /proc/[0-9]*/maps || rm -rf /run/cygnet; }
