# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's source packages, of any suite, without touching the system's own source
# lists. Sourced after release.sh; files are in $work.

apt_opts=(-o "Dir::Etc::sourcelist=$work/src.sources" -o Dir::Etc::sourceparts=-
	-o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)

# add_suites FOLDER SUITES: add sources of the component main.
add_suites() {
	tee "$work/src-$1.sources" <<-EOF >> "$work/src.sources"
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

# source_versions PACKAGE: print all versions in the suites, the newest first.
source_versions() {
	apt-cache "${apt_opts[@]}" showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -rV
}

# download_source PACKAGE VERSION: into the current folder. Two archives may list the same version when only one of
# them still has its files, so both are tried.
download_source() {
	local list
	for list in "$work/src.sources" "$work"/src-*.sources; do
		apt-get "${apt_opts[@]}" -o "Dir::Etc::sourcelist=$list" -q source --download-only "$1=$2" && return
	done
	return 1
}
