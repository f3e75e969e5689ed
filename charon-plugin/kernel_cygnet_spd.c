/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_spd.h"

#include <collections/hashtable.h>
#include <collections/linked_list.h>
#include <threading/mutex.h>

typedef struct private_kernel_cygnet_spd_t private_kernel_cygnet_spd_t;

struct private_kernel_cygnet_spd_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_spd_t public;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * Selectors with policies, entry_t => entry_t
	 */
	hashtable_t *entries;

	/**
	 * Locks entries, and keeps the order of policies that of the file
	 */
	mutex_t *mutex;
};

/**
 * A selector
 */
typedef struct {
	/** its direction */
	enum cygnet_dir dir;
	/** the selector */
	struct cygnet_selector sel;
	/** policies with it, struct cygnet_policy_params, the first one applies */
	linked_list_t *policies;
} entry_t;

/**
 * Hash an entry_t
 */
static u_int hash_entry(const void *key)
{
	const entry_t *entry = key;

	return chunk_hash_inc(chunk_from_thing(entry->sel), entry->dir);
}

/**
 * Compare two entry_t
 */
static bool equal_entry(const void *key, const void *other_key)
{
	const entry_t *a = key, *b = other_key;

	return a->dir == b->dir && memeq(&a->sel, &b->sel, sizeof(a->sel));
}

/**
 * Find the entry of a selector, NULL if there is none; the caller holds the
 * mutex
 */
static entry_t *find_entry(private_kernel_cygnet_spd_t *this,
						   enum cygnet_dir dir,
						   const struct cygnet_selector *sel)
{
	entry_t lookup = {
		.dir = dir,
		.sel = *sel,
	};

	return this->entries->get(this->entries, &lookup);
}

/**
 * Find the entry of a policy, or create it; the caller holds the mutex
 */
static entry_t *get_entry(private_kernel_cygnet_spd_t *this,
						  const struct cygnet_policy_params *params)
{
	entry_t *entry;

	entry = find_entry(this, params->dir, &params->sel);
	if (!entry)
	{
		INIT(entry,
			.dir = params->dir,
			.sel = params->sel,
			.policies = linked_list_create(),
		);
		this->entries->put(this->entries, entry, entry);
	}
	return entry;
}

/**
 * Destroy an entry
 */
static void destroy_entry(entry_t *entry)
{
	entry->policies->destroy_function(entry->policies, free);
	free(entry);
}

/**
 * First policy of an entry, NULL if there is none
 */
static struct cygnet_policy_params *first_of(entry_t *entry)
{
	struct cygnet_policy_params *first;

	return entry->policies->get_first(entry->policies,
									  (void**)&first) == SUCCESS ? first : NULL;
}

/**
 * Describe a change after which an entry is as it is
 */
static void set_change(entry_t *entry, bool first,
					   kernel_cygnet_spd_change_t *change)
{
	struct cygnet_policy_params *now = first_of(entry);

	*change = (kernel_cygnet_spd_change_t){
		.count = entry->policies->get_count(entry->policies),
		.first = first,
		.priority = now ? now->priority : 0,
	};
}

/**
 * Find a policy of an entry that has the same first bytes
 */
static struct cygnet_policy_params *find_policy(entry_t *entry,
									const struct cygnet_policy_params *params,
									size_t len)
{
	struct cygnet_policy_params *policy, *found = NULL;
	enumerator_t *enumerator;

	enumerator = entry->policies->create_enumerator(entry->policies);
	while (!found && enumerator->enumerate(enumerator, &policy))
	{
		found = memeq(policy, params, len) ? policy : NULL;
	}
	enumerator->destroy(enumerator);
	return found;
}

/**
 * Insert a policy by priority, then rank, the newest first. Another install of a
 * policy is beside it, as the file does not make it newer.
 *
 * Returns whether it is the first one.
 */
static bool insert(entry_t *entry, const struct cygnet_policy_params *params)
{
	struct cygnet_policy_params *policy, *same;
	enumerator_t *enumerator;

	same = find_policy(entry, params, sizeof(*params));
	enumerator = entry->policies->create_enumerator(entry->policies);
	while (enumerator->enumerate(enumerator, &policy))
	{
		if (same ? policy == same :
			params->priority < policy->priority ||
			(params->priority == policy->priority &&
			 params->rank <= policy->rank))
		{
			break;
		}
	}
	policy = malloc_thing(struct cygnet_policy_params);
	*policy = *params;
	entry->policies->insert_before(entry->policies, enumerator, policy);
	enumerator->destroy(enumerator);
	return policy == first_of(entry);
}

METHOD(kernel_cygnet_spd_t, add, int,
	private_kernel_cygnet_spd_t *this,
	const struct cygnet_policy_params *params,
	kernel_cygnet_spd_change_t *change)
{
	entry_t *entry;
	int err;

	this->mutex->lock(this->mutex);
	err = cygnet_policy_add(this->db, params);
	if (!err)
	{
		entry = get_entry(this, params);
		set_change(entry, insert(entry, params), change);
	}
	this->mutex->unlock(this->mutex);
	return err;
}

/**
 * Forget a policy that was removed from the file. As there, its end points are
 * ignored if no policy has them: MOBIKE changes them.
 */
static void forget(private_kernel_cygnet_spd_t *this, entry_t *entry,
				   const struct cygnet_policy_params *params,
				   kernel_cygnet_spd_change_t *change)
{
	struct cygnet_policy_params *policy;
	bool first;

	policy = find_policy(entry, params, sizeof(*params)) ?:
			 find_policy(entry, params,
						 offsetof(struct cygnet_policy_params, af));
	first = policy && policy == first_of(entry);
	if (policy)
	{
		entry->policies->remove(entry->policies, policy, NULL);
		free(policy);
	}
	set_change(entry, first, change);
	if (!change->count)
	{
		this->entries->remove(this->entries, entry);
		destroy_entry(entry);
	}
}

METHOD(kernel_cygnet_spd_t, remove_, int,
	private_kernel_cygnet_spd_t *this,
	const struct cygnet_policy_params *params,
	kernel_cygnet_spd_change_t *change)
{
	entry_t *entry;
	int err;

	*change = (kernel_cygnet_spd_change_t){};
	this->mutex->lock(this->mutex);
	err = cygnet_policy_delete(this->db, params);
	entry = find_entry(this, params->dir, &params->sel);
	if (!err && entry)
	{
		forget(this, entry, params, change);
	}
	this->mutex->unlock(this->mutex);
	return err;
}

METHOD(kernel_cygnet_spd_t, get_first, bool,
	private_kernel_cygnet_spd_t *this, enum cygnet_dir dir,
	const struct cygnet_selector *sel, struct cygnet_policy_params *first)
{
	entry_t *entry;

	this->mutex->lock(this->mutex);
	entry = find_entry(this, dir, sel);
	if (entry)
	{
		*first = *first_of(entry);
	}
	this->mutex->unlock(this->mutex);
	return entry != NULL;
}

/**
 * Remove all installs of a policy from the file
 */
static void remove_installs(private_kernel_cygnet_spd_t *this,
							const struct cygnet_policy *policy)
{
	struct cygnet_policy_params params;

	memset(&params, 0, sizeof(params));
	params.sel = policy->sel;
	params.priority = policy->priority;
	params.rank = policy->rank;
	params.reqid = policy->reqid;
	params.spi = policy->spi;
	params.dir = policy->dir;
	params.action = policy->action;
	params.proto = policy->proto;
	params.mode = policy->mode;
	while (cygnet_policy_delete(this->db, &params) == 0)
	{
		/* a policy may be installed several times */
	}
}

/**
 * Forget all policies; the caller holds the mutex
 */
static void forget_all(private_kernel_cygnet_spd_t *this)
{
	enumerator_t *enumerator;
	entry_t *key, *entry;

	enumerator = this->entries->create_enumerator(this->entries);
	while (enumerator->enumerate(enumerator, &key, &entry))
	{
		this->entries->remove_at(this->entries, enumerator);
		destroy_entry(entry);
	}
	enumerator->destroy(enumerator);
}

METHOD(kernel_cygnet_spd_t, flush, void,
	private_kernel_cygnet_spd_t *this)
{
	struct cygnet_policy policy;
	struct cygnet_db_info info;
	uint32_t i;

	this->mutex->lock(this->mutex);
	forget_all(this);
	cygnet_db_info(this->db, &info);
	/* the newest first: they are at the front of a chain */
	for (i = info.geometry.policies; i--;)
	{
		if (cygnet_policy_snapshot(this->db, i, &policy) &&
			!cygnet_policy_held(&policy))
		{
			remove_installs(this, &policy);
		}
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_spd_t, destroy, void,
	private_kernel_cygnet_spd_t *this)
{
	forget_all(this);
	this->entries->destroy(this->entries);
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_spd_t *kernel_cygnet_spd_create(struct cygnet_db *db)
{
	private_kernel_cygnet_spd_t *this;

	INIT(this,
		.public = {
			.add = _add,
			.remove = _remove_,
			.get_first = _get_first,
			.flush = _flush,
			.destroy = _destroy,
		},
		.db = db,
		.entries = hashtable_create(hash_entry, equal_entry, 64),
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	return &this->public;
}
