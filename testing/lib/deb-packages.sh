# SPDX-License-Identifier: GPL-2.0-or-later
# Building the packages, for testing/deb. Sourced.
#
#   $packages/first, second, newer   built: the same source twice, and a newer one
#   $packages/changed                the newest, whose shared file has another ABI version and layout

# check WHAT CMD...: run a test, and continue if it fails. must: end if it fails, because later tests depend on it. CMD
# may be a function, which ends at its first command that fails (set -e). Bash ignores set -e in conditions: neither may
# be called there.
try() {
	local begun=$SECONDS
	set +e
	(set -e; "${@:2}") > "$work/check.log" 2>&1
	status=$?
	set -e
	if [ "$status" -eq 0 ]; then
		count ok "$1"
	else
		count "not ok" "$1" "$(why "$status" "$begun")"
		tail -n 60 "$work/check.log" | sed 's/^/   | /'
	fi
}

check() { try "$@"; }
must() {
	try "$@"
	[ "$status" -eq 0 ] || { tell_gateways; summary; exit 1; }
}

# build_dependencies: print package names. Of alternatives, the first is for trixie, the last for bookworm.
build_dependencies() {
	awk '/^[^ ]/ { on = /^Build-Depends/; sub(/^[^ ]*/, "") } on { print }' "$top/debian/control" |
		tr ',' '\n' | sed 's/^ *//; /^$/d' |
		if [ "$release" = bookworm ]; then sed 's/.*| *//'; else sed 's/ *|.*//'; fi |
		sed 's/ *[(<[].*//; s/debhelper-compat/debhelper/'
}

# What sbuild has, too: build-essential and the build dependencies, and nothing else.
make_packages_root() {
	local needs
	mapfile -t needs < <(build_dependencies)
	make_root "$release" packages build-essential fakeroot "${needs[@]}"
}

# build_in FOLDER AT [VARIABLE=VALUE...]: build the source package of FOLDER, mounted at AT in the root, as an ordinary
# user builds it. With $build_options, such as -b.
build_in() {
	quiet "$1/build.log" in_root "$release" packages --mount "$1" "$2" \
		env DEB_BUILD_OPTIONS="parallel=$(nproc)" "${@:3}" \
		sh -c "cd $2/cygnet-* && dpkg-buildpackage -us -uc ${build_options:-}"
}

# Whether make check ran in a build, and no test failed.
tests_passed() {
	grep -E '^# (TOTAL|PASS|SKIP|FAIL|ERROR): ' "$1"
	grep -qx '# FAIL:  0' "$1" && ! grep -qx '# PASS:  0' "$1"
}

# make_source NAME VERSION: a newer revision of the same source.
make_source() {
	mkdir "$packages/$1"
	cp -a "$packages"/first/{cygnet-*,*.orig*.tar.xz} "$packages/$1/"
	{
		printf 'cygnet (%s) unstable; urgency=medium\n\n  * A newer build.\n\n' "$2"
		sed -n '/^ -- /{p;q}' "$packages"/first/cygnet-*/debian/changelog
		echo
		cat "$packages"/first/cygnet-*/debian/changelog
	} > "$work/changelog"
	cp "$work/changelog" "$packages/$1"/cygnet-*/debian/changelog
}

# change_layout FOLDER: another ABI version of the shared file, whose header has a field more.
change_layout() {
	sed -i 's/^\(#define CYGNET_ABI_VERSION\) .*/\1 7/' "$1"/lib/cygnet.h
	sed -i 's/^\tpthread_mutex_t mutex CYGNET_ALIGNED;/\tuint64_t another[8];\n&/' "$1"/lib/layout.h
	sed -i 's/CYGNET_ABI_VERSION == [0-9]*/CYGNET_ABI_VERSION == 7/; s/^#ifdef __x86_64__/#if 0/' "$1"/lib/abi.c
	grep -q '^#define CYGNET_ABI_VERSION 7$' "$1"/lib/cygnet.h
	grep -q 'another\[8\]' "$1"/lib/layout.h
}

build_packages() {
	make_packages_root
	rm -rf "$packages"
	mkdir -p "$packages"
	must "debian/source-package" "$top/debian/source-package" "$packages/first" "$release"
	cp -a "$packages/first" "$packages/second"
	make_source newer "$newer"
	make_source changed "$changed"
	must "another layout of the shared file" change_layout "$packages"/changed/cygnet-*
	must "dpkg-buildpackage, without network" build_in "$packages/first" /build/cygnet
	must "with make check" tests_passed "$packages/first/build.log"
	check "no driver is in DPDK's folder" no_driver_for_all
	check "libcygnet0.symbols has all symbols" lacks_line "$packages/first/build.log" 'new symbols appeared'
	# The same source: tests would say the same again.
	must "dpkg-buildpackage of a newer revision" build_in "$packages/newer" /build/cygnet \
		DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)"
	build_options=-b must "dpkg-buildpackage of another layout" build_in "$packages/changed" /build/cygnet \
		DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)"
}

# Every program that uses DPDK would load a driver from DPDK's folder.
no_driver_for_all() {
	local package
	for package in $(installable "$packages/first"); do dpkg-deb -c "$package"; done > "$work/contents"
	grep -q '/cygnet/librte_crypto_ipsec_mb_gcm\.so$' "$work/contents"
	! grep '/dpdk/pmds-' "$work/contents" || return 1
}

lacks_line() { [ -s "$1" ] && ! grep -F "$2" "$1"; }

check_reproducible() {
	must "dpkg-buildpackage elsewhere" build_in "$packages/second" /srv/another/folder \
		DEB_BUILD_OPTIONS="nocheck parallel=1" TZ=Asia/Kathmandu LC_ALL=C.UTF-8
	check "both builds come to the same" same_packages
}

same_packages() {
	local package differ=
	for package in "$packages"/first/*.deb; do
		cmp "$package" "$packages/second/${package##*/}" || differ=yes
	done
	[ -z "$differ" ]
}

# The source is for both releases, so its Standards-Version is that of the older one.
# Words that lintian finds in binaries may be machine code.
check_lintian() {
	make_root "$release" lintian dpkg-dev lintian
	check "lintian has nothing to say" in_root "$release" lintian --mount "$packages/first" /build/cygnet \
		sh -c 'lintian --allow-root --info --display-info --fail-on error,warning,info \
			--suppress-tags out-of-date-standards-version,spelling-error-in-binary /build/cygnet/*.changes'
}

# installable FOLDER: print its packages, without those with debugging symbols.
installable() { find "$1" -name '*.deb' ! -name '*-dbgsym_*' | sort; }

# run_autopkgtest: debian/tests/scenarios as autopkgtest runs it, after it has installed the packages.
run_autopkgtest() {
	make_build_root "$release"
	must "debian/tests/scenarios" in_root "$release" build --mount "$packages/first" /build/cygnet \
		--mount "$top" /usr/src/cygnet sh -c '
			set -e
			dpkg -i $(find /build/cygnet -name "*.deb" ! -name "*-dbgsym_*")
			cd /usr/src/cygnet
			AUTOPKGTEST_TMP=$(mktemp -d) debian/tests/scenarios'
	sed -n 's/^ok /   ok      /p' "$work/check.log"
}
