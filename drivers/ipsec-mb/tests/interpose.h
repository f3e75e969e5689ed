/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file interpose.h
 * Replaces functions of ipsec_mb: simulates a CPU without AES-NI, and counts managers.
 */
#ifndef INTERPOSE_H
#define INTERPOSE_H

#include <stdbool.h>

#include <intel-ipsec-mb.h>

extern bool no_aesni; /* managers initialised from now on find no AES-NI */
/** Number of managers allocated; atomic. Freeing one that is not wiped fails the test. */
extern unsigned int managers_open;
/** Called whenever a manager has been initialised, for the first time or again. May be NULL. */
extern void (*manager_initialised)(IMB_MGR *mgr);

#endif
