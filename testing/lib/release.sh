# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's releases that Cygnet is for, and what differs between them for tests. Sourced.

# release_here: code name of the release of this machine; sid calls itself by the next release's
# name.
release_here() {
	local name
	name=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	case $name in
	bookworm | trixie) echo "$name" ;;
	*) echo sid ;;
	esac
}

# release_sources RELEASE: lines "FOLDER SUITE..." of the mirror.
release_sources() {
	echo "debian $1$([ "$1" = sid ] || echo " $1-updates")"
	[ "$1" = sid ] || echo "debian-security $1-security"
}

# release_packages RELEASE: print the packages of testing/packages for this release.
release_packages() {
	awk -v release="$1" '/^#/ || !NF { next } NF == 1 { print; next }
		{ for (i = 2; i <= NF; i++) if ($i == release) print $1 }' "$top/testing/packages"
}

# mirror FOLDER: print the URI of that folder of the archive: the system's mirror, or the default one.
mirror() {
	local uri
	uri=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2> /dev/null |
		sed -n 's/^URIs: *//p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\(http[^ ]*\).*/\2/p' |
		sed 's,/*$,,' | grep "/$1\$" | sed -n 1p) || true
	echo "${uri:-http://deb.debian.org/$1}"
}
