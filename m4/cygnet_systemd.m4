# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_SYSTEMD: where the unit of cygnetd is installed.
AC_DEFUN([CYGNET_SYSTEMD], [
  AC_ARG_WITH([systemdsystemunitdir],
    [AS_HELP_STRING([--with-systemdsystemunitdir=DIR],
      [where systemd looks for units; no: install none (default: as
       systemd.pc says, none if there is no such file)])],
    [], [with_systemdsystemunitdir=yes])
  AS_CASE([$with_systemdsystemunitdir],
    [yes], [systemdsystemunitdir=$($PKG_CONFIG --variable=systemdsystemunitdir systemd 2>/dev/null)],
    [no], [systemdsystemunitdir=],
    [systemdsystemunitdir="$with_systemdsystemunitdir"])
  AC_SUBST([systemdsystemunitdir])
])
