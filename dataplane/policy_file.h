/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file policy_file.h
 * The text of policies that are held at the next boot:
 *
 *   cygnet policies 1
 *   sadb PATH
 *   DIR ACTION PRIORITY SOURCE DESTINATION PROTOCOL SOURCE-PORTS DESTINATION-PORTS INTERFACE	(each)
 *
 * DIR is in, out or fwd, ACTION protect or discard. Ranges are FIRST-LAST. PROTOCOL is a number, 0 for any.
 * INTERFACE is cygnet_interface() in hexadecimal, 0 for any. There is exactly one text for a policy: any other
 * is refused.
 */
#ifndef CYGNETD_POLICY_FILE_H
#define CYGNETD_POLICY_FILE_H

#include <stdint.h>

#include "cygnet.h"

/** Bytes of a line, at most. */
#define POLICY_LINE 320u

/** Policies, of which reqid, SPI, protocol of the SA, mode and end points are not kept. */
struct policy_list {
	struct cygnet_policy_params *policy;
	uint32_t n;
};

/** The policies in a file that protect or discard, in an order that does not depend on slots; of equal
 * direction and selector the one that applies. Any thread.
 * @return 0 or -ENOMEM; policy_list_free() */
int policy_list_read(struct cygnet_db *db, struct policy_list *list);
/**
 * Parse a text.
 * @param text     ending in '\0'; changed
 * @param sadb     path that it has to be of
 * @param most     policies that it may have
 * @param[out] why on error: the line, and what is wrong
 * @param size     of why, bytes
 * @return 0, -EINVAL, -ESTALE (of another sadb), -ENOSPC (more than most) or -ENOMEM; on an error list is empty
 */
int policy_list_parse(char *text, const char *sadb, uint32_t most, struct policy_list *list,
		      char *why, size_t size);
/** Write policies as text. @param[out] len  bytes, without the '\0' @return for free(); NULL: no memory */
char *policy_list_text(const struct policy_list *list, const char *sadb, size_t *len);
void policy_list_free(struct policy_list *list);

#endif
