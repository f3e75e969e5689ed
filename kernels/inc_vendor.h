/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file inc_vendor.h
 * The differences between OpenCL C, in which the .cl files run, and
 * plain C, where they compile too (emu.c), for key set-up, for the self-test's
 * reference and for published vectors under sanitizers without any OpenCL.
 */
#ifndef INC_VENDOR_H
#define INC_VENDOR_H

#ifdef __OPENCL_VERSION__

#define GLOBAL_AS   __global
#define LOCAL_AS    __local
#define CONSTANT_AS __constant
#define ADDRESS(p)  ((size_t)(p))
/* always: PoCL 3.1 crashes in LLVM's inliner when left the choice. */
#define DECLSPEC static inline __attribute__((always_inline))

#else

#include <stdbool.h>
#include <stdint.h>

#define GLOBAL_AS
#define LOCAL_AS
#define CONSTANT_AS static const
#define ADDRESS(p)  ((uintptr_t)(p))
#define DECLSPEC    static inline

#endif

#endif
