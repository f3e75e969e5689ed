/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_way.h"

#include <daemon.h>
#include <collections/hashtable.h>

typedef struct private_kernel_cygnet_way_t private_kernel_cygnet_way_t;

struct private_kernel_cygnet_way_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_way_t public;

	/**
	 * Hears of changes
	 */
	kernel_listener_t listener;

	/**
	 * Those that were found, way_t => way_t
	 */
	hashtable_t *ways;

	/**
	 * The second in which they were
	 */
	time_t time;

	/**
	 * How many changes there had been
	 */
	u_int changes;

	/**
	 * How many there have been; atomic
	 */
	u_int heard;
};

/**
 * The way from one address to another
 */
typedef struct {
	/** the peer's */
	host_t *dst;
	/** ours */
	host_t *src;
	/** next hop */
	host_t *gateway;
	/** name of the interface */
	char *if_name;
} way_t;

/**
 * Hash a way_t
 */
static u_int hash_way(const void *key)
{
	const way_t *way = key;

	return chunk_hash(way->dst->get_address(way->dst));
}

/**
 * Compare two way_t
 */
static bool equal_way(const void *key, const void *other_key)
{
	const way_t *a = key, *b = other_key;

	return a->dst->ip_equals(a->dst, b->dst) &&
		   a->src->ip_equals(a->src, b->src);
}

/**
 * Destroy a way_t
 */
static void destroy_way(way_t *way)
{
	way->dst->destroy(way->dst);
	way->src->destroy(way->src);
	way->gateway->destroy(way->gateway);
	free(way->if_name);
	free(way);
}

/**
 * Forget all ways
 */
static void forget(private_kernel_cygnet_way_t *this)
{
	enumerator_t *enumerator;
	way_t *key, *way;

	enumerator = this->ways->create_enumerator(this->ways);
	while (enumerator->enumerate(enumerator, &key, &way))
	{
		this->ways->remove_at(this->ways, enumerator);
		destroy_way(way);
	}
	enumerator->destroy(enumerator);
}

/**
 * Forget the ways that may be other ones by now
 */
static void forget_old(private_kernel_cygnet_way_t *this)
{
	u_int heard = __atomic_load_n(&this->heard, __ATOMIC_ACQUIRE);
	time_t now = time_monotonic(NULL);

	if (this->time != now || this->changes != heard)
	{
		forget(this);
		this->time = now;
		this->changes = heard;
	}
}

/**
 * Addresses or routes have changed; charon's threads
 */
static bool on_roam(kernel_listener_t *listener, bool address)
{
	private_kernel_cygnet_way_t *this;

	this = (private_kernel_cygnet_way_t*)((char*)listener -
						offsetof(private_kernel_cygnet_way_t, listener));
	__atomic_add_fetch(&this->heard, 1, __ATOMIC_RELEASE);
	return TRUE;
}

METHOD(kernel_cygnet_way_t, find, host_t*,
	private_kernel_cygnet_way_t *this, host_t *dst, host_t *src,
	char **if_name)
{
	way_t *way, lookup = {
		.dst = dst,
		.src = src,
	};
	host_t *gateway;

	forget_old(this);
	way = this->ways->get(this->ways, &lookup);
	if (way)
	{
		*if_name = strdup(way->if_name);
		return way->gateway->clone(way->gateway);
	}
	gateway = charon->kernel->get_nexthop(charon->kernel, dst, -1, src,
										  if_name);
	/* no way, or half of one, may be a whole one any time */
	if (gateway && *if_name)
	{
		INIT(way,
			.dst = dst->clone(dst),
			.src = src->clone(src),
			.gateway = gateway->clone(gateway),
			.if_name = strdup(*if_name),
		);
		this->ways->put(this->ways, way, way);
	}
	return gateway;
}

METHOD(kernel_cygnet_way_t, destroy, void,
	private_kernel_cygnet_way_t *this)
{
	charon->kernel->remove_listener(charon->kernel, &this->listener);
	forget(this);
	this->ways->destroy(this->ways);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_way_t *kernel_cygnet_way_create(void)
{
	private_kernel_cygnet_way_t *this;

	INIT(this,
		.public = {
			.find = _find,
			.destroy = _destroy,
		},
		.listener = {
			.roam = on_roam,
		},
		.ways = hashtable_create(hash_way, equal_way, 8),
	);
	charon->kernel->add_listener(charon->kernel, &this->listener);
	return &this->public;
}
