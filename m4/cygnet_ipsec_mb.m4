# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_IPSEC_MB: ipsec_mb, for the driver crypto_ipsec_mb_gcm, which is not built without it.
# Debian's has no .pc file.
AC_DEFUN([CYGNET_IPSEC_MB], [
  ipsec_mb_state="built"
  AC_CHECK_HEADER([intel-ipsec-mb.h], [
    saved_libs=$LIBS
    AC_CHECK_LIB([IPSec_MB], [imb_get_version_str], [],
      [ipsec_mb_state="not built: no libIPSec_MB"])
    LIBS=$saved_libs
  ], [ipsec_mb_state="not built: no intel-ipsec-mb.h"])
  AC_SUBST([IPSEC_MB_LIBS], [-lIPSec_MB])
  AM_CONDITIONAL([IPSEC_MB], [test "$ipsec_mb_state" = built])
])
