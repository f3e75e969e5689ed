/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_sender kernel_cygnet_sender
 * @{ @ingroup kernel_cygnet
 * Notes where charon sends IKE, for the dataplane: other programs of the host
 * can send what looks like IKE, too.
 */

#ifndef KERNEL_CYGNET_SENDER_H_
#define KERNEL_CYGNET_SENDER_H_

#include <library.h>

#include <cygnet.h>

/**
 * Put a sender in front of charon's that notes the destination of each packet
 * in the shared file. All that charon sends goes by its sender: messages of
 * IKE_SAs and their retransmits, answers without an IKE_SA, such as cookies,
 * MOBIKE's probes of paths, and keepalives.
 *
 * Called before charon has threads that send.
 *
 * @param db		shared file
 * @return			FALSE if charon has no sender
 */
bool kernel_cygnet_sender_begin(struct cygnet_db *db);

/**
 * Remove it. Called after charon's threads have ended and before its sender is
 * destroyed.
 */
void kernel_cygnet_sender_end(void);

#endif /** KERNEL_CYGNET_SENDER_H_ @}*/
