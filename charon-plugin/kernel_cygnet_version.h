/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_version kernel_cygnet_version
 * @{ @ingroup kernel_cygnet
 * The version of the daemon that loads us.
 */

#ifndef KERNEL_CYGNET_VERSION_H_
#define KERNEL_CYGNET_VERSION_H_

#include <library.h>

/**
 * Find a strongSwan version in the constants of a program: one that follows
 * "strongSwan ", as in charon's greeting, otherwise a string that is nothing
 * but a version (charon-systemd prints one by %s).
 *
 * @param data			read-only data of the program
 * @param[out] version	the version, points into data, no terminating zero
 * @return				TRUE if found
 */
bool kernel_cygnet_version_find(chunk_t data, chunk_t *version);

/**
 * Find out which strongSwan this process is. Before 6.0.3 no library and no
 * function tells, so read the constants of the running program.
 *
 * @param[out] version	the version, static, no terminating zero
 * @return				TRUE if found
 */
bool kernel_cygnet_version_of_daemon(chunk_t *version);

#endif /** KERNEL_CYGNET_VERSION_H_ @}*/
