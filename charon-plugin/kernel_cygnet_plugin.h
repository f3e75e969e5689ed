/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet kernel_cygnet
 * @ingroup cplugins
 *
 * @defgroup kernel_cygnet_plugin kernel_cygnet_plugin
 * @{ @ingroup kernel_cygnet
 */

#ifndef KERNEL_CYGNET_PLUGIN_H_
#define KERNEL_CYGNET_PLUGIN_H_

#include <library.h>
#include <plugins/plugin.h>

typedef struct kernel_cygnet_plugin_t kernel_cygnet_plugin_t;

/**
 * Plugin that installs charon's SAs and policies in the SAD and SPD of Cygnet's
 * dataplane.
 */
struct kernel_cygnet_plugin_t {

	/**
	 * Implements plugin interface
	 */
	plugin_t plugin;
};

#endif /** KERNEL_CYGNET_PLUGIN_H_ @}*/
