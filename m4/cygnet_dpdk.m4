# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_DPDK: find DPDK 22.11 with pkg-config, and the driver headers that Debian
# does not install. Symbols for drivers have no ABI version (node INTERNAL), so the
# release must match exactly.
AC_DEFUN([CYGNET_DPDK], [
  PKG_CHECK_MODULES([DPDK], [libdpdk >= 22.11 libdpdk < 22.12])
  DPDK_VERSION=$($PKG_CONFIG --modversion libdpdk)
  # No -march here: it is set per file or by CFLAGS.
  AC_ARG_WITH([dpdk-driver-headers],
    [AS_HELP_STRING([--with-dpdk-driver-headers=DIR],
      [folder with cryptodev_pmd.h, bus_vdev_driver.h and dev_driver.h
       (default: those that testing/fetch-headers has put into /var/cache/cygnet)])],
    [DPDK_DRIVER_HEADERS="$withval"],
    [DPDK_DRIVER_HEADERS="${CYGNET_CACHE:-/var/cache/cygnet}/dpdk"])
  AC_MSG_CHECKING([for the DPDK driver headers])
  AS_IF([test -f "$DPDK_DRIVER_HEADERS/cryptodev_pmd.h" &&
         test -f "$DPDK_DRIVER_HEADERS/bus_vdev_driver.h" &&
         test -f "$DPDK_DRIVER_HEADERS/dev_driver.h"],
    [AC_MSG_RESULT([$DPDK_DRIVER_HEADERS])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([no DPDK driver headers in $DPDK_DRIVER_HEADERS:
  run testing/fetch-headers, or give --with-dpdk-driver-headers=DIR])])
  AC_SUBST([DPDK_VERSION])
  AC_SUBST([DPDK_DRIVER_HEADERS])
  AC_ARG_WITH([pmddir],
    [AS_HELP_STRING([--with-pmddir=DIR],
      [folder from which DPDK loads drivers (default: LIBDIR/dpdk/pmds-ABI of the installed DPDK)])],
    [pmddir="$withval"],
    [pmddir="$($PKG_CONFIG --variable=libdir libdpdk)/dpdk/pmds-23.0"])
  AC_SUBST([pmddir])
])
