/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_larval.h"

#include <arpa/inet.h>

#include <library.h>
#include <collections/linked_list.h>
#include <processing/jobs/callback_job.h>
#include <threading/mutex.h>

/** Default lifetime of a reserved SPI, s: as in Linux, and the time for which
 * charon retransmits a request */
#define SPI_LIFETIME 165

typedef struct private_kernel_cygnet_larval_t private_kernel_cygnet_larval_t;

struct private_kernel_cygnet_larval_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_larval_t public;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * Reservations, reserved_t, the oldest first
	 */
	linked_list_t *reserved;

	/**
	 * Whether a job of release_old() is scheduled
	 */
	bool scheduled;

	/**
	 * Locks reserved and scheduled
	 */
	mutex_t *mutex;
};

/**
 * A reservation of an SPI
 */
typedef struct {
	/** id of the larval SA */
	struct cygnet_sa_id id;
	/** when it was reserved, monotonic */
	time_t time;
} reserved_t;

/**
 * Lifetime of a reserved SPI, s
 */
static time_t get_lifetime(void)
{
	time_t lifetime;

	lifetime = lib->settings->get_time(lib->settings,
									   "%s.plugins.kernel-cygnet.spi_lifetime",
									   SPI_LIFETIME, lib->ns);
	return max(lifetime, 1);
}

static job_requeue_t release_old(private_kernel_cygnet_larval_t *this);

/**
 * Schedule release_old() after that time; the caller holds the mutex
 */
static void schedule(private_kernel_cygnet_larval_t *this, time_t seconds)
{
	this->scheduled = TRUE;
	lib->scheduler->schedule_job(lib->scheduler,
			(job_t*)callback_job_create((callback_job_cb_t)release_old, this,
										NULL, NULL), seconds);
}

/**
 * Job: release the SPIs whose lifetime is over, except SPIs that have an SA or
 * have been released.
 */
static job_requeue_t release_old(private_kernel_cygnet_larval_t *this)
{
	time_t now = time_monotonic(NULL), lifetime = get_lifetime();
	reserved_t *reserved;

	this->mutex->lock(this->mutex);
	this->scheduled = FALSE;
	while (this->reserved->get_first(this->reserved,
									 (void**)&reserved) == SUCCESS)
	{
		if (reserved->time + lifetime > now)
		{
			schedule(this, reserved->time + lifetime - now);
			break;
		}
		this->reserved->remove_first(this->reserved, (void**)&reserved);
		if (cygnet_spi_release(this->db, &reserved->id) == 0)
		{
			DBG2(DBG_KNL, "SPI %.8x has got no SA in %ld seconds, released",
				 ntohl(reserved->id.spi), (long)lifetime);
		}
		free(reserved);
	}
	this->mutex->unlock(this->mutex);
	return JOB_REQUEUE_NONE;
}

METHOD(kernel_cygnet_larval_t, add, void,
	private_kernel_cygnet_larval_t *this, const struct cygnet_sa_id *id)
{
	reserved_t *reserved;

	INIT(reserved,
		.id = *id,
		.time = time_monotonic(NULL),
	);
	this->mutex->lock(this->mutex);
	this->reserved->insert_last(this->reserved, reserved);
	if (!this->scheduled)
	{
		schedule(this, get_lifetime());
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_larval_t, destroy, void,
	private_kernel_cygnet_larval_t *this)
{
	this->reserved->destroy_function(this->reserved, free);
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_larval_t *kernel_cygnet_larval_create(struct cygnet_db *db)
{
	private_kernel_cygnet_larval_t *this;

	INIT(this,
		.public = {
			.add = _add,
			.destroy = _destroy,
		},
		.db = db,
		.reserved = linked_list_create(),
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	return &this->public;
}
