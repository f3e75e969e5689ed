/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_heap kernel_cygnet_heap
 * @{ @ingroup kernel_cygnet
 * Priority queue of items by the time when they are due.
 */

#ifndef KERNEL_CYGNET_HEAP_H_
#define KERNEL_CYGNET_HEAP_H_

#include <library.h>

typedef struct kernel_cygnet_heap_t kernel_cygnet_heap_t;

/**
 * A binary heap of items. Not thread-safe.
 */
struct kernel_cygnet_heap_t {

	/**
	 * Add an item.
	 *
	 * @param due		when it is due, seconds
	 * @param item		the item, freed by the caller after take()
	 */
	void (*put)(kernel_cygnet_heap_t *this, time_t due, void *item);

	/**
	 * Get the time when the next item is due.
	 *
	 * @param[out] due	when it is due, seconds
	 * @return			FALSE if the heap is empty
	 */
	bool (*next)(kernel_cygnet_heap_t *this, time_t *due);

	/**
	 * Remove the next item.
	 *
	 * @return			the item, NULL if the heap is empty
	 */
	void *(*take)(kernel_cygnet_heap_t *this);

	/**
	 * Destroy this object, which must be empty.
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
