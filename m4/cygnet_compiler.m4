# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_TRY_CFLAG(FLAG): append FLAG to CYGNET_CFLAGS if the compiler accepts it.
AC_DEFUN([CYGNET_TRY_CFLAG], [
  AS_VAR_PUSHDEF([cachevar], [cygnet_cv_cflag_$1])
  AC_CACHE_CHECK([whether $CC accepts $1], [cachevar], [
    cygnet_saved_cflags="$CFLAGS"
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
      [AS_VAR_SET([cachevar], [yes])], [AS_VAR_SET([cachevar], [no])])
    CFLAGS="$cygnet_saved_cflags"
  ])
  AS_VAR_IF([cachevar], [yes], [CYGNET_CFLAGS="$CYGNET_CFLAGS $1"])
  AS_VAR_POPDEF([cachevar])
])

AC_DEFUN([CYGNET_WARNING_FLAGS], [
  CYGNET_CFLAGS="-std=gnu11 -fvisibility=hidden"
  m4_foreach_w([cygnet_flag], [-Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wstrict-prototypes
    -Wmissing-prototypes -Wpointer-arith -Wwrite-strings],
    [CYGNET_TRY_CFLAG(cygnet_flag)])
  CYGNET_LDFLAGS="-Wl,--build-id"
  AC_SUBST([CYGNET_CFLAGS])
  AC_SUBST([CYGNET_LDFLAGS])
])

# CYGNET_TRY_LDFLAG(FLAG): append FLAG to CYGNET_LDFLAGS if a program can be linked with it.
AC_DEFUN([CYGNET_TRY_LDFLAG], [
  AS_VAR_PUSHDEF([cachevar], [cygnet_cv_ldflag_$1])
  AC_CACHE_CHECK([whether $CC links with $1], [cachevar], [
    cygnet_saved_ldflags="$LDFLAGS"
    LDFLAGS="$LDFLAGS $1"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AS_VAR_SET([cachevar], [yes])], [AS_VAR_SET([cachevar], [no])])
    LDFLAGS="$cygnet_saved_ldflags"
  ])
  AS_VAR_IF([cachevar], [yes], [CYGNET_LDFLAGS="$CYGNET_LDFLAGS $1"])
  AS_VAR_POPDEF([cachevar])
])

# glibc's checks of buffers. They need optimisation: with -O0 glibc warns, and they are left out. Level 3 needs
# GCC 12 or Clang, and glibc 2.34; an older one makes it level 2. The environment may define another level.
AC_DEFUN([CYGNET_FORTIFY], [
  AC_CACHE_CHECK([whether $CC and libc accept _FORTIFY_SOURCE=3], [cygnet_cv_fortify], [
    cygnet_saved_cflags="$CFLAGS"
    CFLAGS="$CFLAGS -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>
      #ifndef __OPTIMIZE__
      #error "no optimisation"
      #endif]], [])], [cygnet_cv_fortify=yes], [cygnet_cv_fortify=no])
    CFLAGS="$cygnet_saved_cflags"
  ])
  AS_IF([test "$cygnet_cv_fortify" = yes],
    [CYGNET_CFLAGS="$CYGNET_CFLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3"])
])

# Position-independent programs, where the compiler does not make them without being told. libtool
# compiles libraries with -fPIC.
AC_DEFUN([CYGNET_PIE], [
  AC_CACHE_CHECK([whether $CC makes position-independent programs], [cygnet_cv_pie], [
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#ifndef __PIE__
      #error "not position-independent"
      #endif]], [])], [cygnet_cv_pie=yes], [cygnet_cv_pie=no])
  ])
  AS_IF([test "$cygnet_cv_pie" = no], [
    CYGNET_TRY_CFLAG([-fPIE])
    CYGNET_PIE_LDFLAGS=-pie
  ])
  AC_SUBST([CYGNET_PIE_LDFLAGS])
])

# CYGNET_HARDENING: what makes a memory error harder to exploit. testing/tests/test-hardening looks for it in
# what was built. ASan replaces _FORTIFY_SOURCE and checks less with it. After CYGNET_ENABLE_SANITIZERS.
AC_DEFUN([CYGNET_HARDENING], [
  AS_IF([test "x$enable_sanitizers" = xno], [CYGNET_FORTIFY])
  m4_foreach_w([cygnet_flag], [-fstack-protector-strong -fstack-clash-protection -fcf-protection],
    [CYGNET_TRY_CFLAG(cygnet_flag)])
  CYGNET_PIE
  m4_foreach([cygnet_flag], [[-Wl,-z,relro], [-Wl,-z,now], [-Wl,-z,noexecstack]],
    [CYGNET_TRY_LDFLAG(m4_defn([cygnet_flag]))])
])

AC_DEFUN([CYGNET_ENABLE_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers], [build with ASan and UBSan])],
    [], [enable_sanitizers=no])
  AS_IF([test "x$enable_sanitizers" != xno], [
    CYGNET_CFLAGS="$CYGNET_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DRTE_ENABLE_ASSERT"
    CYGNET_LDFLAGS="$CYGNET_LDFLAGS -fsanitize=address,undefined"
    AC_DEFINE([CYGNET_SANITIZERS], [1], [Built with ASan and UBSan])
  ])
  AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" != xno])
])

# For the targets of testing/fuzz: every file counts its edges for libFuzzer. Without --enable-sanitizers they are
# several times faster, and find only what ends the process.
AC_DEFUN([CYGNET_ENABLE_FUZZERS], [
  AC_ARG_ENABLE([fuzzers],
    [AS_HELP_STRING([--enable-fuzzers],
      [build for testing/fuzz, best with --enable-sanitizers; needs Clang and its libFuzzer])],
    [], [enable_fuzzers=no])
  AS_IF([test "x$enable_fuzzers" != xno], [
    AC_MSG_CHECKING([whether $CC has libFuzzer])
    cygnet_saved_cflags="$CFLAGS"
    CFLAGS="$CFLAGS -fsanitize=fuzzer"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	return data && size > 1 && data[0] == data[1];
}
]])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([no libFuzzer: CC=clang, and Debian's package libclang-rt-dev])])
    CFLAGS="$cygnet_saved_cflags"
    CYGNET_CFLAGS="$CYGNET_CFLAGS -fsanitize=fuzzer-no-link"
  ])
  AM_CONDITIONAL([FUZZERS], [test "x$enable_fuzzers" != xno])
])

AC_DEFUN([CYGNET_ENABLE_WERROR], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat warnings as errors])],
    [], [enable_werror=no])
  AS_IF([test "x$enable_werror" != xno], [CYGNET_CFLAGS="$CYGNET_CFLAGS -Werror"])
])

# Link-time optimisation of cygnetd, whose files call each other for each packet. Objects are fat:
# unit tests are linked without LTO, which is faster. Only with GCC, because Clang's LTO needs
# another linker.
AC_DEFUN([CYGNET_ENABLE_LTO], [
  AC_ARG_ENABLE([lto],
    [AS_HELP_STRING([--disable-lto], [build cygnetd without link-time optimisation])],
    [], [enable_lto=auto])
  AS_IF([test "x$enable_lto" = xauto], [
    AS_IF([test "x$enable_sanitizers" = xno && ! $CC --version 2>&1 | grep -qi clang],
      [enable_lto=yes], [enable_lto=no])
  ])
  AS_IF([test "x$enable_lto" != xno], [
    AC_MSG_CHECKING([whether $CC supports link-time optimisation])
    cygnet_saved_cflags="$CFLAGS"
    CFLAGS="$CFLAGS -flto=auto -ffat-lto-objects"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [], [enable_lto=no])
    CFLAGS="$cygnet_saved_cflags"
    AC_MSG_RESULT([$enable_lto])
  ])
  LTO_CFLAGS=
  AS_IF([test "x$enable_lto" != xno], [LTO_CFLAGS="-flto=auto -ffat-lto-objects"])
  AC_SUBST([LTO_CFLAGS])
])
