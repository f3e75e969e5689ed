# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages of testing/packages that are missing. Sourced.
# shellcheck source=/dev/null
. "$top/testing/lib/release.sh"

missing_packages() {
	local name
	while read -r name; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null)" = installed ] ||
			echo "$name"
	done < <(release_packages "$(release_here)")
}

# Debian starts a daemon when its package is installed. Forbid it during the installation: the tests start
# their own charon.
forbid_services() {
	[ ! -e /usr/sbin/policy-rc.d ] || return 0
	printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
	chmod 755 /usr/sbin/policy-rc.d
	defer rm -f /usr/sbin/policy-rc.d
}

install_deps() {
	local missing
	mapfile -t missing < <(missing_packages)
	[ "${#missing[@]}" -gt 0 ] || { say "all Debian packages are there"; return; }
	install_packages "${missing[@]}"
}

install_packages() {
	say "installing $# Debian packages: $*"
	forbid_services
	export DEBIAN_FRONTEND=noninteractive
	quiet "$work/apt.log" apt-get -q update || say "going on with the package lists there are"
	quiet "$work/apt.log" apt-get -q -y --no-install-recommends \
		-o Dpkg::Options::=--force-confold install "$@"
}

fetch_headers() {
	quiet "$work/fetch-headers.log" "$top/testing/fetch-headers"
	sed -n 's/^fetch-headers: /   headers: /p' "$work/fetch-headers.log"
}

# In Debian 13 strongswan-charon and charon-systemd conflict: charon-systemd's program is unpacked from its package
# without installing it.
fetch_charon_systemd() {
	local to=${CYGNET_CACHE:-/var/cache/cygnet}/charon-systemd version
	[ ! -x /usr/sbin/charon-systemd ] || return 0
	version=$(dpkg-query -W -f '${Version}' strongswan-charon)
	[ "$(cat "$to/stamp" 2> /dev/null)" != "$version" ] || return 0
	rm -rf "$to"
	mkdir -p "$to"
	quiet "$work/apt.log" apt-get -q update || say "going on with the package lists there are"
	(cd "$to" && quiet "$work/apt.log" apt-get -q -o APT::Sandbox::User=root download \
		"charon-systemd=$version")
	dpkg-deb -x "$to"/charon-systemd_*.deb "$to"
	echo "$version" > "$to/stamp"
	say "charon-systemd $version, in $to"
}

make_guest_image() {
	quiet "$work/guest-image.log" "$top/testing/guest/image"
	sed -n 's/^guest.image: /   the guest: /p' "$work/guest-image.log"
}
