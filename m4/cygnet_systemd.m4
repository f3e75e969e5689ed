# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_SYSTEMD: find the folder for the unit of cygnetd.
AC_DEFUN([CYGNET_SYSTEMD], [
  AC_ARG_WITH([systemdsystemunitdir],
    [AS_HELP_STRING([--with-systemdsystemunitdir=DIR],
      [folder of systemd's units; no: do not install the unit (default: the
       folder in systemd.pc; without systemd.pc the unit is not installed)])],
    [], [with_systemdsystemunitdir=yes])
  AS_CASE([$with_systemdsystemunitdir],
    [yes], [systemdsystemunitdir=$($PKG_CONFIG --variable=systemdsystemunitdir systemd 2>/dev/null)],
    [no], [systemdsystemunitdir=],
    [systemdsystemunitdir="$with_systemdsystemunitdir"])
  AC_SUBST([systemdsystemunitdir])
])
