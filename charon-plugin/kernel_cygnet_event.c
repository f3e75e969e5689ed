/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_event.h"
#include "kernel_cygnet_addr.h"
#include "kernel_cygnet_compat.h"

#include <errno.h>
#include <unistd.h>

#include <daemon.h>
#include <processing/jobs/callback_job.h>

/** Longest wait for an event, ms; limits the delay of a missed wake-up */
#define WAIT_IDLE 1000
/** Wait for an event before the first attempt to reclaim, ms */
#define WAIT_RECLAIM 20

typedef struct private_kernel_cygnet_event_t private_kernel_cygnet_event_t;

struct private_kernel_cygnet_event_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_event_t public;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * Whether slots may have to be reclaimed; atomic
	 */
	bool retired;

	/**
	 * Whether the job must end; atomic
	 */
	bool cancelled;

	/**
	 * Time between two attempts to reclaim, ms; used by the job only
	 */
	int pause;
};

/**
 * Create a traffic selector from the source or destination of a packet
 */
static traffic_selector_t *flow_to_ts(const struct cygnet_flow *flow,
									  const struct cygnet_addr *addr,
									  uint16_t port)
{
	host_t *host;

	host = kernel_cygnet_addr_to_host(flow->af, addr, 0);
	if (!host)
	{
		return NULL;
	}
	if (flow->proto == IPPROTO_ICMP || flow->proto == IPPROTO_ICMPV6)
	{	/* both traffic selectors have type and code (RFC 7296, 3.13.1) */
		port = (flow->sport & 0xff) << 8 | (flow->dport & 0xff);
	}
	if (!flow->has_ports)
	{
		port = 0;
	}
	return traffic_selector_create_from_subnet(host,
							kernel_cygnet_addr_len(flow->af) * 8, flow->proto,
							port, port ?: 65535);
}

/**
 * Raise an acquire: a packet matches a policy that has no SA
 */
static void process_acquire(const struct cygnet_event *event)
{
	const struct cygnet_flow *flow = &event->flow;
	kernel_acquire_data_t data = {};

	compat_set_acquire_cpu(&data, event->cpu);
	data.src = flow_to_ts(flow, &flow->src, flow->sport);
	data.dst = flow_to_ts(flow, &flow->dst, flow->dport);
	if (event->reqid && data.src && data.dst)
	{
		charon->kernel->acquire(charon->kernel, event->reqid, &data);
	}
	DESTROY_IF(data.src);
	DESTROY_IF(data.dst);
}

/**
 * Raise an expire: an SA has reached a limit of bytes or packets
 */
static void process_expire(const struct cygnet_event *event)
{
	host_t *dst;

	dst = kernel_cygnet_addr_to_host(event->id.af, &event->id.dst, 0);
	if (dst)
	{
		charon->kernel->expire(charon->kernel, event->id.proto, event->id.spi,
							   dst, event->hard);
		dst->destroy(dst);
	}
}

/**
 * Raise a mapping change: the NAT has given the peer another address or port
 */
static void process_mapping(const struct cygnet_event *event)
{
	host_t *dst, *remote;

	dst = kernel_cygnet_addr_to_host(event->id.af, &event->id.dst, 0);
	remote = kernel_cygnet_addr_to_host(event->id.af, &event->new_addr,
										event->new_port);
	if (dst && remote)
	{
		charon->kernel->mapping(charon->kernel, event->id.proto, event->id.spi,
								dst, remote);
	}
	DESTROY_IF(dst);
	DESTROY_IF(remote);
}

/**
 * Raise an event to charon, unless it is about an SA that has been deleted
 */
static void process_event(private_kernel_cygnet_event_t *this,
						  const struct cygnet_event *event)
{
	struct cygnet_sa_usage usage;

	if (event->type == CYGNET_EVENT_ACQUIRE)
	{
		process_acquire(event);
	}
	else if (cygnet_sa_query(this->db, &event->id, &usage) != 0)
	{
		DBG2(DBG_KNL, "ignored event %hu for unknown SA with SPI %.8x",
			 event->type, ntohl(event->id.spi));
	}
	else if (event->type == CYGNET_EVENT_EXPIRE)
	{
		process_expire(event);
	}
	else if (event->type == CYGNET_EVENT_MAPPING)
	{
		process_mapping(event);
	}
}

/**
 * Reclaim deleted slots. If the dataplane hangs, they cannot be reclaimed, so
 * attempts become less and less frequent.
 */
static void try_reclaim(private_kernel_cygnet_event_t *this)
{
	if (!__atomic_exchange_n(&this->retired, FALSE, __ATOMIC_ACQ_REL))
	{
		return;
	}
	if (!cygnet_db_reclaim(this->db))
	{
		this->pause = WAIT_RECLAIM;
		return;
	}
	__atomic_store_n(&this->retired, TRUE, __ATOMIC_RELEASE);
	this->pause = min(this->pause * 2, WAIT_IDLE);
}

/**
 * Job: wait for one event and raise it
 */
static job_requeue_t wait_event(private_kernel_cygnet_event_t *this)
{
	struct cygnet_event event;
	int err;

	if (__atomic_load_n(&this->cancelled, __ATOMIC_ACQUIRE))
	{
		return JOB_REQUEUE_NONE;
	}
	err = cygnet_event_wait(this->db, &event,
				__atomic_load_n(&this->retired, __ATOMIC_ACQUIRE) ? this->pause
																  : WAIT_IDLE);
	switch (err)
	{
		case 0:
			process_event(this, &event);
			break;
		case -ETIMEDOUT:
		case -EINTR:
			try_reclaim(this);
			break;
		default:
			DBG1(DBG_KNL, "waiting for events of the dataplane failed: %s",
				 strerror(-err));
			sleep(1);
			break;
	}
	return JOB_REQUEUE_DIRECT;
}

/**
 * Callback that ends the job
 */
static bool cancel_wait(private_kernel_cygnet_event_t *this)
{
	__atomic_store_n(&this->cancelled, TRUE, __ATOMIC_RELEASE);
	cygnet_event_wake(this->db);
	return TRUE;
}

METHOD(kernel_cygnet_event_t, reclaim, void,
	private_kernel_cygnet_event_t *this)
{
	if (!__atomic_exchange_n(&this->retired, TRUE, __ATOMIC_ACQ_REL))
	{
		cygnet_event_wake(this->db);
	}
}

METHOD(kernel_cygnet_event_t, destroy, void,
	private_kernel_cygnet_event_t *this)
{
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_event_t *kernel_cygnet_event_create(struct cygnet_db *db)
{
	private_kernel_cygnet_event_t *this;

	INIT(this,
		.public = {
			.reclaim = _reclaim,
			.destroy = _destroy,
		},
		.db = db,
		.pause = WAIT_RECLAIM,
	);

	lib->processor->queue_job(lib->processor,
		(job_t*)callback_job_create_with_prio((callback_job_cb_t)wait_event,
							this, NULL, (callback_job_cancel_t)cancel_wait,
							JOB_PRIO_CRITICAL));
	return &this->public;
}
