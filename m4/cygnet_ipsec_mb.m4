# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_IPSEC_MB: find ipsec_mb. Without it the drivers crypto_ipsec_mb_gcm and crypto_ipsec_mb_chain are
# not built. Debian's package has no .pc file.
AC_DEFUN([CYGNET_IPSEC_MB], [
  ipsec_mb_state="built"
  AC_CHECK_HEADER([intel-ipsec-mb.h], [
    saved_libs=$LIBS
    AC_CHECK_LIB([IPSec_MB], [imb_get_version_str], [],
      [ipsec_mb_state="not built: no libIPSec_MB"])
    LIBS=$saved_libs
    AC_CHECK_DECL([IMB_SUBMIT_CIPHER_BURST], [],
      [ipsec_mb_state="not built: ipsec_mb is older than 1.3 and has no burst functions for ciphers"],
      [#include <intel-ipsec-mb.h>])
  ], [ipsec_mb_state="not built: no intel-ipsec-mb.h"])
  AC_SUBST([IPSEC_MB_LIBS], [-lIPSec_MB])
  AM_CONDITIONAL([IPSEC_MB], [test "$ipsec_mb_state" = built])
])
