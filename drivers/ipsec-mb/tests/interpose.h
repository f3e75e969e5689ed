/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file interpose.h
 * In front of ipsec_mb: what it finds out of the CPU, and its managers.
 */
#ifndef INTERPOSE_H
#define INTERPOSE_H

#include <stdbool.h>

#include <intel-ipsec-mb.h>

extern bool no_aesni;		   /* from now on as on a CPU without */
extern unsigned int managers_open; /* atomic; one is wiped before it is freed, else the test ends */
extern void (*manager_begins)(IMB_MGR *mgr); /* is told of one that begins, also again; or NULL */

#endif
