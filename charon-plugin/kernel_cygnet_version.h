/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_version kernel_cygnet_version
 * @{ @ingroup kernel_cygnet
 * The version of the daemon that loads the plugin.
 */

#ifndef KERNEL_CYGNET_VERSION_H_
#define KERNEL_CYGNET_VERSION_H_

#include <library.h>

/**
 * Find a strongSwan version in the constants of a program. It is a version that
 * follows "strongSwan ", as in charon's greeting, or otherwise a string that is
 * only a version, which charon-systemd prints with %s.
 *
 * @param data			read-only data of the program
 * @param[out] version	the version, points into data, not terminated
 * @return				TRUE if found
 */
bool kernel_cygnet_version_find(chunk_t data, chunk_t *version);

/**
 * Find the strongSwan version of this process. Before 6.0.3 no library has a
 * function that returns it, so search the constants of the running program.
 *
 * @param[out] version	the version, static, not terminated
 * @return				TRUE if found
 */
bool kernel_cygnet_version_of_daemon(chunk_t *version);

#endif /** KERNEL_CYGNET_VERSION_H_ @}*/
