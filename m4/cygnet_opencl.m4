# SPDX-License-Identifier: GPL-2.0-or-later

# CYGNET_OPENCL: whether crypto_opencl is built, which needs OpenCL's headers and the loader of its platforms.
AC_DEFUN([CYGNET_OPENCL], [
  AC_ARG_WITH([opencl],
    [AS_HELP_STRING([--without-opencl],
      [do not build crypto_opencl, DPDK's crypto driver for GPUs, which needs OpenCL])],
    [], [with_opencl=yes])
  opencl_state="not built (--without-opencl)"
  AS_IF([test "x$with_opencl" != xno], [
    PKG_CHECK_MODULES([OPENCL], [OpenCL], [],
      [AC_MSG_ERROR([no OpenCL, for crypto_opencl: $OPENCL_PKG_ERRORS
  Debian's packages are ocl-icd-opencl-dev and opencl-c-headers; --without-opencl does without a GPU])])
    opencl_state=built
  ])
  AM_CONDITIONAL([OPENCL], [test "x$with_opencl" != xno])
])
