# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the targets of libFuzzer. Sourced after build.sh.

fuzz_targets=(ah-in capture conf crypto-cores esp-in fragments handoff headers icmp measured netlink opencl outbound plugin
	policies sadb takeover telemetry vici)

# build_fuzzers VARIANT TARGET... [-- CONFIGURE-ARGUMENT...]: build them in $cygnet_build/VARIANT, with Clang.
build_fuzzers() {
	local targets=()
	use_build "$1"
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		targets+=("fuzz-$1")
		shift
	done
	configure_build CC="${CC:-ccache clang}" --enable-werror --enable-fuzzers "${@:2}" &&
		make -s -C "$build" -j"$(nproc)" librte_crypto_ipsec_mb_gcm.la librte_crypto_ipsec_mb_chain.la "${targets[@]}"
}
