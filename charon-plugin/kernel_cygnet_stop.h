/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_stop kernel_cygnet_stop
 * @{ @ingroup kernel_cygnet
 * Notices that charon ends in an orderly way, and deletes its policies for no
 * other reason.
 */

#ifndef KERNEL_CYGNET_STOP_H_
#define KERNEL_CYGNET_STOP_H_

#include <bus/listeners/listener.h>

typedef struct kernel_cygnet_stop_t kernel_cygnet_stop_t;

struct kernel_cygnet_stop_t {

	/**
	 * Implements listener_t
	 */
	listener_t listener;

	/**
	 * Whether charon ends, and its policies are to be held (hold_on_stop).
	 * Any thread.
	 */
	bool (*holds)(kernel_cygnet_stop_t *this);

	/**
	 * Whether policies are to be held when the plugin is removed. If charon has
	 * said that it ends, hold_on_stop counts as it was then.
	 */
	bool (*end)(kernel_cygnet_stop_t *this);

	/**
	 * Destroy a kernel_cygnet_stop_t
	 */
	void (*destroy)(kernel_cygnet_stop_t *this);
};

/**
 * Create an object that listens to charon's bus
 */
kernel_cygnet_stop_t *kernel_cygnet_stop_create(void);

#endif /** KERNEL_CYGNET_STOP_H_ @}*/
