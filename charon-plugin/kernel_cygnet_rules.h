/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_rules kernel_cygnet_rules
 * @{ @ingroup kernel_cygnet
 * What policies mean for a kernel that protects nothing, as rules of nftables.
 */

#ifndef KERNEL_CYGNET_RULES_H_
#define KERNEL_CYGNET_RULES_H_

#include <cygnet.h>
#include <library.h>

/** Table of family inet that the rules are in */
#define KERNEL_CYGNET_TABLE "cygnet_closed"

/**
 * Write the commands of nft that replace the table by one in which the kernel
 * drops what the policies protect or discard: what it sends (OUT), delivers (IN)
 * and forwards (OUT and FWD). Rules have the order in which policies apply, a
 * bypass lets packets pass. Not dropped are IKE of charon's ports, neighbour
 * discovery, and what stays on the loopback interface.
 *
 * Where nftables cannot say what a policy selects, for example by interface, the
 * kernel drops more than the policy protects, and lets nothing more pass. May be
 * called by any thread.
 *
 * @param db			shared file. What changes meanwhile may be missing:
 *						cygnet_spd_changes() is different then from what it was before
 * @param[out] text		commands, to be freed; NULL if no packet is to be dropped
 * @return				FALSE if there is no memory
 */
bool kernel_cygnet_rules(struct cygnet_db *db, char **text);

#endif /** KERNEL_CYGNET_RULES_H_ @}*/
