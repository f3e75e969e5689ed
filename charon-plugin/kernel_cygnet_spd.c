/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_spd.h"

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
	 * Nobody changes policies between a change and its description
	 */
	mutex_t *mutex;
};

/**
 * Read the policies with the selector of a policy
 */
static struct cygnet_policy_entry get_entry(private_kernel_cygnet_spd_t *this,
									const struct cygnet_policy_params *params)
{
	struct cygnet_policy_entry entry;

	if (cygnet_policy_entry(this->db, params->dir, &params->sel, &entry) != 0)
	{
		memset(&entry, 0, sizeof(entry));
	}
	return entry;
}

/**
 * Whether a policy is the first one of an entry
 */
static bool is_first(const struct cygnet_policy_entry *entry,
					 const struct cygnet_policy_params *params)
{
	return memeq(&entry->first, params, sizeof(*params));
}

/**
 * Describe a change after which an entry is as it is
 */
static kernel_cygnet_spd_change_t get_change(
									const struct cygnet_policy_entry *entry,
									bool first)
{
	return (kernel_cygnet_spd_change_t){
		.count = entry->installs,
		.first = first,
		.priority = entry->first.priority,
	};
}

METHOD(kernel_cygnet_spd_t, add, int,
	private_kernel_cygnet_spd_t *this,
	const struct cygnet_policy_params *params,
	kernel_cygnet_spd_change_t *change)
{
	struct cygnet_policy_entry entry;
	int err;

	this->mutex->lock(this->mutex);
	err = cygnet_policy_add(this->db, params);
	entry = get_entry(this, params);
	this->mutex->unlock(this->mutex);
	*change = get_change(&entry, is_first(&entry, params));
	return err;
}

METHOD(kernel_cygnet_spd_t, remove_, int,
	private_kernel_cygnet_spd_t *this,
	const struct cygnet_policy_params *params,
	kernel_cygnet_spd_change_t *change)
{
	struct cygnet_policy_entry before, after;
	int err;

	this->mutex->lock(this->mutex);
	before = get_entry(this, params);
	err = cygnet_policy_delete(this->db, params);
	after = get_entry(this, params);
	this->mutex->unlock(this->mutex);
	/* MOBIKE may have changed its end points */
	*change = get_change(&after, is_first(&before, params) ||
								 !is_first(&after, &before.first));
	return err;
}

/**
 * Remove all installs of all policies with the selector of a policy
 */
static void remove_entry(private_kernel_cygnet_spd_t *this,
						 const struct cygnet_policy *policy)
{
	struct cygnet_policy_entry entry;

	while (cygnet_policy_entry(this->db, policy->dir, &policy->sel,
							   &entry) == 0 &&
		   cygnet_policy_delete(this->db, &entry.first) == 0)
	{
		/* the next one, or the next install, is the first one now */
	}
}

METHOD(kernel_cygnet_spd_t, flush, void,
	private_kernel_cygnet_spd_t *this)
{
	struct cygnet_policy policy;
	struct cygnet_db_info info;
	uint32_t i;

	this->mutex->lock(this->mutex);
	cygnet_db_info(this->db, &info);
	/* the newest first: they are at the front of a chain */
	for (i = info.geometry.policies; i--;)
	{
		if (cygnet_policy_snapshot(this->db, i, &policy) &&
			!cygnet_policy_held(&policy))
		{
			remove_entry(this, &policy);
		}
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_spd_t, destroy, void,
	private_kernel_cygnet_spd_t *this)
{
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
			.flush = _flush,
			.destroy = _destroy,
		},
		.db = db,
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	return &this->public;
}
