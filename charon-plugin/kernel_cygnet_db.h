/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_db kernel_cygnet_db
 * @{ @ingroup kernel_cygnet
 * The shared file with SAD, SPD and events, as charon's.
 */

#ifndef KERNEL_CYGNET_DB_H_
#define KERNEL_CYGNET_DB_H_

#include <library.h>

#include <cygnet.h>

/**
 * Open the shared file, or create it, become its charon, and empty it of what an
 * earlier charon left. A damaged file that nobody works with is replaced.
 *
 * @return			NULL on failure, which is logged; then nothing has changed
 *					for a charon that has the file
 */
struct cygnet_db *kernel_cygnet_db_open(void);

/**
 * Empty the databases, and close the file.
 *
 * @param db		from kernel_cygnet_db_open()
 */
void kernel_cygnet_db_close(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_DB_H_ @}*/
