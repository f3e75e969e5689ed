/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_refused kernel_cygnet_refused
 * @{ @ingroup kernel_cygnet
 * SAs that were refused and that charon is about to delete.
 */

#ifndef KERNEL_CYGNET_REFUSED_H_
#define KERNEL_CYGNET_REFUSED_H_

#include <cygnet.h>

typedef struct kernel_cygnet_refused_t kernel_cygnet_refused_t;

/**
 * charon also deletes an SA that add_sa() has refused. Another peer may have an
 * SA with that id: peers choose the SPIs of outbound SAs, and those behind one
 * NAT have one address. A refusal is remembered with the peer of the calling
 * thread's IKE_SA, so that other peers' del_sa() is not mistaken for the one
 * that follows it. A peer is its identity, as in kernel_cygnet_peers_t: the
 * CHILD_SA may have got another IKE_SA since.
 *
 * If two IKE_SAs of one identity choose the same SPI, the first of the two
 * del_sa() is ignored, whichever IKE_SA it is for, and the second one deletes
 * the SA.
 *
 * Thread-safe.
 */
struct kernel_cygnet_refused_t {

	/**
	 * An SA of the calling thread's peer has been refused.
	 *
	 * @param id		id of the SA
	 */
	void (*add)(kernel_cygnet_refused_t *this, const struct cygnet_sa_id *id);

	/**
	 * Whether an SA with that id has been refused to the calling thread's peer,
	 * and charon has not deleted it yet.
	 *
	 * @param id		id of the SA
	 */
	bool (*has)(kernel_cygnet_refused_t *this, const struct cygnet_sa_id *id);

	/**
	 * Same as has(), and forget one refusal.
	 *
	 * @param id		id of the SA
	 */
	bool (*take)(kernel_cygnet_refused_t *this, const struct cygnet_sa_id *id);

	/**
	 * Forget all refusals.
	 */
	void (*flush)(kernel_cygnet_refused_t *this);

	/**
	 * Destroy this object.
	 */
	void (*destroy)(kernel_cygnet_refused_t *this);
};

/**
 * Create a kernel_cygnet_refused_t.
 *
 * @param lifetime	seconds after which a refusal is forgotten: charon has not
 *					deleted the SA, or as somebody else, and a later SA of
 *					that id must not stay when charon deletes it
 * @return			instance
 */
kernel_cygnet_refused_t *kernel_cygnet_refused_create(u_int lifetime);

#endif /** KERNEL_CYGNET_REFUSED_H_ @}*/
