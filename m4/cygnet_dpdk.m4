# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_DPDK: find DPDK with pkg-config. Symbols for drivers have no ABI version (node INTERNAL), so the
# series must be one that the headers in drivers/dpdk-headers are for.
AC_DEFUN([CYGNET_DPDK], [
  PKG_CHECK_MODULES([DPDK], [libdpdk >= 22.11])
  DPDK_VERSION=$($PKG_CONFIG --modversion libdpdk)
  AS_CASE([$DPDK_VERSION],
    [22.11|22.11.*|24.11|24.11.*|25.11|25.11.*], [],
    [AC_MSG_ERROR([libdpdk has version $DPDK_VERSION; this works with 22.11, 24.11 and 25.11])])
  # No -march here: it is set per file or by CFLAGS.
  # Headers that only testing/bench needs.
  BENCH_HEADERS="${CYGNET_CACHE:-/var/cache/cygnet}/bench/include"
  AC_SUBST([BENCH_HEADERS])
  AC_SUBST([DPDK_VERSION])
  # From DPDK's own folder, LIBDIR/dpdk/pmds-ABI, every program that uses DPDK would load them.
  AC_ARG_WITH([pmddir],
    [AS_HELP_STRING([--with-pmddir=DIR],
      [folder of the DPDK drivers, from which cygnetd loads them (default: LIBDIR/cygnet)])],
    [pmddir="$withval"],
    [pmddir='${libdir}/cygnet'])
  AC_SUBST([pmddir])
])
