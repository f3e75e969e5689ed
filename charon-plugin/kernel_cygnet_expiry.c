/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_expiry.h"
#include "kernel_cygnet_addr.h"

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
	 * Installed SAs, struct cygnet_sa_id => sa_t
	 */
	hashtable_t *sas;

	/**
	 * Locks the table and the SAs in it
	 */
	mutex_t *mutex;
};

/**
 * One installation of an SA, shared by the table and the timers
 */
typedef struct {
	/** name; changes when the SA moves to another destination */
	struct cygnet_sa_id id;
	/** FALSE once the SA has been removed */
	bool installed;
	/** references, by the table and by timers */
	refcount_t refs;
} sa_t;

/**
 * A timer that runs in the scheduler
 */
typedef struct {
	/** where the SA is kept */
	private_kernel_cygnet_expiry_t *expiry;
	/** SA, a reference */
	sa_t *sa;
	/** whether this is the hard limit */
	bool hard;
} timer_data_t;

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
 * Take an SA out of the table; the caller holds the mutex
 */
static void remove_sa(private_kernel_cygnet_expiry_t *this,
					  const struct cygnet_sa_id *id)
{
	sa_t *sa;

	sa = this->sas->remove(this->sas, id);
	if (sa)
	{
		sa->installed = FALSE;
		put_sa(sa);
	}
}

/**
 * Destroy the data of a timer
 */
static void destroy_timer(timer_data_t *data)
{
	put_sa(data->sa);
	free(data);
}

/**
 * Raise the limit of a timer, if its SA is still there
 */
static job_requeue_t fire_timer(timer_data_t *data)
{
	private_kernel_cygnet_expiry_t *this = data->expiry;
	struct cygnet_sa_id id;
	bool installed;
	host_t *dst;

	this->mutex->lock(this->mutex);
	installed = data->sa->installed;
	id = data->sa->id;
	this->mutex->unlock(this->mutex);

	if (installed)
	{
		dst = kernel_cygnet_addr_to_host(id.af, &id.dst, 0);
		charon->kernel->expire(charon->kernel, id.proto, id.spi, dst,
							   data->hard);
		dst->destroy(dst);
	}
	return JOB_REQUEUE_NONE;
}

/**
 * Start a timer for an SA
 */
static void start_timer(private_kernel_cygnet_expiry_t *this, sa_t *sa,
						uint64_t seconds, bool hard)
{
	timer_data_t *data;

	INIT(data,
		.expiry = this,
		.sa = sa,
		.hard = hard,
	);
	ref_get(&sa->refs);
	lib->scheduler->schedule_job(lib->scheduler,
				(job_t*)callback_job_create((callback_job_cb_t)fire_timer, data,
								(callback_job_cleanup_t)destroy_timer, NULL),
				min(seconds, UINT32_MAX));
}

METHOD(kernel_cygnet_expiry_t, add, void,
	private_kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
	lifetime_cfg_t *lifetime)
{
	sa_t *sa;

	INIT(sa,
		.id = *id,
		.installed = TRUE,
		.refs = 1,
	);
	if (lifetime->time.rekey)
	{
		start_timer(this, sa, lifetime->time.rekey, FALSE);
	}
	if (lifetime->time.life)
	{
		start_timer(this, sa, lifetime->time.life, TRUE);
	}
	this->mutex->lock(this->mutex);
	remove_sa(this, id);
	this->sas->put(this->sas, &sa->id, sa);
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_expiry_t, rename_, void,
	private_kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
	const struct cygnet_sa_id *now)
{
	sa_t *sa;

	this->mutex->lock(this->mutex);
	sa = this->sas->remove(this->sas, id);
	if (sa)
	{
		sa->id = *now;
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
		sa->installed = FALSE;
		put_sa(sa);
	}
	enumerator->destroy(enumerator);
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_expiry_t, destroy, void,
	private_kernel_cygnet_expiry_t *this)
{
	flush(this);
	this->sas->destroy(this->sas);
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_expiry_t *kernel_cygnet_expiry_create(void)
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
		.sas = hashtable_create(hash_id, equal_id, 64),
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	return &this->public;
}
