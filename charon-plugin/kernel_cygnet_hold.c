/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_hold.h"

#include <processing/jobs/callback_job.h>

/** Default time for which policies are held, s */
#define HOLD_TIME 180

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
};

/**
 * Job: remove the policies that are still held
 */
static job_requeue_t end_hold(private_kernel_cygnet_hold_t *this)
{
	u_int removed;

	removed = cygnet_hold_end(this->db);
	__atomic_store_n(&this->held, FALSE, __ATOMIC_RELAXED);
	if (removed)
	{
		DBG1(DBG_KNL, "removed %u held policies, which no connection has "
			 "installed again", removed);
		this->events->reclaim(this->events);
	}
	return JOB_REQUEUE_NONE;
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
												kernel_cygnet_event_t *events,
												uint32_t seconds)
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
			(job_t*)callback_job_create((callback_job_cb_t)end_hold, this, NULL,
										NULL), seconds);
	}
	return &this->public;
}
