/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_peers.h"

#include <daemon.h>
#include <collections/hashtable.h>
#include <threading/mutex.h>

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

static const char *reserve_options[] = {"reserved_sas", "reserved_policies"};

/**
 * What limits apply to
 */
typedef enum {
	BY_IKE_SA,
	BY_IDENTITY,
	BY_CONNECTION,
	HOLDERS,
} holder_kind_t;

static const char *holder_names[] = {"IKE_SA", "identity", "connection"};

static const char *limit_options[HOLDERS][PEER_KINDS] = {
	{"max_sas_per_ike_sa", "max_policies_per_ike_sa"},
	{"max_sas_per_peer", "max_policies_per_peer"},
	{"max_sas_per_connection", "max_policies_per_connection"},
};

/**
 * An IKE_SA, an identity or a connection that has SAs or policies
 */
typedef struct {
	/** its key in a table: identification_t, the connection's name, or NULL */
	void *key;
	/** numbers of its SAs and policies */
	uint32_t count[PEER_KINDS];
	/** for how many of them only replacing others was a reason */
	uint32_t replacing[PEER_KINDS];
	/** whether the warning was logged; cleared at half of the limit */
	bool warned[PEER_KINDS];
} holder_t;

struct private_kernel_cygnet_peers_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_peers_t public;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * IKE_SAs with SAs or policies, unique ID => kernel_cygnet_ike_sa_t. Finding
	 * an identity takes charon as long as the rest of an SA's installation, so
	 * it is done once for each of them.
	 */
	hashtable_t *ike_sas;

	/**
	 * Their identities, identification_t => holder_t
	 */
	hashtable_t *identities;

	/**
	 * Their connections, name => holder_t
	 */
	hashtable_t *connections;

	/**
	 * Installed policies, installed_t as key and value
	 */
	hashtable_t *policies;

	/**
	 * Limits; 0: none
	 */
	uint32_t limit[HOLDERS][PEER_KINDS];

	/**
	 * Slots in the file, and how many of them only peers that rekey may use
	 */
	uint32_t room[PEER_KINDS], reserved[PEER_KINDS];

	/**
	 * Locks all tables and what they contain
	 */
	mutex_t *mutex;
};

/**
 * An IKE_SA that has SAs or policies
 */
struct kernel_cygnet_ike_sa_t {
	/** its unique ID */
	uint32_t id;
	/** what it has itself */
	holder_t own;
	/** own, and what is shared with other IKE_SAs */
	holder_t *holders[HOLDERS];
};

/**
 * An installed policy
 */
typedef struct {
	/** its parameters without the end points, which MOBIKE changes */
	u_char key[offsetof(struct cygnet_policy_params, af)];
	/** the IKE_SA that has installed it, NULL for none */
	kernel_cygnet_ike_sa_t *owner;
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
 * The key of an IKE_SA in its table
 */
static void *ike_sa_key(uint32_t id)
{
	return (void*)(uintptr_t)id;
}

/**
 * Find or add the holder with an identity; the caller holds the mutex
 */
static holder_t *find_identity(private_kernel_cygnet_peers_t *this,
							   identification_t *id)
{
	holder_t *holder;

	holder = this->identities->get(this->identities, id);
	if (!holder)
	{
		INIT(holder,
			.key = id->clone(id),
		);
		this->identities->put(this->identities, holder->key, holder);
	}
	return holder;
}

/**
 * Find or add the holder with a connection's name; the caller holds the mutex
 */
static holder_t *find_connection(private_kernel_cygnet_peers_t *this,
								 char *name)
{
	holder_t *holder;

	holder = this->connections->get(this->connections, name);
	if (!holder)
	{
		INIT(holder,
			.key = strdup(name),
		);
		this->connections->put(this->connections, holder->key, holder);
	}
	return holder;
}

/**
 * Find or add what is known of an IKE_SA, whose identity and connection are
 * final once it has SAs; the caller holds the mutex
 */
static kernel_cygnet_ike_sa_t *find_ike_sa(private_kernel_cygnet_peers_t *this,
										   ike_sa_t *ike_sa)
{
	uint32_t id = ike_sa->get_unique_id(ike_sa);
	kernel_cygnet_ike_sa_t *owner;

	owner = this->ike_sas->get(this->ike_sas, ike_sa_key(id));
	if (!owner)
	{
		INIT(owner,
			.id = id,
		);
		owner->holders[BY_IKE_SA] = &owner->own;
		owner->holders[BY_IDENTITY] = find_identity(this,
										ike_sa->get_other_eap_id(ike_sa));
		owner->holders[BY_CONNECTION] = find_connection(this,
										ike_sa->get_name(ike_sa));
		this->ike_sas->put(this->ike_sas, ike_sa_key(id), owner);
	}
	return owner;
}

/**
 * Whether something has SAs or policies
 */
static bool is_used(const holder_t *holder)
{
	return holder->count[PEER_SAS] || holder->count[PEER_POLICIES];
}

/**
 * Remove an IKE_SA if it has no SAs and policies, with an identity and a
 * connection that no other one has; the caller holds the mutex
 */
static void drop_unused(private_kernel_cygnet_peers_t *this,
						kernel_cygnet_ike_sa_t *owner)
{
	holder_t *identity = owner->holders[BY_IDENTITY];
	holder_t *connection = owner->holders[BY_CONNECTION];
	identification_t *id = identity->key;

	if (is_used(&owner->own))
	{
		return;
	}
	this->ike_sas->remove(this->ike_sas, ike_sa_key(owner->id));
	if (!is_used(identity))
	{
		this->identities->remove(this->identities, id);
		id->destroy(id);
		free(identity);
	}
	if (!is_used(connection))
	{
		this->connections->remove(this->connections, connection->key);
		free(connection->key);
		free(connection);
	}
	free(owner);
}

/**
 * Log a line about a limit of an IKE_SA
 */
static void log_limit(private_kernel_cygnet_peers_t *this,
					  kernel_cygnet_ike_sa_t *owner, holder_kind_t by,
					  peer_kind_t kind, const char *consequence)
{
	DBG1(DBG_KNL, "peer '%Y' of %s[%u]: its %s has %u %s, %s in "
		 "strongswan.conf is %u%s", owner->holders[BY_IDENTITY]->key,
		 owner->holders[BY_CONNECTION]->key, owner->id, holder_names[by],
		 owner->holders[by]->count[kind], kind_names[kind],
		 limit_options[by][kind], this->limit[by][kind], consequence);
}

/**
 * Whether an IKE_SA has a CHILD_SA with that reqid, so that what has the same
 * reqid replaces its SAs and policies. charon adds a new CHILD_SA after it has
 * installed it. One that has been replaced may still be there, more are not: a
 * peer that never deletes them does not go on. Outbound forward policies
 * (policies_fwd_out) have no reqid: they may belong to any CHILD_SA.
 */
static bool replaces(ike_sa_t *ike_sa, uint32_t reqid)
{
	enumerator_t *enumerator;
	child_sa_t *child_sa;
	int count = 0;

	if (!reqid)
	{
		return ike_sa->get_child_count(ike_sa);
	}
	enumerator = ike_sa->create_child_sa_enumerator(ike_sa);
	while (enumerator->enumerate(enumerator, &child_sa))
	{
		count += child_sa->get_reqid(child_sa) == reqid;
	}
	enumerator->destroy(enumerator);
	return count == 1 || count == 2;
}

/**
 * Whether only the reserve is left. Threads that ask at the same time get the
 * same answer, and may use a slot of the reserve each.
 */
static bool only_reserve(private_kernel_cygnet_peers_t *this, peer_kind_t kind,
						 uint32_t used)
{
	return this->reserved[kind] &&
		   used >= this->room[kind] - this->reserved[kind];
}

/**
 * The first of the limits of an IKE_SA that is reached, HOLDERS if none is
 */
static holder_kind_t reached_limit(private_kernel_cygnet_peers_t *this,
								   kernel_cygnet_ike_sa_t *owner, peer_kind_t kind)
{
	holder_kind_t by;
	uint32_t limit;

	for (by = 0; by < HOLDERS; by++)
	{
		limit = this->limit[by][kind];
		if (limit && owner->holders[by]->count[kind] >= limit)
		{
			break;
		}
	}
	return by;
}

/**
 * Let an IKE_SA have one more that replaces another one, if it has not used up
 * its share: an eighth of the reserve, and its identity a half, so that a peer
 * that never deletes what it replaces leaves something to others. Two rekeyings
 * at once always fit. The caller holds the mutex.
 */
static bool take_share(private_kernel_cygnet_peers_t *this,
					   kernel_cygnet_ike_sa_t *owner, peer_kind_t kind)
{
	uint32_t reserve = this->reserved[kind] ?: this->room[kind] / 8;
	holder_t *identity = owner->holders[BY_IDENTITY];

	if (owner->own.replacing[kind] >= max(reserve / 8, 4) ||
		identity->replacing[kind] >= max(reserve / 2, 4))
	{
		return FALSE;
	}
	owner->own.replacing[kind]++;
	identity->replacing[kind]++;
	return TRUE;
}

/**
 * Whether an IKE_SA may have one more SA or policy. All limits apply to what is
 * new; to what replaces others only that of its IKE_SA, as long as it has a share
 * of the reserve. A refusal is logged. The caller holds the mutex.
 */
static bool may_add(private_kernel_cygnet_peers_t *this,
					kernel_cygnet_ike_sa_t *owner, ike_sa_t *ike_sa,
					uint32_t reqid, peer_kind_t kind, uint32_t used)
{
	holder_kind_t by = reached_limit(this, owner, kind);

	if (by == HOLDERS && !only_reserve(this, kind, used))
	{
		return TRUE;
	}
	if (by != BY_IKE_SA && replaces(ike_sa, reqid) &&
		take_share(this, owner, kind))
	{
		return TRUE;
	}
	if (by != HOLDERS)
	{
		log_limit(this, owner, by, kind, ", one more refused");
	}
	else
	{
		DBG1(DBG_KNL, "%u of %u %s are in use, the others are kept by %s in "
			 "strongswan.conf for peers that rekey, one more of '%Y' refused",
			 used, this->room[kind], kind_names[kind], reserve_options[kind],
			 owner->holders[BY_IDENTITY]->key);
	}
	return FALSE;
}

/**
 * Count one more SA or policy of an IKE_SA; the caller holds the mutex. Of limits
 * that come near at once, as an identity with one IKE_SA has them, the first is
 * logged.
 */
static void count_up(private_kernel_cygnet_peers_t *this,
					 kernel_cygnet_ike_sa_t *owner, peer_kind_t kind)
{
	holder_kind_t by;
	holder_t *holder;
	uint32_t limit;
	bool logged = FALSE;

	for (by = 0; by < HOLDERS; by++)
	{
		holder = owner->holders[by];
		limit = this->limit[by][kind];
		holder->count[kind]++;
		if (limit && !holder->warned[kind] &&
			(uint64_t)holder->count[kind] * 5 >= (uint64_t)limit * 4)
		{
			if (!logged)
			{
				log_limit(this, owner, by, kind, "");
			}
			holder->warned[kind] = logged = TRUE;
		}
	}
}

/**
 * Count one SA or policy less of an IKE_SA; the caller holds the mutex
 */
static void count_down(private_kernel_cygnet_peers_t *this,
					   kernel_cygnet_ike_sa_t *owner, peer_kind_t kind)
{
	holder_kind_t by;
	holder_t *holder;

	if (owner->own.replacing[kind])
	{	/* one has been replaced */
		owner->own.replacing[kind]--;
		owner->holders[BY_IDENTITY]->replacing[kind]--;
	}
	for (by = 0; by < HOLDERS; by++)
	{
		holder = owner->holders[by];
		holder->count[kind]--;
		if (holder->count[kind] <= this->limit[by][kind] / 2)
		{
			holder->warned[kind] = FALSE;
		}
	}
	drop_unused(this, owner);
}

METHOD(listener_t, ike_rekey, bool,
	private_kernel_cygnet_peers_t *this, ike_sa_t *old, ike_sa_t *new)
{
	void *key = ike_sa_key(old->get_unique_id(old));
	uint32_t id = new->get_unique_id(new);
	kernel_cygnet_ike_sa_t *owner;

	this->mutex->lock(this->mutex);
	if (!this->ike_sas->get(this->ike_sas, ike_sa_key(id)))
	{
		owner = this->ike_sas->remove(this->ike_sas, key);
		if (owner)
		{
			owner->id = id;
			this->ike_sas->put(this->ike_sas, ike_sa_key(id), owner);
		}
	}
	this->mutex->unlock(this->mutex);
	return TRUE;
}

METHOD(kernel_cygnet_peers_t, may_reserve_spi, bool,
	private_kernel_cygnet_peers_t *this)
{
	ike_sa_t *ike_sa = charon->bus->get_sa(charon->bus);
	uint32_t used = cygnet_sas_used(this->db);

	if (!ike_sa || !only_reserve(this, PEER_SAS, used) ||
		ike_sa->get_child_count(ike_sa))
	{
		return TRUE;
	}
	DBG1(DBG_KNL, "%u of %u SAs are in use, the others are kept by %s in "
		 "strongswan.conf for peers that rekey, an SPI for '%Y' refused", used,
		 this->room[PEER_SAS], reserve_options[PEER_SAS],
		 ike_sa->get_other_eap_id(ike_sa));
	return FALSE;
}

METHOD(kernel_cygnet_peers_t, get_sa, bool,
	private_kernel_cygnet_peers_t *this, uint32_t reqid,
	kernel_cygnet_ike_sa_t **out)
{
	ike_sa_t *ike_sa = charon->bus->get_sa(charon->bus);
	kernel_cygnet_ike_sa_t *owner;
	bool may;

	*out = NULL;
	if (!ike_sa)
	{
		return TRUE;
	}
	this->mutex->lock(this->mutex);
	owner = find_ike_sa(this, ike_sa);
	may = may_add(this, owner, ike_sa, reqid, PEER_SAS,
				  cygnet_sas_used(this->db));
	if (may)
	{
		count_up(this, owner, PEER_SAS);
		*out = owner;
	}
	drop_unused(this, owner);
	this->mutex->unlock(this->mutex);
	return may;
}

METHOD(kernel_cygnet_peers_t, put_sa, void,
	private_kernel_cygnet_peers_t *this, kernel_cygnet_ike_sa_t *owner)
{
	if (owner)
	{
		this->mutex->lock(this->mutex);
		count_down(this, owner, PEER_SAS);
		this->mutex->unlock(this->mutex);
	}
}

/**
 * Count a policy that was not installed yet, but is in the table of them; the
 * caller holds the mutex
 *
 * Returns FALSE if the IKE_SA may not have it.
 */
static bool count_policy(private_kernel_cygnet_peers_t *this,
						 installed_t *policy, ike_sa_t *ike_sa, uint32_t reqid)
{
	uint32_t others = this->policies->get_count(this->policies) - 1;
	kernel_cygnet_ike_sa_t *owner;

	if (!ike_sa)
	{
		return TRUE;
	}
	owner = find_ike_sa(this, ike_sa);
	if (!may_add(this, owner, ike_sa, reqid, PEER_POLICIES, others))
	{
		drop_unused(this, owner);
		return FALSE;
	}
	count_up(this, owner, PEER_POLICIES);
	policy->owner = owner;
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
		policy->owner = old->owner;
		policy->installs += old->installs;
		free(old);
	}
	else if (!count_policy(this, policy, ike_sa, params->reqid))
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
	if (policy->owner)
	{
		count_down(this, policy->owner, PEER_POLICIES);
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
	charon->bus->remove_listener(charon->bus, &this->public.listener);
	flush_policies(this);
	this->policies->destroy(this->policies);
	this->connections->destroy(this->connections);
	this->identities->destroy(this->identities);
	this->ike_sas->destroy(this->ike_sas);
	this->mutex->destroy(this->mutex);
	free(this);
}

/**
 * Read a number of SAs or policies from strongswan.conf
 */
static uint32_t get_number(const char *option, uint32_t def)
{
	char key[64];

	snprintf(key, sizeof(key), "%%s.plugins.kernel-cygnet.%s", option);
	return max(lib->settings->get_int(lib->settings, key, def, lib->ns), 0);
}

/**
 * Read the limits of SAs or policies from strongswan.conf
 */
static void read_limits(private_kernel_cygnet_peers_t *this, peer_kind_t kind,
						uint32_t room)
{
	holder_kind_t by;

	for (by = 0; by < HOLDERS; by++)
	{
		this->limit[by][kind] = get_number(limit_options[by][kind],
										max(room / 4 * 3, 1));
	}
	this->room[kind] = room;
	this->reserved[kind] = min(get_number(reserve_options[kind], room / 8),
							   room);
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
kernel_cygnet_peers_t *kernel_cygnet_peers_create(struct cygnet_db *db)
{
	private_kernel_cygnet_peers_t *this;
	struct cygnet_db_info info;

	INIT(this,
		.public = {
			.listener = {
				.ike_rekey = _ike_rekey,
			},
			.may_reserve_spi = _may_reserve_spi,
			.get_sa = _get_sa,
			.put_sa = _put_sa,
			.get_policy = _get_policy,
			.put_policy = _put_policy,
			.flush_policies = _flush_policies,
			.destroy = _destroy,
		},
		.db = db,
		.ike_sas = hashtable_create(hashtable_hash_ptr, hashtable_equals_ptr,
									64),
		.identities = hashtable_create(hash_id, equal_ids, 64),
		.connections = hashtable_create(hashtable_hash_str,
										hashtable_equals_str, 64),
		.policies = hashtable_create(hash_policy, equal_policies, 64),
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	cygnet_db_info(db, &info);
	read_limits(this, PEER_SAS, info.geometry.sas);
	read_limits(this, PEER_POLICIES, info.geometry.policies);
	charon->bus->add_listener(charon->bus, &this->public.listener);
	return &this->public;
}
