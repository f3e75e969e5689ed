# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's source packages, of any suite, without touching the system's own source
# lists. Sourced after release.sh; files are in $work, the checkout in $top.

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

# check_pins PACKAGE VERSION: whether the upstream tarballs of PACKAGE's VERSION in the current folder are those of
# testing/sources.sha256. apt has compared them with Debian's signed lists before: that alone counts for an upstream
# version that is not listed, because Debian may have got one today.
check_pins() {
	local pins=$top/testing/sources.sha256 upstream=${2#*:} file line
	for file in "$1_${upstream%-*}".orig*.tar.*; do
		[ "${file%.asc}" = "$file" ] || continue
		line=$(sha256sum "$file") || return
		if grep -qxF "$line" "$pins"; then
			continue
		elif grep -q "^[0-9a-f]*  ${file//./\\.}\$" "$pins"; then
			echo "$file is not the one of testing/sources.sha256. Its SHA-256 is ${line%% *}. If upstream has" \
				"that one, add to testing/sources.sha256: $line" >&2
			return 1
		fi
		echo "$file is not in testing/sources.sha256: Debian's signature counts. To pin it, add: $line" >&2
	done
}

# download_source PACKAGE VERSION: into the current folder. Two archives may list the same version when only one of
# them still has its files, so both are tried.
download_source() {
	local list
	for list in "$work/src.sources" "$work"/src-*.sources; do
		apt-get "${apt_opts[@]}" -o "Dir::Etc::sourcelist=$list" -q source --download-only "$1=$2" || continue
		check_pins "$1" "$2"
		return
	done
	return 1
}
