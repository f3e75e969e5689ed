# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_STRONGSWAN: find strongSwan's headers, which no package installs, and its
# config.h, which determines the layout of its structs. A plugin works with one
# release only, whose version is in this config.h.
AC_DEFUN([CYGNET_STRONGSWAN], [
  AC_ARG_WITH([strongswan-headers],
    [AS_HELP_STRING([--with-strongswan-headers=DIR],
      [folder with config.h, src/libstrongswan and src/libcharon
       (default: those that testing/fetch-headers has put into /var/cache/cygnet)])],
    [STRONGSWAN_HEADERS="$withval"],
    [STRONGSWAN_HEADERS="${CYGNET_CACHE:-/var/cache/cygnet}/strongswan"])
  AC_MSG_CHECKING([for the strongSwan headers])
  AS_IF([test -f "$STRONGSWAN_HEADERS/config.h" &&
         test -f "$STRONGSWAN_HEADERS/src/libcharon/kernel/kernel_ipsec.h"],
    [AC_MSG_RESULT([$STRONGSWAN_HEADERS])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([no strongSwan headers in $STRONGSWAN_HEADERS:
  run testing/fetch-headers, or give --with-strongswan-headers=DIR])])
  STRONGSWAN_VERSION=$(sed -n 's/^#define VERSION "\(.*\)"$/\1/p' "$STRONGSWAN_HEADERS/config.h")
  AS_IF([test -z "$STRONGSWAN_VERSION"],
    [AC_MSG_ERROR([$STRONGSWAN_HEADERS/config.h defines no VERSION])])
  # A number that the preprocessor can compare: 60002 for 6.0.2rc1.
  strongswan_release=$(echo "$STRONGSWAN_VERSION" |
    sed -n 's/^\(@<:@0-9@:>@*\)\.\(@<:@0-9@:>@*\)\.\(@<:@0-9@:>@*\).*/\1 \2 \3/p' |
    { read -r major minor patch && printf '%d%02d%02d' "$major" "$minor" "$patch"; })
  AS_IF([test -z "$strongswan_release"],
    [AC_MSG_ERROR([$STRONGSWAN_VERSION is no release of strongSwan])])
  STRONGSWAN_CPPFLAGS="-DSTRONGSWAN_RELEASE=$strongswan_release -include $STRONGSWAN_HEADERS/config.h -isystem $STRONGSWAN_HEADERS/src/libstrongswan -isystem $STRONGSWAN_HEADERS/src/libcharon"
  AC_SUBST([STRONGSWAN_HEADERS])
  AC_SUBST([STRONGSWAN_VERSION])
  AC_SUBST([STRONGSWAN_CPPFLAGS])
  AC_ARG_WITH([strongswan-libdir],
    [AS_HELP_STRING([--with-strongswan-libdir=DIR],
      [folder with libstrongswan.so.0 and libcharon.so.0, for the plugin's unit
       tests (default: /usr/lib/ipsec)])],
    [strongswanlibdir="$withval"], [strongswanlibdir=/usr/lib/ipsec])
  AC_SUBST([strongswanlibdir])
  AC_ARG_WITH([charon-plugindir],
    [AS_HELP_STRING([--with-charon-plugindir=DIR],
      [folder from which charon loads plugins (default: /usr/lib/ipsec/plugins)])],
    [charonplugindir="$withval"], [charonplugindir=/usr/lib/ipsec/plugins])
  AC_SUBST([charonplugindir])
  AC_ARG_WITH([strongswan-confdir],
    [AS_HELP_STRING([--with-strongswan-confdir=DIR],
      [folder of charon's configuration snippets (default: /etc/strongswan.d/charon)])],
    [charonconfdir="$withval"], [charonconfdir=/etc/strongswan.d/charon])
  AC_SUBST([charonconfdir])
  AC_ARG_WITH([apparmor-dir],
    [AS_HELP_STRING([--with-apparmor-dir=DIR],
      [folder of AppArmor's profiles (default: apparmor.d beside the folder
       strongswan.d of the snippets, otherwise /etc/apparmor.d)])],
    [apparmordir="$withval"],
    [AS_CASE([$charonconfdir],
      [*/strongswan.d/charon], [apparmordir="${charonconfdir%/strongswan.d/charon}/apparmor.d"],
      [apparmordir=/etc/apparmor.d])])
  AC_SUBST([apparmordir])
])
