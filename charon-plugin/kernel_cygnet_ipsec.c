/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_ipsec.h"
#include "kernel_cygnet_closed.h"
#include "kernel_cygnet_compat.h"
#include "kernel_cygnet_db.h"
#include "kernel_cygnet_event.h"
#include "kernel_cygnet_expiry.h"
#include "kernel_cygnet_hold.h"
#include "kernel_cygnet_larval.h"
#include "kernel_cygnet_peers.h"
#include "kernel_cygnet_policy.h"
#include "kernel_cygnet_refused.h"
#include "kernel_cygnet_route.h"
#include "kernel_cygnet_sa.h"
#include "kernel_cygnet_spd.h"
#include "kernel_cygnet_stop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <unistd.h>

#include <daemon.h>

/** Attempts to update an SA while readers may use its spare path */
#define UPDATE_TRIES 1000
/** Time between two tries, ms */
#define UPDATE_PAUSE 1

/** Time in which charon deletes an SA that was refused, seconds */
#define REFUSED_LIFETIME 60

/** SPIs below this one are reserved (RFC 4303, 2.1) */
#define SPI_RESERVED 0x100

typedef struct private_kernel_cygnet_ipsec_t private_kernel_cygnet_ipsec_t;

struct private_kernel_cygnet_ipsec_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_ipsec_t public;

	/**
	 * Shared file with SAD, SPD and events
	 */
	struct cygnet_db *db;

	/**
	 * Numbers of SAs and policies of each peer
	 */
	kernel_cygnet_peers_t *peers;

	/**
	 * Timers of the installed SAs
	 */
	kernel_cygnet_expiry_t *expiry;

	/**
	 * Installed policies
	 */
	kernel_cygnet_spd_t *spd;

	/**
	 * Routes of the installed policies
	 */
	kernel_cygnet_route_t *routes;

	/**
	 * Receiver of the dataplane's events
	 */
	kernel_cygnet_event_t *events;

	/**
	 * Held policies of an earlier charon
	 */
	kernel_cygnet_hold_t *hold;

	/**
	 * Charon's orderly end
	 */
	kernel_cygnet_stop_t *stop;

	/**
	 * What is closed while no dataplane serves
	 */
	kernel_cygnet_closed_t *closed;

	/**
	 * Reserved SPIs
	 */
	kernel_cygnet_larval_t *larval;

	/**
	 * Refused SAs that charon has not deleted yet
	 */
	kernel_cygnet_refused_t *refused;

	/**
	 * Range of SPIs in the settings, first << 32 | last; atomic
	 */
	uint64_t range;

	/**
	 * Second in which range was read from the settings; atomic
	 */
	time_t range_time;

	/**
	 * Whether the warning about DES has been logged; atomic
	 */
	bool warned;

	/**
	 * Whether the last update of an SA timed out waiting for the dataplane;
	 * atomic
	 */
	bool late;
};

/**
 * Range of the SPIs to allocate, first << 32 | last. Reading the settings takes
 * as long as the rest of an allocation, so they are read once a second.
 */
static uint64_t get_range(private_kernel_cygnet_ipsec_t *this)
{
	time_t now = time_monotonic(NULL);
	uint32_t a, b;
	uint64_t range;

	if (__atomic_load_n(&this->range_time, __ATOMIC_ACQUIRE) == now)
	{
		return __atomic_load_n(&this->range, __ATOMIC_RELAXED);
	}
	a = lib->settings->get_int(lib->settings, "%s.spi_min", CYGNET_SPI_MIN,
							   lib->ns);
	b = lib->settings->get_int(lib->settings, "%s.spi_max", CYGNET_SPI_MAX,
							   lib->ns);
	range = (uint64_t)min(a, b) << 32 | max(a, b);
	__atomic_store_n(&this->range, range, __ATOMIC_RELAXED);
	__atomic_store_n(&this->range_time, now, __ATOMIC_RELEASE);
	return range;
}

METHOD(kernel_ipsec_t, get_features, kernel_feature_t,
	private_kernel_cygnet_ipsec_t *this)
{
	/* KERNEL_POLICY_SPI: an outbound policy uses the SA with its SPI, so charon
	 * may install a new SA before it deletes the old one.
	 *
	 * Not KERNEL_NO_POLICY_UPDATES: when an address changes, charon would call
	 * only update_sa(). Selectors of host-to-host tunnels would keep the old
	 * address, and routes the old next hop.
	 *
	 * KERNEL_ESP_V3_TFC: the dataplane removes the TFC padding of peers.
	 *
	 * COMPAT_SA_USE_TIME: query_sa() returns when an SA was last used.
	 *
	 * COMPAT_ACQUIRE_SEQ: what waits for the SA of a trap is sent by the policy
	 * that matches it once policies have changed, whatever its reqid. There is
	 * no temporary state that add_sa() has to find by the sequence number of the
	 * acquire, so charon may choose that number. Without the feature each SA of
	 * a trap that the peer narrows has the trap's reqid, and charon takes the
	 * second one for a duplicate. */
	return KERNEL_POLICY_SPI | KERNEL_ESP_V3_TFC | COMPAT_SA_USE_TIME |
		   COMPAT_ACQUIRE_SEQ;
}

METHOD(kernel_ipsec_t, get_spi, status_t,
	private_kernel_cygnet_ipsec_t *this, host_t *src, host_t *dst,
	uint8_t protocol, uint32_t *spi)
{
	kernel_ipsec_sa_id_t id = {
		.dst = dst,
		.proto = protocol,
	};
	struct cygnet_sa_id sa;
	const char *why;
	uint64_t range;
	int err;

	why = kernel_cygnet_sa_unsupported(protocol, src, dst, FALSE);
	if (why)
	{
		DBG1(DBG_KNL, "unable to get SPI: kernel-cygnet does not support %s",
			 why);
		return NOT_SUPPORTED;
	}
	range = get_range(this);
	if (range >> 32 < SPI_RESERVED)
	{
		DBG1(DBG_KNL, "unable to get SPI: %s.spi_min is 0x%08x, SPIs below "
			 "0x%08x are reserved", lib->ns, (uint32_t)(range >> 32),
			 SPI_RESERVED);
		return FAILED;
	}

	if (!this->closed->serves(this->closed, "get SPI") ||
		!this->peers->may_reserve_spi(this->peers))
	{
		return FAILED;
	}

	kernel_cygnet_sa_id(&id, &sa);
	err = cygnet_spi_reserve(this->db, sa.proto, sa.af, &sa.dst, range >> 32,
							 (uint32_t)range, spi);
	if (err)
	{
		DBG1(DBG_KNL, "unable to get SPI: %s", strerror(-err));
		return FAILED;
	}
	sa.spi = *spi;
	this->larval->add(this->larval, &sa);
	DBG2(DBG_KNL, "got SPI %.8x", ntohl(*spi));
	return SUCCESS;
}

METHOD(kernel_ipsec_t, get_cpi, status_t,
	private_kernel_cygnet_ipsec_t *this, host_t *src, host_t *dst,
	uint16_t *cpi)
{
	DBG1(DBG_KNL, "unable to get CPI: kernel-cygnet does not support IPComp");
	return NOT_SUPPORTED;
}

/**
 * Log a warning for the first SA that uses DES
 */
static void warn_of_des(private_kernel_cygnet_ipsec_t *this)
{
	if (!__atomic_exchange_n(&this->warned, TRUE, __ATOMIC_RELAXED))
	{
		DBG1(DBG_KNL, "an SA uses DES, which is broken: its packets can be "
			 "decrypted without the key; RFC 8221 forbids DES");
	}
}

/**
 * Release the SPI that charon has reserved for the other protocol. If charon
 * proposes ESP and AH, it reserves one SPI for both, with the protocol of the
 * first proposal. If the peer selects the other protocol, charon does not
 * release it.
 */
static void release_other_protocol(private_kernel_cygnet_ipsec_t *this,
								   const struct cygnet_sa_id *id)
{
	struct cygnet_sa_id other = *id;

	other.proto = id->proto == IPPROTO_ESP ? IPPROTO_AH : IPPROTO_ESP;
	cygnet_spi_release(this->db, &other);
}

/**
 * Log what an SA uses
 */
static void log_algorithms(kernel_ipsec_add_sa_t *data,
						   const struct cygnet_sa_params *params)
{
	if (data->enc_alg != ENCR_UNDEFINED)
	{
		DBG2(DBG_KNL, "  using encryption algorithm %N with key size %d",
			 encryption_algorithm_names, data->enc_alg,
			 (int)data->enc_key.len * 8);
	}
	if (data->int_alg != AUTH_UNDEFINED)
	{
		DBG2(DBG_KNL, "  using integrity algorithm %N with key size %d",
			 integrity_algorithm_names, data->int_alg,
			 (int)data->int_key.len * 8);
	}
	DBG2(DBG_KNL, "  using replay window of %u packets",
		 params->replay_window);
	if (data->esn)
	{
		DBG2(DBG_KNL, "  using extended sequence numbers (ESN)");
	}
	DBG2(DBG_KNL, "  HW offload: %N", hw_offload_names, data->hw_offload);
}

/**
 * Install an SA, or log why it is refused
 */
static status_t install_sa(private_kernel_cygnet_ipsec_t *this,
						   kernel_ipsec_sa_id_t *id,
						   kernel_ipsec_add_sa_t *data)
{
	kernel_cygnet_ike_sa_t *owner;
	struct cygnet_sa_params params;
	const char *why;
	int err;

	DBG2(DBG_KNL, "adding SAD entry with SPI %.8x and reqid {%u}",
		 ntohl(id->spi), data->reqid);

	if (kernel_cygnet_sa_params(id, data, &params, &why) != SUCCESS)
	{
		DBG1(DBG_KNL, "unable to add SAD entry with SPI %.8x: kernel-cygnet "
			 "does not support %s", ntohl(id->spi), why);
		return NOT_SUPPORTED;
	}
	log_algorithms(data, &params);
	if (data->update && !cygnet_spi_reserved(this->db, &params.id))
	{
		DBG1(DBG_KNL, "allocated SPI not found anymore, try to add SAD entry");
	}
	if (!this->closed->serves(this->closed, "add SAD entry") ||
		!this->peers->get_sa(this->peers, data->reqid, &owner))
	{
		memwipe(&params, sizeof(params));
		return FAILED;
	}
	err = cygnet_sa_add(this->db, &params);
	if (err)
	{
		this->peers->put_sa(this->peers, owner);
	}
	else
	{
		this->expiry->add(this->expiry, &params.id, data->lifetime, owner);
		if (data->inbound)
		{
			release_other_protocol(this, &params.id);
		}
	}
	if (!err && params.cipher == CYGNET_CIPHER_DES_CBC)
	{
		warn_of_des(this);
	}
	memwipe(&params, sizeof(params));
	if (err)
	{
		DBG1(DBG_KNL, "unable to add SAD entry with SPI %.8x: %s",
			 ntohl(id->spi), kernel_cygnet_db_why(err));
		return FAILED;
	}
	return SUCCESS;
}

METHOD(kernel_ipsec_t, add_sa, status_t,
	private_kernel_cygnet_ipsec_t *this, kernel_ipsec_sa_id_t *id,
	kernel_ipsec_add_sa_t *data)
{
	struct cygnet_sa_id sa;
	status_t status;

	status = install_sa(this, id, data);
	if (status != SUCCESS &&
		(data->inbound || COMPAT_DELETES_REFUSED_OUTBOUND))
	{
		kernel_cygnet_sa_id(id, &sa);
		this->refused->add(this->refused, &sa);
	}
	return status;
}

/**
 * Update an SA. Wait until no reader of the dataplane uses the path that the
 * previous update replaced. After a timeout the next updates do not wait until
 * one succeeds, because charon would block for a second per SA.
 */
static int move_sa(private_kernel_cygnet_ipsec_t *this,
				   const struct cygnet_sa_id *sa,
				   const struct cygnet_path *path, uint32_t reqid)
{
	int err, i, tries;

	tries = __atomic_load_n(&this->late, __ATOMIC_RELAXED) ? 1 : UPDATE_TRIES;
	for (i = 0; i < tries; i++)
	{
		err = cygnet_sa_update(this->db, sa, path, reqid);
		if (err != -EAGAIN)
		{
			break;
		}
		if (i + 1 < tries)
		{
			usleep(UPDATE_PAUSE * 1000);
		}
	}
	__atomic_store_n(&this->late, err == -EAGAIN, __ATOMIC_RELAXED);
	return err;
}

METHOD(kernel_ipsec_t, update_sa, status_t,
	private_kernel_cygnet_ipsec_t *this, kernel_ipsec_sa_id_t *id,
	kernel_ipsec_update_sa_t *data)
{
	struct cygnet_sa_id sa, new_sa;
	struct cygnet_path path;
	const char *why;
	int err;

	why = kernel_cygnet_sa_unsupported(id->proto, data->new_src, data->new_dst,
									   data->new_encap);
	if (why)
	{
		DBG1(DBG_KNL, "unable to update SAD entry with SPI %.8x: kernel-cygnet "
			 "does not support %s", ntohl(id->spi), why);
		return NOT_SUPPORTED;
	}
	DBG2(DBG_KNL, "updating SAD entry with SPI %.8x from %#H..%#H to "
		 "%#H..%#H", ntohl(id->spi), id->src, id->dst, data->new_src,
		 data->new_dst);

	kernel_cygnet_sa_id(id, &sa);
	if (this->refused->has(this->refused, &sa))
	{	/* the SA with this id is another peer's */
		DBG1(DBG_KNL, "unable to update SAD entry with SPI %.8x: it was "
			 "refused", ntohl(id->spi));
		return NOT_SUPPORTED;
	}
	kernel_cygnet_sa_path(data->new_src, data->new_dst, data->new_encap, &path);
	err = move_sa(this, &sa, &path, data->new_reqid);
	if (err)
	{
		DBG1(DBG_KNL, "unable to update SAD entry with SPI %.8x: %s",
			 ntohl(id->spi), strerror(-err));
		/* charon rekeys the SA on this status, and ignores all others */
		return NOT_SUPPORTED;
	}
	new_sa = sa;
	new_sa.af = path.af;
	new_sa.dst = path.dst;
	this->expiry->rename(this->expiry, &sa, &new_sa);
	return SUCCESS;
}

METHOD(kernel_ipsec_t, query_sa, status_t,
	private_kernel_cygnet_ipsec_t *this, kernel_ipsec_sa_id_t *id,
	kernel_ipsec_query_sa_t *data, uint64_t *bytes, uint64_t *packets,
	time_t *time)
{
	struct cygnet_sa_usage usage;
	struct cygnet_sa_id sa;

	DBG3(DBG_KNL, "querying SAD entry with SPI %.8x", ntohl(id->spi));
	kernel_cygnet_sa_id(id, &sa);
	if (cygnet_sa_query(this->db, &sa, &usage) != 0)
	{
		DBG2(DBG_KNL, "unable to query SAD entry with SPI %.8x",
			 ntohl(id->spi));
		return NOT_FOUND;
	}
	if (bytes)
	{
		*bytes = usage.bytes;
	}
	if (packets)
	{
		*packets = usage.packets;
	}
	if (time)
	{
		*time = usage.use_time;
	}
	return SUCCESS;
}

METHOD(kernel_ipsec_t, del_sa, status_t,
	private_kernel_cygnet_ipsec_t *this, kernel_ipsec_sa_id_t *id,
	kernel_ipsec_del_sa_t *data)
{
	struct cygnet_sa_id sa;
	int err;

	DBG2(DBG_KNL, "deleting SAD entry with SPI %.8x", ntohl(id->spi));
	kernel_cygnet_sa_id(id, &sa);
	if (this->refused->take(this->refused, &sa))
	{	/* only the SPI from get_spi(): the SA with this id is another peer's */
		err = cygnet_spi_release(this->db, &sa);
	}
	else
	{
		/* before the SA, so that no timer fires while it is being deleted */
		this->expiry->remove(this->expiry, &sa);
		err = cygnet_sa_delete(this->db, &sa);
	}
	if (err)
	{	/* cygnet_sa_delete() fails for no other reason */
		return NOT_FOUND;
	}
	DBG2(DBG_KNL, "deleted SAD entry with SPI %.8x", ntohl(id->spi));
	this->events->reclaim(this->events);
	return SUCCESS;
}

METHOD(kernel_ipsec_t, flush_sas, status_t,
	private_kernel_cygnet_ipsec_t *this)
{
	struct cygnet_db_info info;
	struct cygnet_sa_id id;
	struct cygnet_sa sa;
	uint32_t i;

	DBG2(DBG_KNL, "flushing all ESP SAD entries");
	DBG2(DBG_KNL, "flushing all AH SAD entries");
	this->expiry->flush(this->expiry);
	this->refused->flush(this->refused);
	cygnet_db_info(this->db, &info);
	for (i = 0; i < info.geometry.sas; i++)
	{
		if (cygnet_sa_snapshot(this->db, i, &sa))
		{
			memset(&id, 0, sizeof(id));
			id.spi = sa.spi;
			id.proto = sa.proto;
			id.af = cygnet_sa_path(&sa)->af;
			id.dst = cygnet_sa_path(&sa)->dst;
			cygnet_sa_delete(this->db, &id);
		}
	}
	this->events->reclaim(this->events);
	return SUCCESS;
}

/**
 * Log that a policy is not the one that applies to packets, as kernel-netlink
 * does, which installs only that one
 */
static void log_not_updating(kernel_ipsec_policy_id_t *id,
							 const kernel_cygnet_spd_change_t *change)
{
	DBG2(DBG_KNL, "not updating policy %R === %R %N [priority %u, "
		 "refcount %d]", id->src_ts, id->dst_ts, policy_dir_names, id->dir,
		 change->priority, change->count);
}

/**
 * Log that a policy has been installed
 */
static void log_added(kernel_ipsec_policy_id_t *id,
					  const kernel_cygnet_spd_change_t *change)
{
	if (change->count > 1)
	{
		DBG2(DBG_KNL, "policy %R === %R %N already exists, increasing "
			 "refcount", id->src_ts, id->dst_ts, policy_dir_names, id->dir);
	}
	if (!change->first)
	{
		log_not_updating(id, change);
		return;
	}
	DBG2(DBG_KNL, "%s policy %R === %R %N [priority %u, refcount %d]",
		 change->count > 1 ? "updating" : "adding", id->src_ts, id->dst_ts,
		 policy_dir_names, id->dir, change->priority, change->count);
}

/**
 * Log that a policy has been removed
 */
static void log_removed(kernel_ipsec_policy_id_t *id,
						const kernel_cygnet_spd_change_t *change)
{
	if (!change->count)
	{
		return;
	}
	DBG2(DBG_KNL, "policy still used by another CHILD_SA, not removed");
	if (!change->first)
	{
		log_not_updating(id, change);
		return;
	}
	DBG2(DBG_KNL, "updating policy %R === %R %N [priority %u, refcount %d]",
		 id->src_ts, id->dst_ts, policy_dir_names, id->dir, change->priority,
		 change->count);
}

METHOD(kernel_ipsec_t, add_policy, status_t,
	private_kernel_cygnet_ipsec_t *this, kernel_ipsec_policy_id_t *id,
	kernel_ipsec_manage_policy_t *data)
{
	struct cygnet_policy_params params;
	kernel_cygnet_spd_change_t change;
	const char *why;
	int err;

	if (kernel_cygnet_policy_params(id, data, &params, &why) != SUCCESS)
	{
		DBG1(DBG_KNL, "unable to add policy %R === %R %N: kernel-cygnet does "
			 "not support %s, for SA with SPI %.8x", id->src_ts, id->dst_ts,
			 policy_dir_names, id->dir, why,
			 ntohl(kernel_cygnet_policy_spi(data->sa)));
		return NOT_SUPPORTED;
	}
	if (!this->peers->get_policy(this->peers, &params))
	{
		return FAILED;
	}
	err = this->spd->add(this->spd, &params, &change);
	if (err)
	{
		this->peers->put_policy(this->peers, &params);
		DBG1(DBG_KNL, "unable to add policy %R === %R %N: %s", id->src_ts,
			 id->dst_ts, policy_dir_names, id->dir,
			 kernel_cygnet_db_why(err));
		return FAILED;
	}
	log_added(id, &change);
	this->hold->added(this->hold);
	if (change.first && params.dir == CYGNET_OUT)
	{
		this->routes->update(this->routes, &params.sel);
	}
	return SUCCESS;
}

METHOD(kernel_ipsec_t, query_policy, status_t,
	private_kernel_cygnet_ipsec_t *this, kernel_ipsec_policy_id_t *id,
	kernel_ipsec_query_policy_t *data, time_t *use_time)
{
	struct cygnet_selector sel;
	uint64_t last;
	const char *why;

	DBG3(DBG_KNL, "querying policy %R === %R %N", id->src_ts, id->dst_ts,
		 policy_dir_names, id->dir);
	if (kernel_cygnet_policy_selector(id, &sel, &why) != SUCCESS ||
		cygnet_policy_query(this->db, kernel_cygnet_policy_dir(id->dir), &sel,
							&last) != 0)
	{
		DBG2(DBG_KNL, "unable to query policy %R === %R %N", id->src_ts,
			 id->dst_ts, policy_dir_names, id->dir);
		return NOT_FOUND;
	}
	*use_time = last;
	return SUCCESS;
}

METHOD(kernel_ipsec_t, del_policy, status_t,
	private_kernel_cygnet_ipsec_t *this, kernel_ipsec_policy_id_t *id,
	kernel_ipsec_manage_policy_t *data)
{
	struct cygnet_policy_params params;
	kernel_cygnet_spd_change_t change;
	const char *why;

	DBG2(DBG_KNL, "deleting policy %R === %R %N", id->src_ts, id->dst_ts,
		 policy_dir_names, id->dir);
	if (this->stop->holds(this->stop))
	{	/* all go, while kernel-netlink is there to uninstall their routes */
		this->routes->flush(this->routes);
		return SUCCESS;
	}
	/* charon also deletes policies that were refused */
	if (kernel_cygnet_policy_params(id, data, &params, &why) != SUCCESS ||
		this->spd->remove(this->spd, &params, &change) != 0)
	{
		DBG1(DBG_KNL, "deleting policy %R === %R %N failed, not found",
			 id->src_ts, id->dst_ts, policy_dir_names, id->dir);
		return NOT_FOUND;
	}
	log_removed(id, &change);
	this->peers->put_policy(this->peers, &params);
	if (params.dir == CYGNET_OUT && (change.first || !change.count))
	{
		this->routes->update(this->routes, &params.sel);
	}
	this->events->reclaim(this->events);
	return SUCCESS;
}

METHOD(kernel_ipsec_t, flush_policies, status_t,
	private_kernel_cygnet_ipsec_t *this)
{
	DBG2(DBG_KNL, "flushing all policies from SPD");
	this->spd->flush(this->spd);
	this->routes->flush(this->routes);
	this->peers->flush_policies(this->peers);
	this->events->reclaim(this->events);
	return SUCCESS;
}

/**
 * Register a UDP port for IKE and, with natt, for ESP in UDP. Failures are
 * logged.
 */
static bool open_port(private_kernel_cygnet_ipsec_t *this, int family,
					  uint16_t port, bool natt)
{
	int err;

	err = cygnet_ike_open(this->db, family, port, natt);
	if (err == -ENOSPC)
	{
		DBG1(DBG_KNL, "kernel-cygnet does not support IKE on more than %u UDP "
			 "ports: policies apply to port %u", CYGNET_IKE_PORTS, port);
	}
	else if (err)
	{
		DBG1(DBG_KNL, "kernel-cygnet does not support %s on UDP port %u",
			 natt ? "ESP in UDP" : "IKE", port);
	}
	else
	{
		DBG2(DBG_KNL, "IKE%s on UDP port %u of IPv%d",
			 natt ? " and ESP in UDP" : "", port, family == AF_INET6 ? 6 : 4);
	}
	return !err;
}

METHOD(kernel_ipsec_t, bypass_socket, bool,
	private_kernel_cygnet_ipsec_t *this, int fd, int family)
{
	uint16_t port;
	host_t *local;
	union {
		struct sockaddr sa;
		struct sockaddr_storage room;
	} addr;
	socklen_t len = sizeof(addr);

	/* packets from and to a registered port of a local address bypass the SPD
	 * in the dataplane. Get the port from the socket, which is bound: charon
	 * may have let the kernel choose it. */
	if (getsockname(fd, &addr.sa, &len) != 0)
	{
		DBG1(DBG_KNL, "kernel-cygnet can't get the port of an IKE socket, "
			 "policies apply to it: %s", strerror(errno));
		return FALSE;
	}
	local = host_create_from_sockaddr(&addr.sa);
	port = local ? local->get_port(local) : 0;
	DESTROY_IF(local);
	return open_port(this, family, port, FALSE);
}

METHOD(kernel_ipsec_t, enable_udp_decap, bool,
	private_kernel_cygnet_ipsec_t *this, int fd, int family, uint16_t port)
{
	/* the dataplane receives ESP in UDP itself; the socket gets only packets
	 * with the non-ESP marker */
	return open_port(this, family, port, TRUE);
}

METHOD(kernel_ipsec_t, destroy, void,
	private_kernel_cygnet_ipsec_t *this)
{
	bool hold = this->stop && this->stop->end(this->stop);

	DESTROY_IF(this->stop);
	if (this->closed)
	{
		this->closed->destroy(this->closed, hold);
	}
	DESTROY_IF(this->hold);
	DESTROY_IF(this->larval);
	DESTROY_IF(this->refused);
	DESTROY_IF(this->events);
	DESTROY_IF(this->routes);
	DESTROY_IF(this->spd);
	DESTROY_IF(this->expiry);
	DESTROY_IF(this->peers);
	if (this->db)
	{
		kernel_cygnet_db_close(this->db, hold);
	}
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_ipsec_t *kernel_cygnet_ipsec_create(void)
{
	private_kernel_cygnet_ipsec_t *this;
	uint32_t hold = kernel_cygnet_hold_time();

	INIT(this,
		.public = {
			.interface = {
				.get_features = _get_features,
				.get_spi = _get_spi,
				.get_cpi = _get_cpi,
				.add_sa  = _add_sa,
				.update_sa = _update_sa,
				.query_sa = _query_sa,
				.del_sa = _del_sa,
				.flush_sas = _flush_sas,
				.add_policy = _add_policy,
				.query_policy = _query_policy,
				.del_policy = _del_policy,
				.flush_policies = _flush_policies,
				.bypass_socket = _bypass_socket,
				.enable_udp_decap = _enable_udp_decap,
				.destroy = _destroy,
			},
		},
		.db = kernel_cygnet_db_open(hold),
		.range_time = -1,
	);

	if (!this->db)
	{
		destroy(this);
		return NULL;
	}
	this->peers = kernel_cygnet_peers_create(this->db);
	this->expiry = kernel_cygnet_expiry_create(this->peers);
	this->spd = kernel_cygnet_spd_create(this->db);
	this->routes = kernel_cygnet_route_create(this->db);
	this->events = kernel_cygnet_event_create(this->db);
	this->larval = kernel_cygnet_larval_create(this->db);
	this->refused = kernel_cygnet_refused_create(REFUSED_LIFETIME);
	this->hold = kernel_cygnet_hold_create(this->db, this->events);
	this->stop = kernel_cygnet_stop_create();
	this->closed = kernel_cygnet_closed_create(this->db);
	return &this->public;
}
