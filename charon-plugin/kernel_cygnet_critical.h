/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_critical kernel_cygnet_critical
 * @{ @ingroup kernel_cygnet
 * Whether charon may run without the plugin.
 */

#ifndef KERNEL_CYGNET_CRITICAL_H_
#define KERNEL_CYGNET_CRITICAL_H_

#include <library.h>

/**
 * Whether the configuration makes the plugin critical, by an exclamation mark:
 * in <ns>.plugins.kernel-cygnet!.load if plugins are configured one by one, or
 * in the list <ns>.load. If a critical plugin cannot be loaded, charon ends.
 * If a plugin that is not critical cannot be loaded, charon uses kernel-netlink
 * and installs SAs and policies in the kernel. No packet of cygnetd passes the
 * kernel, so packets to be protected leave as plaintext.
 *
 * @return				TRUE if charon ends when it cannot load the plugin
 */
bool kernel_cygnet_critical(void);

#endif /** KERNEL_CYGNET_CRITICAL_H_ @}*/
