/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_hold.h"
#include "kernel_cygnet_wanted.h"

#include <processing/jobs/callback_job.h>

/** Default time for which policies are held that no connection wants, s */
#define HOLD_TIME 180
/** Time between two looks at the connections, s */
#define LOOK 10
/** Time between two looks, times what one takes */
#define SPARE 20

typedef struct private_kernel_cygnet_hold_t private_kernel_cygnet_hold_t;

struct private_kernel_cygnet_hold_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_hold_t public;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * Reclaims slots
	 */
	kernel_cygnet_event_t *events;

	/**
	 * Whether policies may be held; atomic
	 */
	bool held;

	/**
	 * Since when connections have been loaded, 0 if there are none; used by
	 * the job only
	 */
	time_t loaded;

	/**
	 * Pairs of selectors at the last look; used by the job only
	 */
	u_int pairs;

	/**
	 * Number of policies that stay, as logged; used by the job only
	 */
	u_int staying;
};

/**
 * Whether a held policy is to be removed
 *
 * @param over		whether the time for policies that are not wanted is over
 * @param staying	incremented for a policy that stays because it is wanted
 */
static bool may_go(kernel_cygnet_wanted_t *wanted,
				   const struct cygnet_policy *policy, bool over, u_int *staying)
{
	bool installed;

	if (!wanted->covers(wanted, policy, &installed))
	{
		return over;
	}
	if (!installed)
	{
		(*staying)++;
	}
	/* one of a trap that a peer has narrowed would keep the trap from seeing a
	 * packet */
	return installed;
}

/**
 * Whether the policies of all connections have room, and others after them
 */
static bool have_room(const struct cygnet_db_info *info, u_int pairs)
{
	uint32_t left = info->geometry.policies - info->policies;

	return (uint64_t)pairs * CYGNET_DIRS <= left / 2;
}

/**
 * If everything is held, because nobody knew what is wanted, hold what the
 * connections want instead. If that has no room, everything is held until the
 * time is over. What holds the packets of a connection for all packets stays:
 * it is replaced when that is installed.
 */
static u_int replace_everything(private_kernel_cygnet_hold_t *this,
								kernel_cygnet_wanted_t *wanted, bool over)
{
	struct cygnet_policy policy;
	struct cygnet_db_info info;
	bool held = FALSE, installed;
	u_int removed = 0;
	uint32_t i;

	cygnet_db_info(this->db, &info);
	for (i = 0; i < info.geometry.policies; i++)
	{
		if (!cygnet_policy_snapshot(this->db, i, &policy) ||
			!cygnet_policy_held(&policy) ||
			policy.priority != CYGNET_PRIORITY_LAST)
		{
			continue;
		}
		held = held || (have_room(&info, wanted->count(wanted)) &&
						wanted->hold(wanted)) || over;
		if (!held)
		{
			break;
		}
		if (wanted->covers(wanted, &policy, &installed) && !installed)
		{
			continue;
		}
		removed += cygnet_policy_release(this->db, policy.dir, &policy.sel);
	}
	return removed;
}

/**
 * Remove the held policies that connections do not want, or no longer need
 *
 * @param staying	receives the number of policies that stay because they are
 *					wanted
 * @return			number of removed policies
 */
static u_int release(private_kernel_cygnet_hold_t *this, bool over,
					 u_int *staying)
{
	kernel_cygnet_wanted_t *wanted;
	struct cygnet_policy policy;
	struct cygnet_db_info info;
	u_int removed = 0;
	uint32_t i;

	*staying = 0;
	wanted = kernel_cygnet_wanted_create(this->db);
	/* charon has loaded its connections when there are no more than last time */
	if (this->pairs == wanted->count(wanted))
	{
		removed += replace_everything(this, wanted, over);
	}
	this->pairs = wanted->count(wanted);
	cygnet_db_info(this->db, &info);
	for (i = 0; i < info.geometry.policies; i++)
	{
		if (cygnet_policy_snapshot(this->db, i, &policy) &&
			cygnet_policy_held(&policy) &&
			policy.priority != CYGNET_PRIORITY_LAST &&
			may_go(wanted, &policy, over, staying))
		{
			removed += cygnet_policy_release(this->db, policy.dir,
											 &policy.sel);
		}
	}
	wanted->destroy(wanted);
	return removed;
}

/**
 * Log what has been removed, and how many policies stay if that is new
 */
static void log_release(private_kernel_cygnet_hold_t *this, u_int removed,
						u_int staying)
{
	if (removed)
	{
		DBG1(DBG_KNL, "removed %u held policies, which no connection needs",
			 removed);
		this->events->reclaim(this->events);
	}
	if (staying && staying != this->staying)
	{
		DBG1(DBG_KNL, "%u held policies drop packets until connections, which "
			 "want these packets protected, have installed them; to end that, "
			 "set %s.plugins.kernel-cygnet.hold_policies to 0 and reload the "
			 "settings", staying, lib->ns);
	}
	this->staying = staying;
}

/**
 * Look at the connections. While there are none, it is not known what is
 * wanted, and nothing is removed.
 */
static void look_at_connections(private_kernel_cygnet_hold_t *this,
								uint32_t seconds)
{
	time_t now = time_monotonic(NULL);
	u_int removed, staying;
	bool over;

	if (!kernel_cygnet_wanted_loaded())
	{
		this->loaded = 0;
		return;
	}
	if (!this->loaded)
	{
		this->loaded = now;
		this->pairs = UINT_MAX;
	}
	over = now - this->loaded >= seconds;
	removed = release(this, over, &staying);
	log_release(this, removed, over ? staying : 0);
}

/**
 * Job: remove the held policies that are not to be held any more
 */
static job_requeue_t look(private_kernel_cygnet_hold_t *this)
{
	uint32_t seconds = kernel_cygnet_hold_time();
	time_t began = time_monotonic(NULL), took;

	if (seconds)
	{
		look_at_connections(this, seconds);
	}
	else
	{
		log_release(this, cygnet_hold_end(this->db), 0);
	}
	if (!cygnet_policies_held(this->db))
	{
		__atomic_store_n(&this->held, FALSE, __ATOMIC_RELAXED);
		return JOB_REQUEUE_NONE;
	}
	/* with many connections a look takes seconds */
	took = time_monotonic(NULL) - began;
	return JOB_RESCHEDULE(max(max(min(seconds, LOOK), 1), took * SPARE));
}

METHOD(kernel_cygnet_hold_t, added, void,
	private_kernel_cygnet_hold_t *this)
{
	if (__atomic_load_n(&this->held, __ATOMIC_RELAXED))
	{
		this->events->reclaim(this->events);
	}
}

METHOD(kernel_cygnet_hold_t, destroy, void,
	private_kernel_cygnet_hold_t *this)
{
	free(this);
}

/*
 * Described in header.
 */
uint32_t kernel_cygnet_hold_time(void)
{
	return lib->settings->get_time(lib->settings,
								   "%s.plugins.kernel-cygnet.hold_policies",
								   HOLD_TIME, lib->ns);
}

/*
 * Described in header.
 */
kernel_cygnet_hold_t *kernel_cygnet_hold_create(struct cygnet_db *db,
												kernel_cygnet_event_t *events)
{
	private_kernel_cygnet_hold_t *this;

	INIT(this,
		.public = {
			.added = _added,
			.destroy = _destroy,
		},
		.db = db,
		.events = events,
		.held = cygnet_policies_held(db) > 0,
	);

	if (this->held)
	{
		lib->scheduler->schedule_job(lib->scheduler,
			(job_t*)callback_job_create((callback_job_cb_t)look, this, NULL,
										NULL),
			min(kernel_cygnet_hold_time(), LOOK));
	}
	return &this->public;
}
