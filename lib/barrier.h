/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file barrier.h
 * Atomic loads and stores of shared memory. The library uses no others, except the inline
 * functions of cygnet.h, which cannot include this private header.
 * A store_release() that publishes an index pairs with the load_acquire() of a reader that
 * follows the index.
 */
#ifndef CYGNET_BARRIER_H
#define CYGNET_BARRIER_H

#define load_relaxed(p)	    __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p)	    __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
/** Sequentially consistent accesses. If two threads each store to their own word and then load the
 * other's, at least one of them sees the other's store. */
#define load_ordered(p)	    __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define store_ordered(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)
#define add_ordered(p, n)   __atomic_fetch_add((p), (n), __ATOMIC_SEQ_CST)
/**
 * Compare and swap: store v as store_release() does if the value is *was.
 * @return  false: the value differs; *was receives it as load_relaxed() would return it
 */
#define replace_release(p, was, v) \
	__atomic_compare_exchange_n((p), (was), (v), false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
/** Loads before it happen before loads and stores after it. */
#define read_barrier() __atomic_thread_fence(__ATOMIC_ACQUIRE)
/** Loads and stores before it happen before stores after it. */
#define write_barrier() __atomic_thread_fence(__ATOMIC_RELEASE)
/** Loads and stores before it happen before loads and stores after it. */
#define full_barrier() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif
