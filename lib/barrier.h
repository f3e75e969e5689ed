/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file barrier.h
 * The only names through which the library orders accesses to shared memory, but for the inline
 * functions of cygnet.h, which others compile: those spell out load_acquire() and store_release().
 * A store_release() that publishes an index is paired with the load_acquire()
 * of the reader that follows it.
 */
#ifndef CYGNET_BARRIER_H
#define CYGNET_BARRIER_H

#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
/** What is looked at by the other side after it has done the same with another word: of two who
 * each write one and then read the other's, one sees what the other one wrote. */
#define load_ordered(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define store_ordered(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)
#define add_ordered(p, n) __atomic_fetch_add((p), (n), __ATOMIC_SEQ_CST)
/** Store v if the value is still *was, as store_release() would. @return false: it is not, and
 * *was says what it is, as load_relaxed() would */
#define replace_release(p, was, v) \
	__atomic_compare_exchange_n((p), (was), (v), false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
/** Loads before it are done before loads after it: a copy, then the check of it. */
#define read_barrier() __atomic_thread_fence(__ATOMIC_ACQUIRE)
/** Stores before it are seen before stores after it. */
#define write_barrier() __atomic_thread_fence(__ATOMIC_RELEASE)
#define full_barrier() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif
