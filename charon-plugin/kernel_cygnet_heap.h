/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_heap kernel_cygnet_heap
 * @{ @ingroup kernel_cygnet
 * Things that are due at some time, the next one first.
 */

#ifndef KERNEL_CYGNET_HEAP_H_
#define KERNEL_CYGNET_HEAP_H_

#include <library.h>

typedef struct kernel_cygnet_heap_t kernel_cygnet_heap_t;

/**
 * A heap. Not thread-safe.
 */
struct kernel_cygnet_heap_t {

	/**
	 * Add a thing.
	 *
	 * @param due		when it is due
	 * @param item		the thing, stays with the caller
	 */
	void (*put)(kernel_cygnet_heap_t *this, time_t due, void *item);

	/**
	 * Tell when the next thing is due.
	 *
	 * @param[out] due	when it is due
	 * @return			FALSE if there is none
	 */
	bool (*next)(kernel_cygnet_heap_t *this, time_t *due);

	/**
	 * Take out the next thing.
	 *
	 * @return			the thing, NULL if there is none
	 */
	void *(*take)(kernel_cygnet_heap_t *this);

	/**
	 * Destroy this object, which is empty.
	 */
	void (*destroy)(kernel_cygnet_heap_t *this);
};

/**
 * Create a kernel_cygnet_heap_t.
 *
 * @return			instance
 */
kernel_cygnet_heap_t *kernel_cygnet_heap_create(void);

#endif /** KERNEL_CYGNET_HEAP_H_ @}*/
