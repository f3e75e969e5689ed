/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_expiry.h"
#include "kernel_cygnet_addr.h"
#include "kernel_cygnet_heap.h"

#include <daemon.h>
#include <collections/hashtable.h>
#include <processing/jobs/callback_job.h>
#include <threading/mutex.h>

typedef struct private_kernel_cygnet_expiry_t private_kernel_cygnet_expiry_t;

struct private_kernel_cygnet_expiry_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_expiry_t public;

	/**
	 * Numbers of SAs and policies of each peer
	 */
	kernel_cygnet_peers_t *peers;

	/**
	 * Installed SAs, struct cygnet_sa_id => sa_t
	 */
	hashtable_t *sas;

	/**
	 * Timers, sa_timer_t. Only the first one is a job of charon's scheduler:
	 * scheduling a job takes as long as the rest of an SA's installation.
	 */
	kernel_cygnet_heap_t *timers;

	/**
	 * Time of the next scheduled job of fire_timers(), 0 if there is none
	 */
	time_t scheduled;

	/**
	 * Locks sas, timers, scheduled, and all sa_t
	 */
	mutex_t *mutex;
};

/**
 * An installed SA, shared by the table and its timers
 */
typedef struct {
	/** id; its destination changes when the SA moves */
	struct cygnet_sa_id id;
	/** FALSE once the SA has been removed */
	bool installed;
	/** IKE_SA that the SA is counted for while installed, or NULL */
	kernel_cygnet_ike_sa_t *owner;
	/** number of references, held by the table and the timers */
	refcount_t refs;
} sa_t;

/**
 * A timer of an SA
 */
typedef struct {
	/** SA, a reference */
	sa_t *sa;
	/** TRUE for the hard limit, FALSE for the soft limit */
	bool hard;
} sa_timer_t;

/**
 * Hash a struct cygnet_sa_id
 */
static u_int hash_id(const void *key)
{
	const struct cygnet_sa_id *id = key;

	return chunk_hash_inc(chunk_from_thing(id->dst),
						  chunk_hash(chunk_from_thing(id->spi)));
}

/**
 * Compare two struct cygnet_sa_id
 */
static bool equal_id(const void *key, const void *other_key)
{
	const struct cygnet_sa_id *a = key, *b = other_key;

	return a->spi == b->spi && a->proto == b->proto && a->af == b->af &&
		   memeq(&a->dst, &b->dst, sizeof(a->dst));
}

/**
 * Drop a reference to an SA
 */
static void put_sa(sa_t *sa)
{
	if (ref_put(&sa->refs))
	{
		free(sa);
	}
}

/**
 * Drop the table's reference to an SA that was removed from the table; the
 * caller holds the mutex
 */
static void forget_sa(private_kernel_cygnet_expiry_t *this, sa_t *sa)
{
	sa->installed = FALSE;
	this->peers->put_sa(this->peers, sa->owner);
	put_sa(sa);
}

/**
 * Remove an SA from the table; the caller holds the mutex
 */
static void remove_sa(private_kernel_cygnet_expiry_t *this,
					  const struct cygnet_sa_id *id)
{
	sa_t *sa;

	sa = this->sas->remove(this->sas, id);
	if (sa)
	{
		forget_sa(this, sa);
	}
}

/**
 * Destroy a timer
 */
static void destroy_timer(sa_timer_t *timer)
{
	put_sa(timer->sa);
	free(timer);
}

/**
 * Raise an expire to charon, if the SA of the timer is still installed
 */
static void raise_limit(private_kernel_cygnet_expiry_t *this,
						sa_timer_t *timer)
{
	struct cygnet_sa_id id;
	bool installed;
	host_t *dst;

	this->mutex->lock(this->mutex);
	installed = timer->sa->installed;
	id = timer->sa->id;
	this->mutex->unlock(this->mutex);

	if (installed)
	{
		dst = kernel_cygnet_addr_to_host(id.af, &id.dst, 0);
		charon->kernel->expire(charon->kernel, id.proto, id.spi, dst,
							   timer->hard);
		dst->destroy(dst);
	}
}

/**
 * Take the next timer out of the heap if it is due; the caller holds the mutex
 *
 * Returns NULL if none is due.
 */
static sa_timer_t *take_due(private_kernel_cygnet_expiry_t *this)
{
	time_t due;

	if (this->timers->next(this->timers, &due) && due <= time_monotonic(NULL))
	{
		return this->timers->take(this->timers);
	}
	return NULL;
}

static job_requeue_t fire_timers(private_kernel_cygnet_expiry_t *this);

/**
 * Schedule a job for the next timer, unless one is scheduled; the caller holds
 * the mutex
 */
static void schedule_next(private_kernel_cygnet_expiry_t *this)
{
	time_t due, now;

	if (!this->timers->next(this->timers, &due) ||
		(this->scheduled && this->scheduled <= due))
	{
		return;
	}
	this->scheduled = due;
	now = time_monotonic(NULL);
	lib->scheduler->schedule_job(lib->scheduler,
			(job_t*)callback_job_create((callback_job_cb_t)fire_timers, this,
										NULL, NULL),
			due > now ? min(due - now, (time_t)UINT32_MAX) : 0);
}

/**
 * Job: fire all timers that are due
 */
static job_requeue_t fire_timers(private_kernel_cygnet_expiry_t *this)
{
	sa_timer_t *timer;

	this->mutex->lock(this->mutex);
	while ((timer = take_due(this)))
	{
		this->mutex->unlock(this->mutex);
		raise_limit(this, timer);
		destroy_timer(timer);
		this->mutex->lock(this->mutex);
	}
	/* a later job may still be scheduled; it may find no timer due */
	if (this->scheduled <= time_monotonic(NULL))
	{
		this->scheduled = 0;
	}
	schedule_next(this);
	this->mutex->unlock(this->mutex);
	return JOB_REQUEUE_NONE;
}

/**
 * Start a timer for an SA; the caller holds the mutex
 */
static void start_timer(private_kernel_cygnet_expiry_t *this, sa_t *sa,
						uint64_t seconds, bool hard)
{
	sa_timer_t *timer;

	INIT(timer,
		.sa = sa,
		.hard = hard,
	);
	ref_get(&sa->refs);
	this->timers->put(this->timers, time_monotonic(NULL) +
					  (time_t)min(seconds, UINT32_MAX), timer);
}

METHOD(kernel_cygnet_expiry_t, add, void,
	private_kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
	lifetime_cfg_t *lifetime, kernel_cygnet_ike_sa_t *owner)
{
	sa_t *sa, *old;

	INIT(sa,
		.id = *id,
		.installed = TRUE,
		.owner = owner,
		.refs = 1,
	);
	this->mutex->lock(this->mutex);
	if (lifetime->time.rekey)
	{
		start_timer(this, sa, lifetime->time.rekey, FALSE);
	}
	if (lifetime->time.life)
	{
		start_timer(this, sa, lifetime->time.life, TRUE);
	}
	schedule_next(this);
	/* put() replaces key and value of an SA with the same id */
	old = this->sas->put(this->sas, &sa->id, sa);
	if (old)
	{
		forget_sa(this, old);
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_expiry_t, rename_, void,
	private_kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
	const struct cygnet_sa_id *new_id)
{
	sa_t *sa;

	this->mutex->lock(this->mutex);
	sa = this->sas->remove(this->sas, id);
	if (sa)
	{
		sa->id = *new_id;
		this->sas->put(this->sas, &sa->id, sa);
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_expiry_t, remove_, void,
	private_kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id)
{
	this->mutex->lock(this->mutex);
	remove_sa(this, id);
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_expiry_t, flush, void,
	private_kernel_cygnet_expiry_t *this)
{
	enumerator_t *enumerator;
	const void *key;
	sa_t *sa;

	this->mutex->lock(this->mutex);
	enumerator = this->sas->create_enumerator(this->sas);
	while (enumerator->enumerate(enumerator, &key, &sa))
	{
		this->sas->remove_at(this->sas, enumerator);
		forget_sa(this, sa);
	}
	enumerator->destroy(enumerator);
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_expiry_t, destroy, void,
	private_kernel_cygnet_expiry_t *this)
{
	sa_timer_t *timer;

	flush(this);
	while ((timer = this->timers->take(this->timers)))
	{
		destroy_timer(timer);
	}
	this->timers->destroy(this->timers);
	this->sas->destroy(this->sas);
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_expiry_t *kernel_cygnet_expiry_create(
											kernel_cygnet_peers_t *peers)
{
	private_kernel_cygnet_expiry_t *this;

	INIT(this,
		.public = {
			.add = _add,
			.rename = _rename_,
			.remove = _remove_,
			.flush = _flush,
			.destroy = _destroy,
		},
		.peers = peers,
		.sas = hashtable_create(hash_id, equal_id, 64),
		.timers = kernel_cygnet_heap_create(),
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	return &this->public;
}
