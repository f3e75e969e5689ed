# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_DPDK: find DPDK with pkg-config, and the driver headers that Debian does not install
# (drivers/dpdk-headers). Symbols for drivers have no ABI version (node INTERNAL), so the series must
# be one that there are headers for.
AC_DEFUN([CYGNET_DPDK], [
  PKG_CHECK_MODULES([DPDK], [libdpdk >= 22.11])
  DPDK_VERSION=$($PKG_CONFIG --modversion libdpdk)
  AS_CASE([$DPDK_VERSION],
    [22.11|22.11.*], [dpdk_series=22.11 dpdk_abi=23.0],
    [24.11|24.11.*], [dpdk_series=24.11 dpdk_abi=25.0],
    [25.11|25.11.*], [dpdk_series=25.11 dpdk_abi=26.0],
    [AC_MSG_ERROR([libdpdk has version $DPDK_VERSION; this works with 22.11, 24.11 and 25.11])])
  # No -march here: it is set per file or by CFLAGS.
  AC_ARG_WITH([dpdk-driver-headers],
    [AS_HELP_STRING([--with-dpdk-driver-headers=DIR],
      [folder with cryptodev_pmd.h, bus_vdev_driver.h and dev_driver.h
       (default: drivers/dpdk-headers, of the installed DPDK's series)])],
    [DPDK_DRIVER_HEADERS="$withval"],
    [DPDK_DRIVER_HEADERS="$(cd "$srcdir" && pwd)/drivers/dpdk-headers/$dpdk_series"])
  AC_MSG_CHECKING([for the DPDK driver headers])
  AS_IF([test -f "$DPDK_DRIVER_HEADERS/cryptodev_pmd.h" &&
         test -f "$DPDK_DRIVER_HEADERS/bus_vdev_driver.h" &&
         test -f "$DPDK_DRIVER_HEADERS/dev_driver.h"],
    [AC_MSG_RESULT([$DPDK_DRIVER_HEADERS])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([no DPDK driver headers in $DPDK_DRIVER_HEADERS])])
  # Headers that only testing/bench needs.
  BENCH_HEADERS="${CYGNET_CACHE:-/var/cache/cygnet}/bench/include"
  AC_SUBST([BENCH_HEADERS])
  AC_SUBST([DPDK_VERSION])
  AC_SUBST([DPDK_DRIVER_HEADERS])
  AC_ARG_WITH([pmddir],
    [AS_HELP_STRING([--with-pmddir=DIR],
      [folder from which DPDK loads drivers (default: LIBDIR/dpdk/pmds-ABI of the installed DPDK)])],
    [pmddir="$withval"],
    [pmddir="$($PKG_CONFIG --variable=libdir libdpdk)/dpdk/pmds-$dpdk_abi"])
  AC_SUBST([pmddir])
])
