/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sadb.h
 * The shared SAD/SPD file that this process serves.
 */
#ifndef CYGNETD_SADB_H
#define CYGNETD_SADB_H

#include "conf/conf.h"
#include "cygnet.h"

/** Numbers of readers of the file: workers have the lowest, the control thread and the thread of a trace, each
 * while it reads, the highest. */
#define SADB_READER_CONTROL (CYGNET_MAX_READERS - 1)
#define SADB_READER_TRACE   (CYGNET_MAX_READERS - 2)
_Static_assert(CONF_MAX_WORKERS <= SADB_READER_TRACE, "workers have the numbers below it");

/** The open file; set before the workers start. */
extern struct cygnet_db *sadb;

/** Process id of charon, 0 if there is none. Written by the control thread; atomic. */
extern int sadb_charon;
/** Since when there is no charon, or this process has known of none, seconds of CLOCK_MONOTONIC; 0: there is one. Written as
 * sadb_charon. */
extern uint64_t sadb_charon_gone;

#endif
