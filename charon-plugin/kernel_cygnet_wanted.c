/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_wanted.h"
#include "kernel_cygnet_compat.h"
#include "kernel_cygnet_policy.h"

#include <errno.h>

#include <daemon.h>
#include <collections/array.h>
#include <collections/hashtable.h>

typedef struct private_kernel_cygnet_wanted_t private_kernel_cygnet_wanted_t;

struct private_kernel_cygnet_wanted_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_wanted_t public;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * Number of children of the connections
	 */
	u_int children;

	/**
	 * Pairs of selectors, pair_t
	 */
	array_t *pairs;

	/**
	 * The same, by their nets: nets_t => pair_t, the first of those with them
	 */
	hashtable_t *by_nets;

	/**
	 * Nets with each combination of family and prefix lengths, nets_t
	 */
	array_t *lengths;
};

/**
 * The smallest nets that include a selector's local and remote addresses
 */
typedef struct {
	struct cygnet_addr local, remote;
	uint8_t local_len, remote_len, af;
} nets_t;

typedef struct pair_t pair_t;

/**
 * The selectors of a local and a remote traffic selector, by direction
 */
struct pair_t {
	nets_t nets;
	struct cygnet_selector sel[CYGNET_DIRS];
	/** whether packets of a direction need held policies until charon has its
	 * own: not forwarded ones in transport mode, and none where policies have
	 * an interface ID */
	bool wanted[CYGNET_DIRS];
	/** whether policies with them protect or drop packets */
	bool installed[CYGNET_DIRS];
	/** the next pair with these nets */
	pair_t *next;
};

/**
 * Replace an address by its prefix
 */
static void mask(struct cygnet_addr *addr, u_int len)
{
	u_int i;

	for (i = 0; i < sizeof(addr->bytes); i++)
	{
		if (len < 8 * (i + 1))
		{
			addr->bytes[i] &= len > 8 * i ? 0xff << (8 * (i + 1) - len) : 0;
		}
	}
}

/**
 * Get the nets with prefixes of these lengths that a selector's addresses begin
 * with
 */
static nets_t get_nets(const struct cygnet_selector *sel, enum cygnet_dir dir,
					   u_int local_len, u_int remote_len)
{
	bool out = dir == CYGNET_OUT;
	nets_t nets;

	/* it is hashed with its padding */
	memset(&nets, 0, sizeof(nets));
	nets.local = out ? sel->src_lo : sel->dst_lo;
	nets.remote = out ? sel->dst_lo : sel->src_lo;
	nets.local_len = local_len;
	nets.remote_len = remote_len;
	nets.af = sel->af;
	mask(&nets.local, local_len);
	mask(&nets.remote, remote_len);
	return nets;
}

/**
 * Get the smallest nets that include a selector's addresses
 */
static nets_t get_smallest_nets(const struct cygnet_selector *sel,
								enum cygnet_dir dir)
{
	u_int src = cygnet_addr_common(sel->af, &sel->src_lo, &sel->src_hi);
	u_int dst = cygnet_addr_common(sel->af, &sel->dst_lo, &sel->dst_hi);

	return dir == CYGNET_OUT ? get_nets(sel, dir, src, dst)
							 : get_nets(sel, dir, dst, src);
}

static u_int hash_nets(const void *key)
{
	const nets_t *nets = key;

	return chunk_hash(chunk_from_thing(*nets));
}

static bool equal_nets(const void *key, const void *other_key)
{
	return memeq(key, other_key, sizeof(nets_t));
}

/**
 * Whether all packets of one selector are packets of another one, whatever
 * interfaces they are bound to
 */
static bool includes(const struct cygnet_selector *outer,
					 const struct cygnet_selector *inner)
{
	size_t len = sizeof(outer->src_lo);

	return outer->af == inner->af &&
		   (!outer->proto || outer->proto == inner->proto) &&
		   memcmp(&outer->src_lo, &inner->src_lo, len) <= 0 &&
		   memcmp(&inner->src_hi, &outer->src_hi, len) <= 0 &&
		   memcmp(&outer->dst_lo, &inner->dst_lo, len) <= 0 &&
		   memcmp(&inner->dst_hi, &outer->dst_hi, len) <= 0 &&
		   outer->sport_lo <= inner->sport_lo &&
		   inner->sport_hi <= outer->sport_hi &&
		   outer->dport_lo <= inner->dport_lo &&
		   inner->dport_hi <= outer->dport_hi;
}

/**
 * Whether packets of a pair need no held policy in a direction: such policies
 * are installed, or are never
 */
static bool is_done(const pair_t *pair, enum cygnet_dir dir)
{
	return pair->installed[dir] || !pair->wanted[dir];
}

/**
 * Find the pairs with these nets that include a policy
 *
 * @param installed	set if one of them needs no held policy
 */
static bool find_pair(private_kernel_cygnet_wanted_t *this, const nets_t *nets,
					  const struct cygnet_policy *policy, bool *installed)
{
	bool covered = FALSE;
	pair_t *pair;

	for (pair = this->by_nets->get(this->by_nets, nets); pair && !*installed;
		 pair = pair->next)
	{
		if (includes(&pair->sel[policy->dir], &policy->sel))
		{
			covered = TRUE;
			*installed = is_done(pair, policy->dir);
		}
	}
	return covered;
}

METHOD(kernel_cygnet_wanted_t, covers, bool,
	private_kernel_cygnet_wanted_t *this, const struct cygnet_policy *policy,
	bool *installed)
{
	nets_t nets, smallest = get_smallest_nets(&policy->sel, policy->dir);
	bool covered = FALSE;
	nets_t *lengths;
	int i;

	*installed = FALSE;
	/* a selector that includes the policy has no longer prefixes than it */
	for (i = 0; i < array_count(this->lengths) && !*installed; i++)
	{
		array_get(this->lengths, i, &lengths);
		if (lengths->af == smallest.af &&
			lengths->local_len <= smallest.local_len &&
			lengths->remote_len <= smallest.remote_len)
		{
			nets = get_nets(&policy->sel, policy->dir, lengths->local_len,
							lengths->remote_len);
			covered |= find_pair(this, &nets, policy, installed);
		}
	}
	return covered;
}

METHOD(kernel_cygnet_wanted_t, count, u_int,
	private_kernel_cygnet_wanted_t *this)
{
	return this->children;
}

METHOD(kernel_cygnet_wanted_t, missing, u_int,
	private_kernel_cygnet_wanted_t *this)
{
	enum cygnet_dir dir;
	u_int missing = 0;
	pair_t *pair;
	int i;

	for (i = 0; i < array_count(this->pairs); i++)
	{
		array_get(this->pairs, i, &pair);
		for (dir = 0; dir < CYGNET_DIRS; dir++)
		{
			missing += !is_done(pair, dir);
		}
	}
	return missing;
}

/**
 * Hold a policy as that of a trap would be
 */
static int hold_selector(private_kernel_cygnet_wanted_t *this,
						 const struct cygnet_selector *sel, enum cygnet_dir dir)
{
	struct cygnet_policy_params params = {
		.sel = *sel,
		.priority = kernel_cygnet_policy_priority(sel, POLICY_PRIORITY_ROUTED),
		.rank = UINT32_MAX,
		.dir = dir,
		.action = CYGNET_DISCARD,
	};
	int err;

	err = cygnet_policy_hold(this->db, &params);
	return err == -EEXIST ? 0 : err;
}

METHOD(kernel_cygnet_wanted_t, hold, bool,
	private_kernel_cygnet_wanted_t *this)
{
	enum cygnet_dir dir;
	pair_t *pair;
	int i, err;

	for (i = 0; i < array_count(this->pairs); i++)
	{
		array_get(this->pairs, i, &pair);
		for (dir = 0; dir < CYGNET_DIRS; dir++)
		{
			err = is_done(pair, dir) ? 0
							: hold_selector(this, &pair->sel[dir], dir);
			if (err)
			{
				DBG1(DBG_KNL, "unable to hold a policy: %s", strerror(-err));
				return FALSE;
			}
		}
	}
	return TRUE;
}

/**
 * Find out which selectors of a pair are installed
 */
static void find_installed(private_kernel_cygnet_wanted_t *this, pair_t *pair)
{
	struct cygnet_policy_entry entry;
	enum cygnet_dir dir;

	for (dir = 0; dir < CYGNET_DIRS; dir++)
	{
		pair->installed[dir] = cygnet_policy_entry(this->db, dir,
											&pair->sel[dir], &entry) == 0 &&
							   entry.first.action != CYGNET_BYPASS;
	}
}

/**
 * Note the prefix lengths of nets, if no others have had them
 */
static void add_lengths(private_kernel_cygnet_wanted_t *this, nets_t *nets)
{
	nets_t *lengths;
	int i;

	for (i = 0; i < array_count(this->lengths); i++)
	{
		array_get(this->lengths, i, &lengths);
		if (lengths->af == nets->af && lengths->local_len == nets->local_len &&
			lengths->remote_len == nets->remote_len)
		{
			return;
		}
	}
	array_insert(this->lengths, ARRAY_TAIL, nets);
}

/**
 * Adopt a pair, or free it if there is one with the same selectors
 */
static void insert_pair(private_kernel_cygnet_wanted_t *this, pair_t *pair)
{
	enum cygnet_dir dir;
	pair_t *first, *old;

	first = this->by_nets->get(this->by_nets, &pair->nets);
	for (old = first; old; old = old->next)
	{
		if (memeq(old->sel, pair->sel, sizeof(pair->sel)))
		{
			for (dir = 0; dir < CYGNET_DIRS; dir++)
			{
				old->wanted[dir] |= pair->wanted[dir];
			}
			free(pair);
			return;
		}
	}
	find_installed(this, pair);
	array_insert(this->pairs, ARRAY_TAIL, pair);
	if (first)
	{
		pair->next = first->next;
		first->next = pair;
		return;
	}
	this->by_nets->put(this->by_nets, &pair->nets, pair);
	add_lengths(this, &pair->nets);
}

/**
 * Add the selectors of a pair of traffic selectors, unless packets that match
 * them are not known yet
 *
 * @param wanted	as pair_t.wanted
 */
static void add_pair(private_kernel_cygnet_wanted_t *this,
					 traffic_selector_t *local, traffic_selector_t *remote,
					 const bool wanted[CYGNET_DIRS])
{
	kernel_ipsec_policy_id_t out = {
		.dir = POLICY_OUT,
		.src_ts = local,
		.dst_ts = remote,
	}, in = {
		.dir = POLICY_IN,
		.src_ts = remote,
		.dst_ts = local,
	};
	const char *why;
	pair_t *pair;

	if (local->is_dynamic(local) || remote->is_dynamic(remote))
	{
		return;
	}
	INIT(pair);
	memcpy(pair->wanted, wanted, sizeof(pair->wanted));
	if (kernel_cygnet_policy_selector(&out, &pair->sel[CYGNET_OUT],
									  &why) != SUCCESS ||
		kernel_cygnet_policy_selector(&in, &pair->sel[CYGNET_IN],
									  &why) != SUCCESS)
	{	/* no policy has such traffic selectors */
		free(pair);
		return;
	}
	pair->sel[CYGNET_FWD] = pair->sel[CYGNET_IN];
	pair->nets = get_smallest_nets(&pair->sel[CYGNET_OUT], CYGNET_OUT);
	insert_pair(this, pair);
}

/**
 * Whether the policies of a child have an interface ID, in a direction
 */
static bool has_if_id(peer_cfg_t *peer_cfg, child_cfg_t *child, bool inbound)
{
	return child->get_if_id(child, inbound) ||
		   peer_cfg->get_if_id(peer_cfg, inbound);
}

/**
 * Add the selectors of a child config
 *
 * @param locals	addresses for dynamic traffic selectors, host_t; may be empty
 * @param remotes	those of the peer
 */
static void add_child(private_kernel_cygnet_wanted_t *this,
					  peer_cfg_t *peer_cfg, child_cfg_t *child,
					  linked_list_t *locals, linked_list_t *remotes)
{
	bool in = !has_if_id(peer_cfg, child, TRUE), wanted[CYGNET_DIRS] = {
		[CYGNET_IN] = in,
		[CYGNET_OUT] = !has_if_id(peer_cfg, child, FALSE),
		[CYGNET_FWD] = in && child->get_mode(child) != MODE_TRANSPORT,
	};
	linked_list_t *local_ts, *remote_ts;
	enumerator_t *outer, *inner;
	traffic_selector_t *local, *remote;

	local_ts = compat_traffic_selectors(child, TRUE, locals);
	remote_ts = compat_traffic_selectors(child, FALSE, remotes);
	outer = local_ts->create_enumerator(local_ts);
	while (outer->enumerate(outer, &local))
	{
		inner = remote_ts->create_enumerator(remote_ts);
		while (inner->enumerate(inner, &remote))
		{
			add_pair(this, local, remote, wanted);
		}
		inner->destroy(inner);
	}
	outer->destroy(outer);
	local_ts->destroy_offset(local_ts, offsetof(traffic_selector_t, destroy));
	remote_ts->destroy_offset(remote_ts, offsetof(traffic_selector_t, destroy));
}

/**
 * Whether an enumerator, which is destroyed, has any item
 */
static bool has_any(enumerator_t *enumerator)
{
	void *item;
	bool any;

	any = enumerator->enumerate(enumerator, &item);
	enumerator->destroy(enumerator);
	return any;
}

/**
 * Add all addresses of this host
 */
static void add_own_addresses(linked_list_t *hosts)
{
	enumerator_t *enumerator;
	host_t *host;

	enumerator = charon->kernel->create_address_enumerator(charon->kernel,
														   ADDR_TYPE_REGULAR);
	while (enumerator->enumerate(enumerator, &host))
	{
		hosts->insert_last(hosts, host->clone(host));
	}
	enumerator->destroy(enumerator);
}

/**
 * Numeric addresses of one side, none if it has virtual ones. Names are not
 * resolved, because that may take long.
 */
static linked_list_t *get_hosts(peer_cfg_t *peer_cfg, bool local)
{
	linked_list_t *hosts = linked_list_create();
	ike_cfg_t *ike_cfg = peer_cfg->get_ike_cfg(peer_cfg);
	enumerator_t *enumerator;
	host_t *host;
	char *token;

	if (has_any(local ? peer_cfg->create_virtual_ip_enumerator(peer_cfg)
					  : peer_cfg->create_pool_enumerator(peer_cfg)))
	{
		return hosts;
	}
	enumerator = enumerator_create_token(local ? ike_cfg->get_my_addr(ike_cfg)
								: ike_cfg->get_other_addr(ike_cfg), ",", " ");
	while (enumerator->enumerate(enumerator, &token))
	{
		host = host_create_from_string(token, 0);
		if (host && !host->is_anyaddr(host))
		{
			hosts->insert_last(hosts, host);
			continue;
		}
		if (host && local)
		{
			add_own_addresses(hosts);
		}
		DESTROY_IF(host);
	}
	enumerator->destroy(enumerator);
	return hosts;
}

/**
 * Add the selectors of a connection, without those of passthrough policies
 */
static void add_connection(private_kernel_cygnet_wanted_t *this,
						   peer_cfg_t *peer_cfg)
{
	linked_list_t *locals, *remotes;
	enumerator_t *enumerator;
	child_cfg_t *child;

	locals = get_hosts(peer_cfg, TRUE);
	remotes = get_hosts(peer_cfg, FALSE);
	enumerator = peer_cfg->create_child_cfg_enumerator(peer_cfg);
	while (enumerator->enumerate(enumerator, &child))
	{
		this->children++;
		if (child->get_mode(child) != MODE_PASS)
		{
			add_child(this, peer_cfg, child, locals, remotes);
		}
	}
	enumerator->destroy(enumerator);
	locals->destroy_offset(locals, offsetof(host_t, destroy));
	remotes->destroy_offset(remotes, offsetof(host_t, destroy));
}

/**
 * Enumerate all connections
 */
static enumerator_t *create_connection_enumerator(void)
{
	return charon->backends->create_peer_cfg_enumerator(charon->backends, NULL,
												NULL, NULL, NULL, IKE_ANY);
}

METHOD(kernel_cygnet_wanted_t, destroy, void,
	private_kernel_cygnet_wanted_t *this)
{
	array_destroy(this->lengths);
	this->by_nets->destroy(this->by_nets);
	array_destroy_function(this->pairs, (void*)free, NULL);
	free(this);
}

/*
 * Described in header.
 */
bool kernel_cygnet_wanted_loaded(void)
{
	return has_any(create_connection_enumerator());
}

/*
 * Described in header.
 */
kernel_cygnet_wanted_t *kernel_cygnet_wanted_create(struct cygnet_db *db)
{
	private_kernel_cygnet_wanted_t *this;
	enumerator_t *enumerator;
	peer_cfg_t *peer_cfg;

	INIT(this,
		.public = {
			.covers = _covers,
			.count = _count,
			.missing = _missing,
			.hold = _hold,
			.destroy = _destroy,
		},
		.db = db,
		.pairs = array_create(0, 0),
		.by_nets = hashtable_create(hash_nets, equal_nets, 64),
		.lengths = array_create(0, 0),
	);

	enumerator = create_connection_enumerator();
	while (enumerator->enumerate(enumerator, &peer_cfg))
	{
		add_connection(this, peer_cfg);
	}
	enumerator->destroy(enumerator);
	return &this->public;
}
