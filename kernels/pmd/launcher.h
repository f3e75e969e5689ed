/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file launcher.h
 * A thread that makes all calls of OpenCL that a launch takes, and asks for what has become of it,
 * for all queue pairs of a device (launches=thread): the lcores that feed it have the time for
 * packets, and what OpenCL's driver writes stays in the caches of one core, which the thread keeps
 * busy.
 */
#ifndef OCL_LAUNCHER_H
#define OCL_LAUNCHER_H

#include <stdbool.h>

struct ocl_chunk;
struct ocl_launcher;
struct ocl_pmd;

/* With the device at a time; all but one of twice as many may wait for the thread besides. */
#define OCL_LAUNCHER_CHUNKS 1024

/**
 * Start it, on a processor that is no lcore's if there is one. With launches=auto only if there is one for
 * each device's thread, and if it can be started; the log says which it was.
 * @return 0, -ENOMEM or -errno, logged
 */
int ocl_launcher_start(struct ocl_pmd *pmd);

/** End it, with nothing under way. One that is stuck in OpenCL is left alone, with its chunks. */
void ocl_launcher_stop(struct ocl_pmd *pmd);

/**
 * Have a closed chunk launched. It is the thread's until chunk->returned is a final state; a queue pair
 * that gives it up before calls ocl_chunk_withdraw().
 * @return false if the ring is full
 */
bool ocl_launcher_post(struct ocl_launcher *launcher, struct ocl_chunk *chunk);

#endif
