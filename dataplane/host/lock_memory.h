/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file lock_memory.h
 * Keeps keys out of swap space.
 */
#ifndef CYGNETD_LOCK_MEMORY_H
#define CYGNETD_LOCK_MEMORY_H

#include "conf/conf.h"

/**
 * Lock all memory that the process has and will have, as its pages come into use: the shared file, sessions,
 * staging memory of devices, mempools outside huge pages. Nothing is done with lock_memory = no. Called once
 * from main(), before DPDK starts.
 * @return 0 or -errno, logged: the process may not lock without limit
 */
int lock_memory(const struct conf *conf);

#endif
