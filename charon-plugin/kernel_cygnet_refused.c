/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_refused.h"

#include <daemon.h>
#include <collections/linked_list.h>
#include <threading/mutex.h>

typedef struct private_kernel_cygnet_refused_t private_kernel_cygnet_refused_t;

struct private_kernel_cygnet_refused_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_refused_t public;

	/**
	 * Refusals, refusal_t, the newest first. Few: charon deletes most at once.
	 */
	linked_list_t *refusals;

	/**
	 * Seconds after which a refusal is forgotten
	 */
	u_int lifetime;

	/**
	 * Locks refusals
	 */
	mutex_t *mutex;
};

/**
 * A refusal of an SA
 */
typedef struct {
	/** id of the SA */
	struct cygnet_sa_id id;
	/** identity of the peer, NULL if there was no IKE_SA */
	identification_t *peer;
	/** time of the refusal, by the monotonic clock */
	time_t time;
} refusal_t;

/**
 * Identity of the calling thread's peer, NULL if it has no IKE_SA
 */
static identification_t *get_peer(void)
{
	ike_sa_t *ike_sa = charon->bus->get_sa(charon->bus);

	return ike_sa ? ike_sa->get_other_eap_id(ike_sa) : NULL;
}

/**
 * Compare two identities, either of which may be NULL
 */
static bool equal_peers(identification_t *a, identification_t *b)
{
	return a == b || (a && b && a->equals(a, b));
}

/**
 * Destroy a refusal
 */
static void destroy_refusal(refusal_t *refusal)
{
	DESTROY_IF(refusal->peer);
	free(refusal);
}

/**
 * Forget refusals that charon has not deleted in time
 */
static void forget_old(private_kernel_cygnet_refused_t *this)
{
	refusal_t *oldest;

	while (this->refusals->get_last(this->refusals,
									(void**)&oldest) == SUCCESS &&
		   time_monotonic(NULL) - oldest->time >= this->lifetime)
	{
		this->refusals->remove_last(this->refusals, (void**)&oldest);
		destroy_refusal(oldest);
	}
}

/**
 * Find a refusal of the calling thread's peer, and with remove, forget it
 */
static bool find(private_kernel_cygnet_refused_t *this,
				 const struct cygnet_sa_id *id, bool remove)
{
	enumerator_t *enumerator;
	refusal_t *refusal;
	bool found = FALSE;

	this->mutex->lock(this->mutex);
	forget_old(this);
	enumerator = this->refusals->create_enumerator(this->refusals);
	while (!found && enumerator->enumerate(enumerator, &refusal))
	{
		found = memeq(&refusal->id, id, sizeof(*id)) &&
				equal_peers(refusal->peer, get_peer());
		if (found && remove)
		{
			this->refusals->remove_at(this->refusals, enumerator);
			destroy_refusal(refusal);
		}
	}
	enumerator->destroy(enumerator);
	this->mutex->unlock(this->mutex);
	return found;
}

METHOD(kernel_cygnet_refused_t, add, void,
	private_kernel_cygnet_refused_t *this, const struct cygnet_sa_id *id)
{
	identification_t *peer = get_peer();
	refusal_t *refusal;

	INIT(refusal,
		.id = *id,
		.peer = peer ? peer->clone(peer) : NULL,
		.time = time_monotonic(NULL),
	);
	this->mutex->lock(this->mutex);
	forget_old(this);
	this->refusals->insert_first(this->refusals, refusal);
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_refused_t, has, bool,
	private_kernel_cygnet_refused_t *this, const struct cygnet_sa_id *id)
{
	return find(this, id, FALSE);
}

METHOD(kernel_cygnet_refused_t, take, bool,
	private_kernel_cygnet_refused_t *this, const struct cygnet_sa_id *id)
{
	return find(this, id, TRUE);
}

METHOD(kernel_cygnet_refused_t, flush, void,
	private_kernel_cygnet_refused_t *this)
{
	refusal_t *refusal;

	this->mutex->lock(this->mutex);
	while (this->refusals->remove_first(this->refusals,
										(void**)&refusal) == SUCCESS)
	{
		destroy_refusal(refusal);
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_refused_t, destroy, void,
	private_kernel_cygnet_refused_t *this)
{
	flush(this);
	this->refusals->destroy(this->refusals);
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_refused_t *kernel_cygnet_refused_create(u_int lifetime)
{
	private_kernel_cygnet_refused_t *this;

	INIT(this,
		.public = {
			.add = _add,
			.has = _has,
			.take = _take,
			.flush = _flush,
			.destroy = _destroy,
		},
		.refusals = linked_list_create(),
		.lifetime = lifetime,
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	return &this->public;
}
