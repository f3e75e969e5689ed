/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_hold.h"
#include "kernel_cygnet_wanted.h"

#include <processing/jobs/callback_job.h>

/** Default time for which policies are held that no connection wants, s */
#define HOLD_TIME 180
/** Time between two looks at the connections, s */
#define LOOK 10
/** For so long charon has loaded no connection once it has loaded all, s */
#define LOADED 60

/*
 * Described in header.
 */
uint32_t kernel_cygnet_hold_second = 1000;

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
	 * Children of the loaded connections; used by the job only
	 */
	u_int children;

	/**
	 * Since when they have been as many, ms, 0 if there are no connections; used by
	 * the job only
	 */
	uint64_t since;

	/**
	 * Number of policies for which there is no room, as logged; used by the job
	 * only
	 */
	u_int short_of;

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
 * Whether there is room for that many policies, and as many after them. Log once
 * if there is not.
 */
static bool have_room(private_kernel_cygnet_hold_t *this,
					  const struct cygnet_db_info *info, u_int policies)
{
	uint32_t size = info->geometry.policies, left = size - info->policies;

	if (policies <= left / 2)
	{
		this->short_of = 0;
		return TRUE;
	}
	if (policies != this->short_of)
	{
		DBG1(DBG_KNL, "everything but IKE stays held: connections want %u "
			 "policies held instead, for which twice as many must be free, but %u "
			 "of %u are; set %s.plugins.kernel-cygnet.policies to %u at least, "
			 "stop charon and cygnetd, and remove %s", policies, left, size,
			 lib->ns, info->policies + 2 * policies, info->path);
		this->short_of = policies;
	}
	return FALSE;
}

/**
 * Remove the held policies that connections do not want, or no longer need
 *
 * @param everything	whether those that hold everything are meant, or the others
 * @param over			whether the time for policies that are not wanted is over
 * @param staying		receives the number of policies that stay because they are
 *						wanted
 * @return				number of removed policies
 */
static u_int release(private_kernel_cygnet_hold_t *this,
					 kernel_cygnet_wanted_t *wanted, bool everything,
					 bool over, u_int *staying)
{
	struct cygnet_policy policy;
	struct cygnet_db_info info;
	u_int removed = 0;
	uint32_t i;

	*staying = 0;
	cygnet_db_info(this->db, &info);
	for (i = 0; i < info.geometry.policies; i++)
	{
		if (cygnet_policy_snapshot(this->db, i, &policy) &&
			cygnet_policy_held(&policy) &&
			(policy.priority == CYGNET_PRIORITY_LAST) == everything &&
			may_go(wanted, &policy, over, staying))
		{
			removed += cygnet_policy_release(this->db, policy.dir,
											 &policy.sel);
		}
	}
	return removed;
}

/**
 * If everything is held, because nobody knew what was wanted, hold what the
 * connections want instead. If that has no room, everything stays held until
 * enough of it is installed, whatever the time: nothing else keeps the packets
 * of the others from leaving as plaintext. What holds the packets of a connection
 * for all packets stays until that is installed.
 */
static u_int replace_everything(private_kernel_cygnet_hold_t *this,
								kernel_cygnet_wanted_t *wanted)
{
	struct cygnet_db_info info;
	u_int staying;

	cygnet_db_info(this->db, &info);
	if (!cygnet_everything_held(this->db) ||
		!have_room(this, &info, wanted->missing(wanted)) ||
		!wanted->hold(wanted))
	{
		return 0;
	}
	return release(this, wanted, TRUE, TRUE, &staying);
}

/**
 * Reclaim and log what has been removed
 */
static void note_removed(private_kernel_cygnet_hold_t *this, u_int removed)
{
	if (removed)
	{
		DBG1(DBG_KNL, "removed %u held policies, which no connection needs",
			 removed);
		this->events->reclaim(this->events);
	}
}

/**
 * Log how many policies stay if that is new
 */
static void log_staying(private_kernel_cygnet_hold_t *this, u_int staying)
{
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
 * Time that runs evenly, ms; not 0
 */
static uint64_t now_ms(void)
{
	timeval_t now;

	time_monotonic(&now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_usec / 1000 + 1;
}

/**
 * Time for which the connections have had as many children as now, ms. Nothing
 * tells a plugin when charon has loaded all: clients of vici load one after the
 * other, and may be slow. Selectors are not counted, because some depend on
 * addresses, which change and are not always known.
 */
static uint64_t get_unchanged(private_kernel_cygnet_hold_t *this,
							  u_int children)
{
	uint64_t now = now_ms();

	if (!this->since || children != this->children)
	{
		this->since = now;
		this->children = children;
	}
	return now - this->since;
}

/**
 * Look at the connections. While there are none, it is not known what is
 * wanted, and nothing is removed.
 */
static void look_at_connections(private_kernel_cygnet_hold_t *this,
								uint32_t seconds)
{
	kernel_cygnet_wanted_t *wanted;
	uint64_t unchanged;
	u_int staying;
	bool over;

	if (!kernel_cygnet_wanted_loaded())
	{
		this->since = 0;
		return;
	}
	wanted = kernel_cygnet_wanted_create(this->db);
	unchanged = get_unchanged(this, wanted->count(wanted));
	over = unchanged >= (uint64_t)seconds * kernel_cygnet_hold_second;
	note_removed(this, release(this, wanted, FALSE, over, &staying));
	if (unchanged >= (uint64_t)min(seconds, LOADED) * kernel_cygnet_hold_second)
	{
		note_removed(this, replace_everything(this, wanted));
	}
	wanted->destroy(wanted);
	log_staying(this, over ? staying : 0);
}

/**
 * Job: remove the held policies that are not to be held any more
 */
static job_requeue_t look(private_kernel_cygnet_hold_t *this)
{
	uint32_t seconds = kernel_cygnet_hold_time();

	if (seconds)
	{
		look_at_connections(this, seconds);
	}
	else
	{
		note_removed(this, cygnet_hold_end(this->db));
	}
	if (!cygnet_policies_held(this->db))
	{
		__atomic_store_n(&this->held, FALSE, __ATOMIC_RELAXED);
		return JOB_REQUEUE_NONE;
	}
	return JOB_RESCHEDULE_MS(max(min(seconds, LOOK), 1) *
							 kernel_cygnet_hold_second);
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
		lib->scheduler->schedule_job_ms(lib->scheduler,
			(job_t*)callback_job_create((callback_job_cb_t)look, this, NULL,
										NULL),
			min(kernel_cygnet_hold_time(), LOOK) * kernel_cygnet_hold_second);
	}
	return &this->public;
}
