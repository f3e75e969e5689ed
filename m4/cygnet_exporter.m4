# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_EXPORTER: whether cygnet-exporter is built, which needs libmicrohttpd.
AC_DEFUN([CYGNET_EXPORTER], [
  AC_ARG_ENABLE([exporter],
    [AS_HELP_STRING([--disable-exporter],
      [do not build cygnet-exporter, which serves metrics to Prometheus and needs
       libmicrohttpd])],
    [], [enable_exporter=yes])
  exporter_state="not built (--disable-exporter)"
  AS_IF([test "x$enable_exporter" != xno], [
    dnl 0.9.73 has MHD_run_wait().
    PKG_CHECK_MODULES([MICROHTTPD], [libmicrohttpd >= 0.9.73])
    exporter_state=built
  ])
  AM_CONDITIONAL([EXPORTER], [test "x$enable_exporter" != xno])
])
