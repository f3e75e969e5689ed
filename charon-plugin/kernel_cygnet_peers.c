/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_peers.h"

#include <daemon.h>
#include <collections/hashtable.h>
#include <threading/mutex.h>

/** Number of IKE_SAs whose peers are cached */
#define RECENT 256

typedef struct private_kernel_cygnet_peers_t private_kernel_cygnet_peers_t;

/**
 * Kinds of objects that are limited
 */
typedef enum {
	PEER_SAS,
	PEER_POLICIES,
	PEER_KINDS,
} peer_kind_t;

static const char *kind_names[] = {"SAs", "policies"};

static const char *kind_options[] = {
	"max_sas_per_peer", "max_policies_per_peer",
};

/**
 * The peer of an IKE_SA
 */
typedef struct {
	/** unique ID of the IKE_SA */
	uint32_t ike_sa;
	/** its peer, NULL if unused */
	kernel_cygnet_peer_t *peer;
} recent_t;

struct private_kernel_cygnet_peers_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_peers_t public;

	/**
	 * Peers with SAs or policies, identification_t => kernel_cygnet_peer_t
	 */
	hashtable_t *peers;

	/**
	 * Cache of the peers of recent IKE_SAs, by unique ID modulo RECENT: finding
	 * an identity takes charon as long as the rest of an SA's installation
	 */
	recent_t recent[RECENT];

	/**
	 * Installed policies, installed_t as key and value
	 */
	hashtable_t *policies;

	/**
	 * Limits; 0: none
	 */
	uint32_t limit[PEER_KINDS];

	/**
	 * Locks peers, recent, policies and what they contain
	 */
	mutex_t *mutex;
};

/**
 * A peer
 */
struct kernel_cygnet_peer_t {
	/** its identity */
	identification_t *id;
	/** numbers of its SAs and policies */
	uint32_t count[PEER_KINDS];
	/** whether the warning was logged; cleared at half of the limit */
	bool warned[PEER_KINDS];
};

/**
 * An installed policy
 */
typedef struct {
	/** its parameters without the end points, which MOBIKE changes */
	u_char key[offsetof(struct cygnet_policy_params, af)];
	/** its peer, NULL if it belongs to none */
	kernel_cygnet_peer_t *peer;
	/** number of installs */
	uint32_t installs;
} installed_t;

static u_int hash_policy(const void *key)
{
	const installed_t *policy = key;

	return chunk_hash(chunk_from_thing(policy->key));
}

static bool equal_policies(const void *key, const void *other_key)
{
	const installed_t *a = key, *b = other_key;

	return memeq(a->key, b->key, sizeof(a->key));
}

/**
 * Find or add the peer with an identity; the caller holds the mutex
 */
static kernel_cygnet_peer_t *find_id(private_kernel_cygnet_peers_t *this,
									 identification_t *id)
{
	kernel_cygnet_peer_t *peer;

	peer = this->peers->get(this->peers, id);
	if (!peer)
	{
		INIT(peer,
			.id = id->clone(id),
		);
		this->peers->put(this->peers, peer->id, peer);
	}
	return peer;
}

/**
 * Find or add the peer of an IKE_SA, whose identity is final once it has SAs;
 * the caller holds the mutex
 */
static kernel_cygnet_peer_t *find_peer(private_kernel_cygnet_peers_t *this,
									   ike_sa_t *ike_sa)
{
	uint32_t id = ike_sa->get_unique_id(ike_sa);
	recent_t *recent = &this->recent[id % RECENT];

	if (!recent->peer || recent->ike_sa != id)
	{
		recent->ike_sa = id;
		recent->peer = find_id(this, ike_sa->get_other_eap_id(ike_sa));
	}
	return recent->peer;
}

/**
 * Remove a peer from the cache of IKE_SAs; the caller holds the mutex
 */
static void forget_recent(private_kernel_cygnet_peers_t *this,
						  kernel_cygnet_peer_t *peer)
{
	int i;

	for (i = 0; i < RECENT; i++)
	{
		if (this->recent[i].peer == peer)
		{
			this->recent[i].peer = NULL;
		}
	}
}

/**
 * Remove a peer if it has no SAs and policies; the caller holds the mutex
 */
static void drop_unused(private_kernel_cygnet_peers_t *this,
						kernel_cygnet_peer_t *peer)
{
	if (!peer->count[PEER_SAS] && !peer->count[PEER_POLICIES])
	{
		forget_recent(this, peer);
		this->peers->remove(this->peers, peer->id);
		peer->id->destroy(peer->id);
		free(peer);
	}
}

/**
 * Count one more SA or policy of a peer; the caller holds the mutex
 *
 * Returns FALSE if the peer is at its limit.
 */
static bool count_up(private_kernel_cygnet_peers_t *this,
					 kernel_cygnet_peer_t *peer, peer_kind_t kind)
{
	uint32_t limit = this->limit[kind];

	if (limit && peer->count[kind] >= limit)
	{
		DBG1(DBG_KNL, "peer '%Y' has %u %s, the limit of %s in strongswan.conf, "
			 "one more refused", peer->id, peer->count[kind], kind_names[kind],
			 kind_options[kind]);
		return FALSE;
	}
	peer->count[kind]++;
	if (limit && !peer->warned[kind] &&
		(uint64_t)peer->count[kind] * 5 >= (uint64_t)limit * 4)
	{
		DBG1(DBG_KNL, "peer '%Y' has %u %s, %s in strongswan.conf is %u",
			 peer->id, peer->count[kind], kind_names[kind], kind_options[kind],
			 limit);
		peer->warned[kind] = TRUE;
	}
	return TRUE;
}

/**
 * Count one SA or policy less of a peer; the caller holds the mutex
 */
static void count_down(private_kernel_cygnet_peers_t *this,
					   kernel_cygnet_peer_t *peer, peer_kind_t kind)
{
	peer->count[kind]--;
	if (peer->count[kind] <= this->limit[kind] / 2)
	{
		peer->warned[kind] = FALSE;
	}
	drop_unused(this, peer);
}

METHOD(kernel_cygnet_peers_t, get_sa, bool,
	private_kernel_cygnet_peers_t *this, kernel_cygnet_peer_t **out)
{
	ike_sa_t *ike_sa = charon->bus->get_sa(charon->bus);
	kernel_cygnet_peer_t *peer;
	bool may;

	*out = NULL;
	if (!ike_sa)
	{
		return TRUE;
	}
	this->mutex->lock(this->mutex);
	peer = find_peer(this, ike_sa);
	may = count_up(this, peer, PEER_SAS);
	if (may)
	{
		*out = peer;
	}
	drop_unused(this, peer);
	this->mutex->unlock(this->mutex);
	return may;
}

METHOD(kernel_cygnet_peers_t, put_sa, void,
	private_kernel_cygnet_peers_t *this, kernel_cygnet_peer_t *peer)
{
	if (peer)
	{
		this->mutex->lock(this->mutex);
		count_down(this, peer, PEER_SAS);
		this->mutex->unlock(this->mutex);
	}
}

/**
 * Count a policy that was not installed yet; the caller holds the mutex
 *
 * Returns FALSE if its peer is at its limit.
 */
static bool count_policy(private_kernel_cygnet_peers_t *this,
						 installed_t *policy, ike_sa_t *ike_sa)
{
	kernel_cygnet_peer_t *peer;

	if (!ike_sa)
	{
		return TRUE;
	}
	peer = find_peer(this, ike_sa);
	if (!count_up(this, peer, PEER_POLICIES))
	{
		drop_unused(this, peer);
		return FALSE;
	}
	policy->peer = peer;
	return TRUE;
}

METHOD(kernel_cygnet_peers_t, get_policy, bool,
	private_kernel_cygnet_peers_t *this,
	const struct cygnet_policy_params *params)
{
	ike_sa_t *ike_sa = charon->bus->get_sa(charon->bus);
	installed_t *policy, *old;
	bool may = TRUE;

	INIT(policy,
		.installs = 1,
	);
	memcpy(policy->key, params, sizeof(policy->key));
	this->mutex->lock(this->mutex);
	/* put() replaces key and value of an installed policy */
	old = this->policies->put(this->policies, policy, policy);
	if (old)
	{
		policy->peer = old->peer;
		policy->installs += old->installs;
		free(old);
	}
	else if (!count_policy(this, policy, ike_sa))
	{
		this->policies->remove(this->policies, policy);
		free(policy);
		may = FALSE;
	}
	this->mutex->unlock(this->mutex);
	return may;
}

/**
 * Free a policy that was removed from the table; the caller holds the mutex
 */
static void forget_policy(private_kernel_cygnet_peers_t *this,
						  installed_t *policy)
{
	if (policy->peer)
	{
		count_down(this, policy->peer, PEER_POLICIES);
	}
	free(policy);
}

METHOD(kernel_cygnet_peers_t, put_policy, void,
	private_kernel_cygnet_peers_t *this,
	const struct cygnet_policy_params *params)
{
	installed_t lookup, *policy;

	memcpy(lookup.key, params, sizeof(lookup.key));
	this->mutex->lock(this->mutex);
	policy = this->policies->get(this->policies, &lookup);
	if (policy && --policy->installs == 0)
	{
		this->policies->remove(this->policies, policy);
		forget_policy(this, policy);
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_peers_t, flush_policies, void,
	private_kernel_cygnet_peers_t *this)
{
	enumerator_t *enumerator;
	installed_t *policy;

	this->mutex->lock(this->mutex);
	enumerator = this->policies->create_enumerator(this->policies);
	while (enumerator->enumerate(enumerator, NULL, &policy))
	{
		this->policies->remove_at(this->policies, enumerator);
		forget_policy(this, policy);
	}
	enumerator->destroy(enumerator);
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_peers_t, destroy, void,
	private_kernel_cygnet_peers_t *this)
{
	flush_policies(this);
	this->policies->destroy(this->policies);
	this->peers->destroy(this->peers);
	this->mutex->destroy(this->mutex);
	free(this);
}

/**
 * Read a limit from strongswan.conf
 */
static uint32_t get_limit(peer_kind_t kind, uint32_t room)
{
	char key[64];

	snprintf(key, sizeof(key), "%%s.plugins.kernel-cygnet.%s",
			 kind_options[kind]);
	return max(lib->settings->get_int(lib->settings, key,
									  max(room / 4 * 3, 1), lib->ns), 0);
}

static u_int hash_id(const void *key)
{
	identification_t *id = (identification_t*)key;

	return id->hash(id, 0);
}

static bool equal_ids(const void *key, const void *other_key)
{
	identification_t *a = (identification_t*)key;

	return a->equals(a, (identification_t*)other_key);
}

/*
 * Described in header.
 */
kernel_cygnet_peers_t *kernel_cygnet_peers_create(
										const struct cygnet_geometry *room)
{
	private_kernel_cygnet_peers_t *this;

	INIT(this,
		.public = {
			.get_sa = _get_sa,
			.put_sa = _put_sa,
			.get_policy = _get_policy,
			.put_policy = _put_policy,
			.flush_policies = _flush_policies,
			.destroy = _destroy,
		},
		.peers = hashtable_create(hash_id, equal_ids, 64),
		.policies = hashtable_create(hash_policy, equal_policies, 64),
		.limit = {
			get_limit(PEER_SAS, room->sas),
			get_limit(PEER_POLICIES, room->policies),
		},
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	return &this->public;
}
