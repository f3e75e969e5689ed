# SPDX-License-Identifier: GPL-2.0-or-later
# Builds Cygnet outside the source tree and installs it in a folder of its own,
# from where the tests run it. Sourced.
#
# The folder is below /var/cache, not /var/tmp: EAL refuses to load drivers
# from anywhere below a world-writable folder.

cygnet_build=${CYGNET_BUILD:-/var/cache/cygnet/build}

# Two runs would build over each other. CYGNET_PREBUILT is for one that builds
# nothing, because another has done so: it uses what there is.
lock_build() {
	[ -z "${CYGNET_PREBUILT:-}" ] || return 0
	mkdir -p "$cygnet_build"
	exec {build_lock}> "$cygnet_build/lock"
	flock -n "$build_lock" && return
	say "another run is using $cygnet_build: waiting for it"
	flock "$build_lock"
}

# use_build VARIANT: where the programs of a finished build are.
use_build() {
	build=$cygnet_build/$1
	root=$build/root
	cygnetd=$root/sbin/cygnetd
	cygnetctl=$root/bin/cygnetctl
	sadb_fill=$build/testing/packet/sadb-fill
}

# What autoreconf leaves in the tree has to fit the sources that are there now,
# also in a checkout that has been updated since.
bootstrap() {
	local sources
	sources=$(cd "$top" && cat configure.ac Makefile.am ./*/subdir.am m4/cygnet*.m4 | sha256sum)
	[ ! -x "$top/configure" ] || [ "$(cat "$top/build-aux/sources" 2> /dev/null)" != "$sources" ] ||
		return 0
	(cd "$top" && quiet "$work/autoreconf.log" autoreconf -fi)
	echo "$sources" > "$top/build-aux/sources"
}

configure_build() {
	bootstrap
	local arguments=(--prefix="$root" --sysconfdir="$root/etc"
		--with-pmddir="$root/lib/dpdk" --with-charon-plugindir="$root/lib/ipsec/plugins"
		--with-strongswan-confdir="$root/etc/strongswan.d/charon"
		--with-systemdsystemunitdir="$root/lib/systemd/system" "$@")
	# make builds nothing again for other compiler flags.
	local want
	want="$top ${arguments[*]} $(cat "$top"/configure.ac "$top"/m4/cygnet*.m4 | sha256sum)"
	[ "$(cat "$build/configured" 2> /dev/null)" != "$want" ] || return 0
	rm -rf "$build"
	mkdir -p "$build"
	(cd "$build" && quiet "$build/configure.log" "$top/configure" "${arguments[@]}")
	echo "$want" > "$build/configured"
}

# build_variant NAME [CONFIGURE-ARGUMENT...]
build_variant() {
	local name=$1
	shift
	use_build "$name"
	if [ -n "${CYGNET_PREBUILT:-}" ]; then
		say "using what is built in $build"
		[ -x "$cygnetd" ]
		return
	fi
	say "building in $build"
	configure_build --enable-werror "$@"
	quiet "$build/make.log" make -C "$build" -j"$(nproc)"
	quiet "$build/install.log" make -C "$build" install
}
