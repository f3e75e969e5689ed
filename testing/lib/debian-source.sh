# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's source packages, of any suite, without touching the system's own source
# lists. Sourced by what has its files in $work.

apt_opts=(-o "Dir::Etc::sourcelist=$work/src.sources" -o Dir::Etc::sourceparts=-
	-o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)

# mirror NAME: of the suites in that folder, as the system has it or the usual one.
mirror() {
	local uri
	uri=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2> /dev/null |
		sed -n 's/^URIs: *//p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\(http[^ ]*\).*/\2/p' |
		sed 's,/*$,,' | grep "/$1\$" | sed -n 1p) || true
	echo "${uri:-http://deb.debian.org/$1}"
}

# add_suites FOLDER SUITES: of main.
add_suites() {
	cat >> "$work/src.sources" <<-EOF
		Types: deb-src
		URIs: $(mirror "$1")
		Suites: $2
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

	EOF
}

update_lists() {
	mkdir -p "$work/lists/partial"
	apt-get "${apt_opts[@]}" -q update
}

# source_versions PACKAGE: all that the suites have, the newest first.
source_versions() {
	apt-cache "${apt_opts[@]}" showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -rV
}

# download_source PACKAGE VERSION: into the current folder.
download_source() { apt-get "${apt_opts[@]}" -q source --download-only "$1=$2"; }
