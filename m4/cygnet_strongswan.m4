# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_STRONGSWAN: strongSwan's headers, which no package installs, and the
# config.h that fixes the layout of its structs. One plugin serves one release:
# the version is the one in that config.h.
AC_DEFUN([CYGNET_STRONGSWAN], [
  AC_ARG_WITH([strongswan-headers],
    [AS_HELP_STRING([--with-strongswan-headers=DIR],
      [folder with config.h, src/libstrongswan and src/libcharon
       (default: what testing/fetch-headers left in /var/cache/cygnet)])],
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
  # 6.0.2rc1 is 60002, for the preprocessor to compare.
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
      [where libstrongswan.so.0 and libcharon.so.0 are, for the plugin's unit
       tests (default: /usr/lib/ipsec)])],
    [strongswanlibdir="$withval"], [strongswanlibdir=/usr/lib/ipsec])
  AC_SUBST([strongswanlibdir])
  AC_ARG_WITH([charon-plugindir],
    [AS_HELP_STRING([--with-charon-plugindir=DIR],
      [where charon looks for plugins (default: /usr/lib/ipsec/plugins)])],
    [charonplugindir="$withval"], [charonplugindir=/usr/lib/ipsec/plugins])
  AC_SUBST([charonplugindir])
  AC_ARG_WITH([strongswan-confdir],
    [AS_HELP_STRING([--with-strongswan-confdir=DIR],
      [where charon's snippets live (default: /etc/strongswan.d/charon)])],
    [charonconfdir="$withval"], [charonconfdir=/etc/strongswan.d/charon])
  AC_SUBST([charonconfdir])
  AC_ARG_WITH([apparmor-dir],
    [AS_HELP_STRING([--with-apparmor-dir=DIR],
      [where AppArmor's profiles are (default: apparmor.d beside the folder
       strongswan.d of the snippets, else /etc/apparmor.d)])],
    [apparmordir="$withval"],
    [AS_CASE([$charonconfdir],
      [*/strongswan.d/charon], [apparmordir="${charonconfdir%/strongswan.d/charon}/apparmor.d"],
      [apparmordir=/etc/apparmor.d])])
  AC_SUBST([apparmordir])
])
