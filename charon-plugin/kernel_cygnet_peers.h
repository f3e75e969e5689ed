/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_peers kernel_cygnet_peers
 * @{ @ingroup kernel_cygnet
 * Limits the number of SAs and policies of a peer.
 */

#ifndef KERNEL_CYGNET_PEERS_H_
#define KERNEL_CYGNET_PEERS_H_

#include <cygnet.h>

typedef struct kernel_cygnet_peers_t kernel_cygnet_peers_t;
typedef struct kernel_cygnet_peer_t kernel_cygnet_peer_t;

/**
 * A peer is the identity that was authenticated in IKE: that of EAP or XAuth if
 * used, otherwise the IKE identity. SAs and policies installed without an
 * IKE_SA, such as traps and shunts, belong to no peer and are not limited.
 *
 * Thread-safe.
 */
struct kernel_cygnet_peers_t {

	/**
	 * Count one more SA of the peer of the calling thread's IKE_SA. A refusal
	 * is logged.
	 *
	 * @param[out] peer	to pass to put_sa(), NULL if there is no IKE_SA
	 * @return			FALSE if the peer may not have another SA
	 */
	bool (*get_sa)(kernel_cygnet_peers_t *this, kernel_cygnet_peer_t **peer);

	/**
	 * Count one SA less.
	 *
	 * @param peer		as from get_sa()
	 */
	void (*put_sa)(kernel_cygnet_peers_t *this, kernel_cygnet_peer_t *peer);

	/**
	 * Count one more policy, or one more install of it, of the peer of the
	 * calling thread's IKE_SA. A refusal is logged.
	 *
	 * @param params	the policy
	 * @return			FALSE if the peer may not have another policy
	 */
	bool (*get_policy)(kernel_cygnet_peers_t *this,
					   const struct cygnet_policy_params *params);

	/**
	 * Undo one get_policy(). Policies that were not counted are ignored.
	 *
	 * @param params	the policy; its end points may have changed
	 */
	void (*put_policy)(kernel_cygnet_peers_t *this,
					   const struct cygnet_policy_params *params);

	/**
	 * Stop counting all policies.
	 */
	void (*flush_policies)(kernel_cygnet_peers_t *this);

	/**
	 * Destroy, after put_sa() for each SA.
	 */
	void (*destroy)(kernel_cygnet_peers_t *this);
};

/**
 * Create a kernel_cygnet_peers_t with the limits of strongswan.conf
 *
 * @param room		slots of the shared file, for the default limits
 * @return			instance
 */
kernel_cygnet_peers_t *kernel_cygnet_peers_create(
										const struct cygnet_geometry *room);

#endif /** KERNEL_CYGNET_PEERS_H_ @}*/
