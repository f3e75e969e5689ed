/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_closed.h"
#include "kernel_cygnet_rules.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nftables/libnftables.h>

#include <daemon.h>
#include <processing/jobs/callback_job.h>
#include <threading/condvar.h>
#include <threading/mutex.h>

/** Time between two looks, ms */
#define LOOK 500
/** Looks without a dataplane, one after the other, after which the kernel drops:
 * for a moment of a takeover none has the role */
#define CLOSE 2
/** The same for SAs: a dataplane that has crashed comes back soon */
#define REFUSE 20

typedef struct private_kernel_cygnet_closed_t private_kernel_cygnet_closed_t;

struct private_kernel_cygnet_closed_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_closed_t public;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * Looks without a dataplane, one after the other; atomic
	 */
	u_int absent;

	/**
	 * Runs the commands of nft; NULL if the kernel has no nftables. Used by the job
	 * only, as all that follows up to open_failed
	 */
	struct nft_ctx *nft;

	/**
	 * What the kernel has of the table
	 */
	enum {
		/** unknown, as left by an earlier charon */
		UNKNOWN,
		/** no table */
		OPEN,
		/** rules for the policies */
		CLOSED,
	} state;

	/**
	 * Counter of the SPD as of the rules
	 */
	uint64_t changes;

	/**
	 * Charon's ports as of the rules, 0 behind the last
	 */
	uint16_t ports[CYGNET_IKE_PORTS + 2];

	/**
	 * Whether it has been logged that rules could not be made, since it was necessary
	 */
	bool close_failed;

	/**
	 * Whether it has been logged that the table could not be removed
	 */
	bool open_failed;

	/**
	 * Whether the job is to end; needs the mutex
	 */
	bool cancelled;

	/**
	 * Protects cancelled
	 */
	mutex_t *mutex;

	/**
	 * Signals cancelled
	 */
	condvar_t *condvar;
};

/**
 * Whether a dataplane is required
 */
static bool is_required(void)
{
	return lib->settings->get_bool(lib->settings,
								   "%s.plugins.kernel-cygnet.closed", TRUE,
								   lib->ns);
}

/**
 * Whether the kernel can be asked at all: libnftables ends the process if not
 */
static bool has_netlink(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	if (fd < 0)
	{
		return FALSE;
	}
	close(fd);
	return TRUE;
}

static struct nft_ctx *create_nft(void)
{
	struct nft_ctx *nft;

	if (!has_netlink())
	{
		return NULL;
	}
	nft = nft_ctx_new(NFT_CTX_DEFAULT);
	if (nft && (nft_ctx_buffer_error(nft) || nft_ctx_buffer_output(nft)))
	{
		nft_ctx_free(nft);
		return NULL;
	}
	return nft;
}

/**
 * Run commands of nft
 */
static bool run(private_kernel_cygnet_closed_t *this, const char *commands)
{
	return this->nft && nft_run_cmd_from_buffer(this->nft, commands) == 0;
}

/**
 * Log that run() has failed, or that there was no memory
 *
 * @param logged	whether it was logged before: then it is not again
 * @param what		message that says what cannot be done, with its consequence
 */
static void log_failure(bool *logged, const char *why, const char *what)
{
	if (!*logged)
	{
		DBG1(DBG_KNL, "%s (%.*s)", what, (int)strcspn(why, "\n"), why);
		*logged = TRUE;
	}
}

/**
 * Why run() has failed
 */
static const char *nft_error(private_kernel_cygnet_closed_t *this)
{
	const char *error = this->nft ? nft_ctx_get_error_buffer(this->nft) :
									"nftables is not there";

	return error ? error : "";
}

/**
 * Whether the table is there: somebody may have flushed the ruleset
 */
static bool is_closed(private_kernel_cygnet_closed_t *this)
{
	return this->state == CLOSED &&
		   run(this, "list chain inet " KERNEL_CYGNET_TABLE " forward");
}

/** Also where there is no table */
#define REMOVE "table inet " KERNEL_CYGNET_TABLE "\n" \
			   "delete table inet " KERNEL_CYGNET_TABLE "\n"

/**
 * Take the table away. At the start there may be none, and no nftables.
 */
static void open_kernel(private_kernel_cygnet_closed_t *this)
{
	this->close_failed = FALSE;
	if (this->state == OPEN)
	{
		return;
	}
	if (!run(this, REMOVE) && this->nft)
	{
		log_failure(&this->open_failed, nft_error(this), "unable to remove table inet "
					KERNEL_CYGNET_TABLE ": if the kernel has it, from now or an earlier "
					"charon, it drops what policies protect");
		return;
	}
	if (this->state == CLOSED)
	{
		DBG1(DBG_KNL, "the kernel drops no more packets because of policies");
	}
	this->open_failed = FALSE;
	this->state = OPEN;
}

/** What cannot be done, for the log */
#define CLOSE_FAILED "unable to have the kernel drop the packets of policies: until " \
					 "cygnetd serves they may leave as plaintext where the kernel has " \
					 "the addresses, and be dropped afterwards"

/**
 * Have the table, or another one if policies or charon's ports have changed
 */
static void close_kernel(private_kernel_cygnet_closed_t *this)
{
	uint64_t changes = cygnet_spd_changes(this->db);
	uint16_t ports[countof(this->ports)] = {};
	char *rules;

	cygnet_ike_ports(this->db, ports);
	if (changes == this->changes && memeq(ports, this->ports, sizeof(ports)) &&
		is_closed(this))
	{
		return;
	}
	if (!kernel_cygnet_rules(this->db, &rules))
	{
		log_failure(&this->close_failed, "no memory", CLOSE_FAILED);
		cygnet_mark_set(this->db, CYGNET_MARK_CLOSED, FALSE);
		return;
	}
	if (!rules)
	{
		/* Nothing is protected. Rules that cannot be removed drop more than that. */
		open_kernel(this);
		cygnet_mark_set(this->db, CYGNET_MARK_CLOSED, TRUE);
		return;
	}
	if (!run(this, rules))
	{
		log_failure(&this->close_failed, nft_error(this), CLOSE_FAILED);
		cygnet_mark_set(this->db, CYGNET_MARK_CLOSED, FALSE);
	}
	else
	{
		if (this->state != CLOSED)
		{
			DBG1(DBG_KNL, "no cygnetd serves: the kernel drops the packets that "
				 "policies protect (nft list table inet " KERNEL_CYGNET_TABLE ")");
		}
		this->close_failed = FALSE;
		this->state = CLOSED;
		this->changes = changes;
		memcpy(this->ports, ports, sizeof(ports));
		cygnet_mark_set(this->db, CYGNET_MARK_CLOSED, TRUE);
	}
	free(rules);
}

/**
 * Wait for the next look
 *
 * @return			FALSE if there is none
 */
static bool await_look(private_kernel_cygnet_closed_t *this)
{
	bool cancelled;

	this->mutex->lock(this->mutex);
	if (!this->cancelled)
	{
		this->condvar->timed_wait(this->condvar, this->mutex, LOOK);
	}
	cancelled = this->cancelled;
	this->mutex->unlock(this->mutex);
	return !cancelled;
}

/**
 * Callback that ends the job
 */
static bool cancel(private_kernel_cygnet_closed_t *this)
{
	this->mutex->lock(this->mutex);
	this->cancelled = TRUE;
	this->condvar->signal(this->condvar);
	this->mutex->unlock(this->mutex);
	return TRUE;
}

/**
 * Job with a thread of its own, because all others may be busy: look whether a
 * dataplane serves
 */
static job_requeue_t look(private_kernel_cygnet_closed_t *this)
{
	bool required = is_required();
	u_int absent = 0;

	if (required && !cygnet_mark_made(this->db, CYGNET_MARK_SERVING))
	{
		absent = min(this->absent + 1, REFUSE);
	}
	__atomic_store_n(&this->absent, absent, __ATOMIC_RELAXED);
	if (absent >= CLOSE)
	{
		close_kernel(this);
	}
	else if (!absent)
	{
		cygnet_mark_set(this->db, CYGNET_MARK_CLOSED, !required);
		open_kernel(this);
	}
	return await_look(this) ? JOB_REQUEUE_DIRECT : JOB_REQUEUE_NONE;
}

METHOD(kernel_cygnet_closed_t, serves, bool,
	private_kernel_cygnet_closed_t *this, const char *what)
{
	struct cygnet_db_info info;

	if (__atomic_load_n(&this->absent, __ATOMIC_RELAXED) < REFUSE ||
		cygnet_role_held(this->db, CYGNET_ROLE_DATAPLANE))
	{
		return TRUE;
	}
	cygnet_db_info(this->db, &info);
	DBG1(DBG_KNL, "unable to %s: no cygnetd serves %s, and nothing would protect "
		 "the packets: start cygnetd", what, info.path);
	return FALSE;
}

METHOD(kernel_cygnet_closed_t, destroy, void,
	private_kernel_cygnet_closed_t *this, bool hold)
{
	if (!hold)
	{
		open_kernel(this);
	}
	if (this->nft)
	{
		nft_ctx_free(this->nft);
	}
	this->condvar->destroy(this->condvar);
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
void kernel_cygnet_closed_remove(void)
{
	struct nft_ctx *nft = create_nft();

	if (nft)
	{
		nft_run_cmd_from_buffer(nft, REMOVE);
		nft_ctx_free(nft);
	}
}

/*
 * Described in header.
 */
kernel_cygnet_closed_t *kernel_cygnet_closed_create(struct cygnet_db *db)
{
	private_kernel_cygnet_closed_t *this;

	INIT(this,
		.public = {
			.serves = _serves,
			.destroy = _destroy,
		},
		.db = db,
		.nft = create_nft(),
		.absent = is_required() ? REFUSE - 1 : 0,
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
		.condvar = condvar_create(CONDVAR_TYPE_DEFAULT),
	);
	lib->processor->queue_job(lib->processor,
		(job_t*)callback_job_create_with_prio((callback_job_cb_t)look, this,
							NULL, (callback_job_cancel_t)cancel,
							JOB_PRIO_CRITICAL));
	return &this->public;
}
