/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_peers kernel_cygnet_peers
 * @{ @ingroup kernel_cygnet
 * Limits the number of SAs and policies of a peer, and keeps a reserve.
 */

#ifndef KERNEL_CYGNET_PEERS_H_
#define KERNEL_CYGNET_PEERS_H_

#include <bus/listeners/listener.h>
#include <cygnet.h>

typedef struct kernel_cygnet_peers_t kernel_cygnet_peers_t;
typedef struct kernel_cygnet_ike_sa_t kernel_cygnet_ike_sa_t;

/**
 * What a peer installs counts for its IKE_SA, its identity and its connection,
 * each of which has a limit. The identity is that of EAP or XAuth if used,
 * otherwise that of IKE. A peer may be able to choose it (the outer identity of
 * EAP, or any with the PSK of a group), and with it use up another peer's limit,
 * but not the connection, the name of the peer_cfg_t. An IKE_SA that replaces
 * another one by rekeying has what that one had.
 *
 * Some slots are reserved for SAs and policies that replace others of their
 * IKE_SA. Beyond the limits an IKE_SA may have an eighth of the reserve for that,
 * and its identity a half, so that no other peer can prevent rekeying.
 *
 * SAs and policies installed without an IKE_SA, such as traps and shunts, belong
 * to no peer and are not limited.
 *
 * Thread-safe.
 */
struct kernel_cygnet_peers_t {

	/**
	 * Implements listener_t, for IKE_SAs that are rekeyed
	 */
	listener_t listener;

	/**
	 * Whether the calling thread's IKE_SA may reserve an SPI, which takes a slot
	 * until it is released. An IKE_SA with a CHILD_SA may use the reserve, as it
	 * may be about to rekey it. A refusal is logged.
	 */
	bool (*may_reserve_spi)(kernel_cygnet_peers_t *this);

	/**
	 * Count one more SA of the calling thread's IKE_SA. A refusal is logged.
	 *
	 * @param reqid			of the SA
	 * @param[out] owner	to pass to put_sa(), NULL if there is no IKE_SA
	 * @return				FALSE if the IKE_SA may not have another SA
	 */
	bool (*get_sa)(kernel_cygnet_peers_t *this, uint32_t reqid,
				   kernel_cygnet_ike_sa_t **owner);

	/**
	 * Count one SA less.
	 *
	 * @param owner		as from get_sa()
	 */
	void (*put_sa)(kernel_cygnet_peers_t *this, kernel_cygnet_ike_sa_t *owner);

	/**
	 * Count one more policy, or one more install of it, of the calling thread's
	 * IKE_SA. A refusal is logged. One without a reqid, for forwarded packets
	 * (policies_fwd_out), may use the reserve if the IKE_SA has a CHILD_SA: those
	 * of a CHILD_SA and of its successor are one policy, unless addresses change.
	 *
	 * @param params	the policy
	 * @return			FALSE if the IKE_SA may not have another policy
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
 * @param db		shared file, whose numbers of slots the defaults depend on
 * @return			instance
 */
kernel_cygnet_peers_t *kernel_cygnet_peers_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_PEERS_H_ @}*/
