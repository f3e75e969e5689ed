# SPDX-License-Identifier: GPL-2.0-or-later
# Builds Cygnet outside the source tree and installs it in a folder of its own,
# from where the tests run it. Sourced.
#
# The folder is below /var/cache, not /var/tmp: EAL refuses to load drivers
# from anywhere below a world-writable folder.

cygnet_build=${CYGNET_BUILD:-/var/cache/cygnet/build}

# ccache can reuse objects of another checkout, because the compiler sees only the path ../src, a link to the checkout.
export CCACHE_DIR=${CYGNET_CACHE:-/var/cache/cygnet}/ccache CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=2G

# lock_build [FOLDER]: one run at a time uses a build folder, $cygnet_build by default. With CYGNET_PREBUILT=1 nothing
# is built: the run uses the build of an earlier run.
lock_build() {
	local folder=${1:-$cygnet_build}
	[ -z "${CYGNET_PREBUILT:-}" ] || return 0
	mkdir -p "$folder"
	exec {build_lock}> "$folder/lock"
	flock -n "$build_lock" && return
	say "another run is using $folder: waiting for it"
	flock "$build_lock"
}

# use_build VARIANT: set the paths of the programs of a finished build.
use_build() {
	build=$cygnet_build/$1
	root=$build/root
	cygnetd=$root/sbin/cygnetd
	cygnetctl=$root/bin/cygnetctl
}

# Run autoreconf if its output in the tree is missing or was made from older sources, for example
# after an update of the checkout.
bootstrap() {
	local sources
	sources=$(cd "$top" && cat configure.ac Makefile.am ./*/subdir.am m4/cygnet*.m4 | sha256sum)
	[ ! -x "$top/configure" ] || [ "$(cat "$top/build-aux/sources" 2> /dev/null)" != "$sources" ] ||
		return 0
	(cd "$top" && quiet "$work/autoreconf.log" autoreconf -fi) || return
	echo "$sources" > "$top/build-aux/sources"
}

# configure_build [CONFIGURE-ARGUMENT...]: configure $build, unless that was done for this checkout and these arguments.
configure_build() {
	bootstrap || return
	mkdir -p "$cygnet_build"
	ln -sfn "$top" "$cygnet_build/src"
	local arguments=(CC="ccache gcc" --prefix="$root" --sysconfdir="$root/etc"
		--with-pmddir="$root/lib/dpdk" --with-charon-plugindir="$root/lib/ipsec/plugins"
		--with-strongswan-confdir="$root/etc/strongswan.d/charon"
		--with-systemdsystemunitdir="$root/lib/systemd/system" "$@")
	# make does not rebuild a file when only compiler flags change.
	local want
	want="$top ${arguments[*]} $(cat "$top"/configure.ac "$top"/m4/cygnet*.m4 | sha256sum)"
	[ "$(cat "$build/configured" 2> /dev/null)" != "$want" ] || return 0
	rm -rf "$build"
	mkdir -p "$build"
	(cd "$build" && quiet "$build/configure.log" ../src/configure "${arguments[@]}") || return
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
