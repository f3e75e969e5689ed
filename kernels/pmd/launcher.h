/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file launcher.h
 * A thread that launches and polls the chunks of all queue pairs of a device (launches=thread). So
 * lcores do not spend time in OpenCL, and the memory that OpenCL's driver writes stays in the caches
 * of one core, which the thread keeps busy.
 */
#ifndef OCL_LAUNCHER_H
#define OCL_LAUNCHER_H

#include <stdbool.h>

struct ocl_chunk;
struct ocl_launcher;
struct ocl_pmd;

/* Chunks with the device, at most; the ring in front of the thread takes twice as many, less one. */
#define OCL_LAUNCHER_CHUNKS 1024

/**
 * Start the thread, on a processor that is no lcore's if there is one. With launches=auto only if each
 * device's thread has such a processor and the start succeeds; the log says so.
 * @return 0, -ENOMEM or -errno, logged
 */
int ocl_launcher_start(struct ocl_pmd *pmd);

/** End the thread, with no chunk under way. If it is stuck in OpenCL, it and its chunks are left behind. */
void ocl_launcher_stop(struct ocl_pmd *pmd);

/**
 * Have a closed chunk launched. It is the thread's until chunk->returned is a final state; a queue pair
 * that gives it up before calls ocl_chunk_withdraw().
 * @return false if the ring is full
 */
bool ocl_launcher_post(struct ocl_launcher *launcher, struct ocl_chunk *chunk);

#endif
