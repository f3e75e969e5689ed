/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_db kernel_cygnet_db
 * @{ @ingroup kernel_cygnet
 * Opens and closes the shared file with SAD, SPD and events.
 */

#ifndef KERNEL_CYGNET_DB_H_
#define KERNEL_CYGNET_DB_H_

#include <library.h>

#include <cygnet.h>

/**
 * Path of the shared file, as set
 */
const char *kernel_cygnet_db_path(void);

/**
 * Open the shared file, or create it, take the role of charon, and remove the
 * SAs and policies of an earlier charon. A damaged file is replaced unless
 * another process holds a role.
 *
 * @param hold		0, or seconds to log for which policies that protect or
 *					discard are held; kernel_cygnet_hold_t removes them
 * @return			NULL on failure, which is logged. A file that another charon
 *					uses is not changed.
 */
struct cygnet_db *kernel_cygnet_db_open(uint32_t hold);

/**
 * Remove all SAs and policies, wipe their keys, and close the file.
 *
 * @param db		from kernel_cygnet_db_open()
 * @param hold		whether policies that protect or discard are held instead
 */
void kernel_cygnet_db_close(struct cygnet_db *db, bool hold);

/**
 * The file that charon has open
 *
 * @return			NULL if there is none
 */
struct cygnet_db *kernel_cygnet_db_get(void);

/**
 * Say why a function of libcygnet has failed
 *
 * @param err		its negative errno
 */
const char *kernel_cygnet_db_why(int err);

#endif /** KERNEL_CYGNET_DB_H_ @}*/
