/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file no-aesni.h
 * ipsec_mb as it is on a CPU without AES-NI.
 */
#ifndef NO_AESNI_H
#define NO_AESNI_H

#include <stdbool.h>

extern bool no_aesni; /* from now on */

#endif
