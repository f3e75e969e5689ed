# SPDX-License-Identifier: GPL-2.0-or-later
# Roots of Debian's releases, and commands in them. Sourced, after say.sh; $work is a folder for
# temporary files.
#
#   CYGNET_CACHE/releases/RELEASE/NAME/root     the root, never changed once it is made
#   CYGNET_CACHE/releases/RELEASE/NAME/stamp    hash of its packages and mirrors
#   CYGNET_CACHE/releases/RELEASE/cache         CYGNET_CACHE within the root: headers, the guest
#
# A command runs on an overlay of the root, which is removed after it, in mount, PID, IPC, host name
# and network namespaces of its own. When it ends or is killed, its processes, mounts and network
# namespaces end with it.
# shellcheck source=/dev/null
. "$top/testing/lib/release.sh"

release_folder() { echo "${CYGNET_CACHE:-/var/cache/cygnet}/releases/$1"; }

# apt_lines RELEASE: the lines of its sources.list.
apt_lines() {
	local folder suites suite
	while read -r folder suites; do
		for suite in $suites; do
			echo "deb $(mirror "$folder") $suite main"
		done
	done < <(release_sources "$1")
}

# why_no_root LOG: print apt's first error, which names the mirror, or the end of mmdebstrap's output.
why_no_root() { grep -m 1 '^E: ' "$1" || tail -n 1 "$1"; }

# make_root RELEASE NAME PACKAGE...: make a root with these packages and their dependencies, unless there is one
# with the same stamp. Takes a minute or two, and needs network.
make_root() {
	local release=$1 there stamp lock lines options=(--aptopt='APT::Sandbox::User "root"')
	# Lists of sid are valid for a week; a mirror may be older.
	[ "$1" != sid ] || options+=(--aptopt='Acquire::Check-Valid-Until "false"')
	there=$(release_folder "$1")/$2
	shift 2
	mapfile -t lines < <(apt_lines "$release")
	stamp=$(printf '%s\n' "${lines[@]}" "$@" | sha256sum | cut -c 1-32)
	mkdir -p "$there"
	exec {lock}> "$there/lock"
	flock "$lock"
	if [ "$(cat "$there/stamp" 2> /dev/null)" != "$stamp" ]; then
		say "making a root of Debian $release in $there"
		rm -rf --one-file-system "$there/stamp" "$there/root" "$there/new"
		quiet "$there/mmdebstrap.log" mmdebstrap --mode=root --variant=minbase \
			"${options[@]}" --include="$(IFS=,; echo "$*")" \
			"$release" "$there/new" "${lines[@]}" ||
			die "no root of Debian $release could be made: $(why_no_root "$there/mmdebstrap.log")"
		mv "$there/new" "$there/root"
		echo "$stamp" > "$there/stamp"
	fi
	exec {lock}>&-
}

# make_build_root RELEASE: make the root named build, with testing/packages.
make_build_root() {
	local packages
	mapfile -t packages < <(release_packages "$1")
	make_root "$1" build "${packages[@]}"
}

# in_root RELEASE NAME [--network] [--mount FOLDER AT]... COMMAND...: run COMMAND in that root. --network: with the
# network of this machine, otherwise with none. --mount: FOLDER of this machine, if it exists, is mounted at AT in the
# root.
in_root() {
	local there rc=0 namespaces=(--mount --pid --ipc --uts --net) mounts=() over
	there=$(release_folder "$1")
	mkdir -p "$there/cache"
	mounts=("$there/cache" /var/cache/cygnet)
	there=$there/$2/root
	shift 2
	while :; do
		case $1 in
		--network) namespaces=(--mount --pid --ipc --uts); shift ;;
		--mount) mounts+=("$2" "$3"); shift 3 ;;
		*) break ;;
		esac
	done
	over=$(mktemp -d "$work/root.XXXXXX")
	unshare "${namespaces[@]}" --propagation private --fork --kill-child \
		"$top/testing/lib/in-root" "$there" "$over" "${mounts[@]}" -- "$@" || rc=$?
	rm -rf --one-file-system "$over"
	return "$rc"
}
