/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file barrier.h
 * The only names through which the library orders accesses to shared memory.
 * A store_release() that publishes an index is paired with the load_acquire()
 * of the reader that follows it.
 */
#ifndef CYGNET_BARRIER_H
#define CYGNET_BARRIER_H

#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
/** Loads before it are done before loads after it: a copy, then the check of it. */
#define read_barrier() __atomic_thread_fence(__ATOMIC_ACQUIRE)
/** Stores before it are seen before stores after it. */
#define write_barrier() __atomic_thread_fence(__ATOMIC_RELEASE)
#define full_barrier() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif
