/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_nexthop.h"

#include <daemon.h>
#include <collections/hashtable.h>

typedef struct private_kernel_cygnet_nexthop_t private_kernel_cygnet_nexthop_t;

struct private_kernel_cygnet_nexthop_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_nexthop_t public;

	/**
	 * Listener for roam events
	 */
	kernel_listener_t listener;

	/**
	 * Cached next hops, entry_t => entry_t
	 */
	hashtable_t *entries;

	/**
	 * Second in which the entries were cached
	 */
	time_t time;

	/**
	 * Value of roams when the entries were cached
	 */
	u_int roams_seen;

	/**
	 * Number of roam events; atomic
	 */
	u_int roams;
};

/**
 * A cached next hop
 */
typedef struct {
	/** address of the peer */
	host_t *dst;
	/** local address */
	host_t *src;
	/** next hop */
	host_t *gateway;
	/** name of the interface */
	char *if_name;
} entry_t;

/**
 * Hash an entry_t
 */
static u_int hash_entry(const void *key)
{
	const entry_t *entry = key;

	return chunk_hash(entry->dst->get_address(entry->dst));
}

/**
 * Compare two entry_t
 */
static bool equal_entry(const void *key, const void *other_key)
{
	const entry_t *a = key, *b = other_key;

	return a->dst->ip_equals(a->dst, b->dst) &&
		   a->src->ip_equals(a->src, b->src);
}

/**
 * Destroy an entry_t
 */
static void destroy_entry(entry_t *entry)
{
	entry->dst->destroy(entry->dst);
	entry->src->destroy(entry->src);
	entry->gateway->destroy(entry->gateway);
	free(entry->if_name);
	free(entry);
}

/**
 * Remove all entries
 */
static void flush(private_kernel_cygnet_nexthop_t *this)
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

/**
 * Remove all entries if they are older than a second or a roam event
 */
static void flush_old(private_kernel_cygnet_nexthop_t *this)
{
	u_int roams = __atomic_load_n(&this->roams, __ATOMIC_ACQUIRE);
	time_t now = time_monotonic(NULL);

	if (this->time != now || this->roams_seen != roams)
	{
		flush(this);
		this->time = now;
		this->roams_seen = roams;
	}
}

/**
 * Listener callback: addresses or routes have changed. Any thread of charon.
 */
static bool on_roam(kernel_listener_t *listener, bool address)
{
	private_kernel_cygnet_nexthop_t *this;

	this = (private_kernel_cygnet_nexthop_t*)((char*)listener -
						offsetof(private_kernel_cygnet_nexthop_t, listener));
	__atomic_add_fetch(&this->roams, 1, __ATOMIC_RELEASE);
	return TRUE;
}

METHOD(kernel_cygnet_nexthop_t, find, host_t*,
	private_kernel_cygnet_nexthop_t *this, host_t *dst, host_t *src,
	char **if_name)
{
	entry_t *entry, lookup = {
		.dst = dst,
		.src = src,
	};
	host_t *gateway;

	flush_old(this);
	entry = this->entries->get(this->entries, &lookup);
	if (entry)
	{
		*if_name = strdup(entry->if_name);
		return entry->gateway->clone(entry->gateway);
	}
	gateway = charon->kernel->get_nexthop(charon->kernel, dst, -1, src,
										  if_name);
	/* do not cache a next hop that is unknown or has no interface */
	if (gateway && *if_name)
	{
		INIT(entry,
			.dst = dst->clone(dst),
			.src = src->clone(src),
			.gateway = gateway->clone(gateway),
			.if_name = strdup(*if_name),
		);
		this->entries->put(this->entries, entry, entry);
	}
	return gateway;
}

METHOD(kernel_cygnet_nexthop_t, destroy, void,
	private_kernel_cygnet_nexthop_t *this)
{
	charon->kernel->remove_listener(charon->kernel, &this->listener);
	flush(this);
	this->entries->destroy(this->entries);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_nexthop_t *kernel_cygnet_nexthop_create(void)
{
	private_kernel_cygnet_nexthop_t *this;

	INIT(this,
		.public = {
			.find = _find,
			.destroy = _destroy,
		},
		.listener = {
			.roam = on_roam,
		},
		.entries = hashtable_create(hash_entry, equal_entry, 8),
	);
	charon->kernel->add_listener(charon->kernel, &this->listener);
	return &this->public;
}
