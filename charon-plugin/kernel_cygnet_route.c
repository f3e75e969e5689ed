/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_route.h"
#include "kernel_cygnet_addr.h"
#include "kernel_cygnet_policy.h"
#include "kernel_cygnet_nexthop.h"

#include <daemon.h>
#include <collections/hashtable.h>
#include <threading/mutex.h>

typedef struct private_kernel_cygnet_route_t private_kernel_cygnet_route_t;

struct private_kernel_cygnet_route_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_route_t public;

	/**
	 * The policies
	 */
	struct cygnet_db *db;

	/**
	 * Selectors with a route, entry_t => entry_t
	 */
	hashtable_t *entries;

	/**
	 * Installed routes, route_t => route_t
	 */
	hashtable_t *routes;

	/**
	 * Next hops to peers
	 */
	kernel_cygnet_nexthop_t *nexthops;

	/**
	 * Locks entries, routes and nexthops
	 */
	mutex_t *mutex;

	/**
	 * Whether to install routes (charon.install_routes)
	 */
	bool install;
};

/**
 * A route, shared by all selectors that need it
 */
typedef struct {
	/** destination net */
	host_t *net;
	/** prefix length of the destination net */
	uint8_t prefixlen;
	/** next hop, may be NULL */
	host_t *gateway;
	/** source address */
	host_t *src_ip;
	/** name of the interface, may be NULL for passthrough policies */
	char *if_name;
	/** whether this is for a passthrough policy */
	bool pass;
	/** number of selectors that use it */
	u_int refs;
} route_t;

/**
 * A selector with a route: that of its first policy, which applies to packets
 */
typedef struct {
	/** selector of the policies */
	struct cygnet_selector sel;
	/** the route */
	route_t *route;
} entry_t;

/**
 * Hash an entry_t
 */
static u_int hash_entry(const void *key)
{
	const entry_t *entry = key;

	return chunk_hash(chunk_from_thing(entry->sel));
}

/**
 * Compare two entry_t
 */
static bool equal_entry(const void *key, const void *other_key)
{
	const entry_t *a = key, *b = other_key;

	return memeq(&a->sel, &b->sel, sizeof(a->sel));
}

/**
 * Hash a route_t
 */
static u_int hash_route(const void *key)
{
	const route_t *route = key;

	return chunk_hash(route->net->get_address(route->net));
}

/**
 * Compare the addresses of two hosts, either of which may be NULL
 */
static bool equal_host(host_t *a, host_t *b)
{
	return a == b || (a && b && a->ip_equals(a, b));
}

/**
 * Compare two route_t
 */
static bool equal_route(const void *key, const void *other_key)
{
	const route_t *a = key, *b = other_key;

	return a->net->ip_equals(a->net, b->net) &&
		   a->prefixlen == b->prefixlen && a->pass == b->pass &&
		   equal_host(a->gateway, b->gateway) &&
		   equal_host(a->src_ip, b->src_ip) &&
		   (a->if_name == b->if_name ||
			(a->if_name && b->if_name && streq(a->if_name, b->if_name)));
}

/**
 * Destroy a route_t
 */
static void destroy_route(route_t *route)
{
	DESTROY_IF(route->gateway);
	DESTROY_IF(route->src_ip);
	DESTROY_IF(route->net);
	free(route->if_name);
	free(route);
}

/**
 * Find next hop and interface of a route: to the peer, or for passthrough
 * policies to the destination itself. peer and local may be NULL.
 *
 * Returns FALSE if the interface is needed but not found.
 */
static bool find_nexthop(private_kernel_cygnet_route_t *this, route_t *route,
						 host_t *peer, host_t *local)
{
	if (peer && !peer->is_anyaddr(peer))
	{
		route->gateway = this->nexthops->find(this->nexthops, peer, local,
											  &route->if_name);
	}
	else
	{
		route->gateway = charon->kernel->get_nexthop(charon->kernel, route->net,
											route->prefixlen, route->src_ip,
											&route->if_name);
	}
	/* a next hop of the other family cannot be in the route: the route then has
	 * only the output interface */
	if (route->gateway && route->gateway->get_family(route->gateway) !=
						  route->net->get_family(route->net))
	{
		route->gateway->destroy(route->gateway);
		route->gateway = NULL;
	}
	if (route->if_name)
	{
		return TRUE;
	}
	if (!local || local->is_anyaddr(local))
	{
		local = route->src_ip;
	}
	return charon->kernel->get_interface(charon->kernel, local,
										 &route->if_name) || route->pass;
}

/**
 * Whether an address is in the source selector of a policy
 */
static bool is_source(const struct cygnet_selector *sel, chunk_t address)
{
	return address.len == kernel_cygnet_addr_len(sel->af) &&
		   memcmp(sel->src_lo.bytes, address.ptr, address.len) <= 0 &&
		   memcmp(address.ptr, sel->src_hi.bytes, address.len) <= 0;
}

/**
 * Whether get_address_by_ts() would find an address. Most policies of a gateway
 * do not include its own addresses, and get_address_by_ts() takes as long as
 * the rest of a policy's installation.
 */
static bool has_source(const struct cygnet_selector *sel)
{
	static const u_char loopback4[4] = {127, 0, 0, 1}, loopback6[16] = {[15] = 1};
	chunk_t loopback = chunk_from_thing(loopback4);
	enumerator_t *enumerator;
	bool found = FALSE;
	host_t *host;

	if (sel->af == AF_INET6)
	{
		loopback = chunk_from_thing(loopback6);
	}
	if (is_source(sel, loopback))
	{	/* get_address_by_ts() then returns any address */
		return TRUE;
	}
	enumerator = charon->kernel->create_address_enumerator(charon->kernel,
														   ADDR_TYPE_ALL);
	while (!found && enumerator->enumerate(enumerator, &host))
	{
		found = is_source(sel, host->get_address(host));
	}
	enumerator->destroy(enumerator);
	return found;
}

/**
 * Create a traffic selector for a range of addresses
 */
static traffic_selector_t *create_ts(uint8_t af, const struct cygnet_addr *lo,
									 const struct cygnet_addr *hi)
{
	size_t len = kernel_cygnet_addr_len(af);

	return traffic_selector_create_from_bytes(0,
				af == AF_INET6 ? TS_IPV6_ADDR_RANGE : TS_IPV4_ADDR_RANGE,
				chunk_create((u_char*)lo->bytes, len), 0,
				chunk_create((u_char*)hi->bytes, len), 65535);
}

/**
 * Find the address of this host that is in the source selector, NULL if there
 * is none
 */
static host_t *find_source(const struct cygnet_selector *sel)
{
	traffic_selector_t *ts;
	host_t *src_ip = NULL;

	if (has_source(sel))
	{
		ts = create_ts(sel->af, &sel->src_lo, &sel->src_hi);
		charon->kernel->get_address_by_ts(charon->kernel, ts, &src_ip, NULL);
		ts->destroy(ts);
	}
	return src_ip;
}

/**
 * Create the route of a policy.
 *
 * Returns NULL if the policy needs no route because this host has no address in
 * its source selector, or if the peer is unreachable.
 */
static route_t *create_route(private_kernel_cygnet_route_t *this,
							 const struct cygnet_policy_params *params)
{
	const struct cygnet_selector *sel = &params->sel;
	bool pass = params->action == CYGNET_BYPASS, found;
	host_t *src_ip, *peer, *local;
	traffic_selector_t *ts;
	route_t *route;

	src_ip = find_source(sel);
	if (!src_ip && !pass)
	{
		return NULL;
	}
	INIT(route,
		.pass = pass,
		/* routes of passthrough policies need no source address */
		.src_ip = src_ip ?: host_create_any(sel->af),
	);
	ts = create_ts(sel->af, &sel->dst_lo, &sel->dst_hi);
	ts->to_subnet(ts, &route->net, &route->prefixlen);
	ts->destroy(ts);
	/* policies without an SA have no end points */
	peer = kernel_cygnet_addr_to_host(params->af, &params->dst, 0);
	local = kernel_cygnet_addr_to_host(params->af, &params->src, 0);
	found = find_nexthop(this, route, peer, local);
	DESTROY_IF(peer);
	DESTROY_IF(local);
	if (!found)
	{
		destroy_route(route);
		return NULL;
	}
	return route;
}

/**
 * Install a route, or find an equal one that is installed already. Takes
 * ownership of the route.
 *
 * Returns a reference to the installed route, or NULL.
 */
static route_t *install_route(private_kernel_cygnet_route_t *this,
							  route_t *route)
{
	route_t *found;

	found = this->routes->get(this->routes, route);
	if (found)
	{
		destroy_route(route);
		found->refs++;
		return found;
	}
	DBG2(DBG_KNL, "installing route: %H/%u via %H src %H dev %s", route->net,
		 route->prefixlen, route->gateway, route->src_ip, route->if_name);
	switch (charon->kernel->add_route(charon->kernel,
							route->net->get_address(route->net),
							route->prefixlen, route->gateway, route->src_ip,
							route->if_name, route->pass))
	{
		case SUCCESS:
			route->refs = 1;
			this->routes->put(this->routes, route, route);
			return route;
		case ALREADY_DONE:
			/* the route exists, but the plugin did not install it */
			break;
		default:
			DBG1(DBG_KNL, "unable to install source route for %H",
				 route->src_ip);
			break;
	}
	destroy_route(route);
	return NULL;
}

/**
 * Drop the reference of an entry to its route. The last reference uninstalls
 * the route.
 */
static void release_route(private_kernel_cygnet_route_t *this, entry_t *entry)
{
	traffic_selector_t *src_ts, *dst_ts;
	route_t *route = entry->route;

	entry->route = NULL;
	if (--route->refs)
	{
		return;
	}
	this->routes->remove(this->routes, route);
	if (charon->kernel->del_route(charon->kernel,
							route->net->get_address(route->net),
							route->prefixlen, route->gateway, route->src_ip,
							route->if_name, route->pass) != SUCCESS)
	{
		src_ts = create_ts(entry->sel.af, &entry->sel.src_lo,
						   &entry->sel.src_hi);
		dst_ts = create_ts(entry->sel.af, &entry->sel.dst_lo,
						   &entry->sel.dst_hi);
		DBG1(DBG_KNL, "error uninstalling route installed with policy "
			 "%R === %R %N", src_ts, dst_ts, policy_dir_names, POLICY_OUT);
		src_ts->destroy(src_ts);
		dst_ts->destroy(dst_ts);
	}
	destroy_route(route);
}

/**
 * Whether policies with a selector may have a route. Those with an interface ID
 * have none, as with kernel-netlink: the administrator routes to the interface.
 */
static bool may_have_route(private_kernel_cygnet_route_t *this,
						   const struct cygnet_selector *sel)
{
	return this->install && !sel->by_if_id && !sel->proto &&
		   !cygnet_restricts_ports(sel);
}

/**
 * Whether a policy is of a kind that needs a route
 */
static bool wants_route(const struct cygnet_policy_params *params)
{
	return params->action == CYGNET_BYPASS ||
		   (params->action == CYGNET_PROTECT &&
			params->mode == CYGNET_TUNNEL);
}

/**
 * Remove an entry and its route
 */
static void remove_entry(private_kernel_cygnet_route_t *this, entry_t *entry)
{
	this->entries->remove(this->entries, entry);
	release_route(this, entry);
	free(entry);
}

/**
 * Give a selector a route, in the place of the one it has. entry is NULL if it
 * has none.
 */
static void set_route(private_kernel_cygnet_route_t *this, entry_t *entry,
					  const struct cygnet_selector *sel, route_t *route)
{
	if (entry && equal_route(entry->route, route))
	{
		destroy_route(route);
		return;
	}
	if (entry)
	{	/* first: kernel-netlink installs another route to the net if there is
		 * one */
		remove_entry(this, entry);
	}
	route = install_route(this, route);
	if (route)
	{
		INIT(entry,
			.sel = *sel,
			.route = route,
		);
		this->entries->put(this->entries, entry, entry);
	}
}

METHOD(kernel_cygnet_route_t, update, void,
	private_kernel_cygnet_route_t *this, const struct cygnet_selector *sel)
{
	struct cygnet_policy_entry policies;
	route_t *route;
	entry_t *entry, lookup = {
		.sel = *sel,
	};

	if (!may_have_route(this, sel))
	{
		return;
	}
	this->mutex->lock(this->mutex);
	entry = this->entries->get(this->entries, &lookup);
	/* another thread may have changed the policies since: look again */
	if (cygnet_policy_entry(this->db, CYGNET_OUT, sel, &policies) != 0)
	{
		if (entry)
		{
			remove_entry(this, entry);
		}
	}
	else if (wants_route(&policies.first))
	{
		route = create_route(this, &policies.first);
		if (route)
		{
			set_route(this, entry, sel, route);
		}
	}
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_route_t, flush, void,
	private_kernel_cygnet_route_t *this)
{
	enumerator_t *enumerator;
	entry_t *key, *entry;

	this->mutex->lock(this->mutex);
	enumerator = this->entries->create_enumerator(this->entries);
	while (enumerator->enumerate(enumerator, &key, &entry))
	{
		this->entries->remove_at(this->entries, enumerator);
		release_route(this, entry);
		free(entry);
	}
	enumerator->destroy(enumerator);
	this->mutex->unlock(this->mutex);
}

METHOD(kernel_cygnet_route_t, destroy, void,
	private_kernel_cygnet_route_t *this)
{
	flush(this);
	this->entries->destroy(this->entries);
	this->routes->destroy(this->routes);
	this->nexthops->destroy(this->nexthops);
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_route_t *kernel_cygnet_route_create(struct cygnet_db *db)
{
	private_kernel_cygnet_route_t *this;

	INIT(this,
		.public = {
			.update = _update,
			.flush = _flush,
			.destroy = _destroy,
		},
		.db = db,
		.entries = hashtable_create(hash_entry, equal_entry, 64),
		.routes = hashtable_create(hash_route, equal_route, 64),
		.nexthops = kernel_cygnet_nexthop_create(),
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
		.install = lib->settings->get_bool(lib->settings, "%s.install_routes",
										   TRUE, lib->ns),
	);
	return &this->public;
}
