/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sadb.h
 * The shared SAD/SPD file that this process serves.
 */
#ifndef CYGNETD_SADB_H
#define CYGNETD_SADB_H

#include "cygnet.h"

/** The open file; set before the workers start. */
extern struct cygnet_db *sadb;

/** Process id of charon, 0 if there is none. Written by the control thread; atomic. */
extern int sadb_charon;

#endif
