/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "esp/lifetime.h"
#include "esp/ordinary.h"

#define SLOTS 4096u /* slots of the SAD in one call of lifetime_tell_again() */

/* A report may have failed. Set after the failed report is cleared in sa->expired. */
static bool untold = true;

/* @return false: the event queue is full */
static bool post(const struct cygnet_sa *sa, uint32_t which)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);

	return event_raise(&(struct cygnet_event){
		.type = CYGNET_EVENT_EXPIRE,
		.hard = which == CYGNET_EXPIRE_HARD,
		.reqid = sa->reqid,
		.id = {sa->spi, sa->proto, path->af, path->dst},
	});
}

/* Report a limit once. The flag in sa->expired is claimed first, because the SA's lcore and the control
 * thread may both get here. If the event queue is full, the next packet or the next scan reports the
 * limit. */
static void expire(struct cygnet_sa *sa, uint32_t which)
{
	if (__atomic_load_n(&sa->expired, __ATOMIC_RELAXED) & which ||
	    __atomic_fetch_or(&sa->expired, which, __ATOMIC_RELAXED) & which || post(sa, which))
		return;
	__atomic_fetch_and(&sa->expired, ~which, __ATOMIC_RELAXED);
	__atomic_store_n(&untold, true, __ATOMIC_RELEASE);
}

static bool over(uint64_t used, uint64_t limit)
{
	return limit && used >= limit;
}

/* Whether the hard lifetime in seconds is over. Charon normally deletes the SA by its own timer; this holds
 * while charon does not run. */
static bool outlived(const struct cygnet_sa *sa)
{
	uint64_t now = clock_seconds();

	return now > sa->install_time && over(now - sa->install_time, sa->lifetime.hard_seconds);
}

static bool used_up(const struct cygnet_sa *sa)
{
	const struct cygnet_lifetime *l = &sa->lifetime;

	return over(used(&sa->bytes), l->hard_bytes) || over(used(&sa->packets), l->hard_packets);
}

bool lifetime_allows(struct cygnet_sa *sa)
{
	const struct cygnet_lifetime *l = &sa->lifetime;

	if (outlived(sa))
		return false;
	if (used_up(sa)) {
		expire(sa, CYGNET_EXPIRE_HARD);
		return false;
	}
	if (over(used(&sa->bytes), l->soft_bytes) || over(used(&sa->packets), l->soft_packets))
		expire(sa, CYGNET_EXPIRE_SOFT);
	return true;
}

static uint64_t last_sequence(const struct cygnet_sa *sa)
{
	return sa->flags & CYGNET_SA_ESN ? UINT64_MAX : UINT32_MAX;
}

void lifetime_watch_sequence(struct cygnet_sa *sa, uint64_t seq)
{
	uint64_t last = last_sequence(sa);

	if (seq >= last - last / 8)
		expire(sa, CYGNET_EXPIRE_SOFT);
}

void lifetime_no_sequence(struct cygnet_sa *sa)
{
	expire(sa, CYGNET_EXPIRE_HARD);
}

/* Report all limits that the SA has reached. */
static void tell(struct cygnet_sa *sa)
{
	uint64_t seq = __atomic_load_n(&sa->seq, __ATOMIC_RELAXED);

	if (!lifetime_allows(sa) || sa->flags & CYGNET_SA_INBOUND)
		return;
	lifetime_watch_sequence(sa, seq);
	if (seq >= last_sequence(sa))
		lifetime_no_sequence(sa);
}

void lifetime_tell_again(void)
{
	static uint32_t next;

	/* Cleared before the scan: a report that fails during the scan causes another scan. */
	if (!next && !__atomic_exchange_n(&untold, false, __ATOMIC_ACQUIRE))
		return;
	/* While this reader is online, no slot is reused for another SA. */
	if (cygnet_reader_online(sadb, SADB_READER_CONTROL))
		return;
	for (uint32_t end = next + SLOTS; next != end; next++) {
		struct cygnet_sa *sa = cygnet_sa_at(sadb, next);

		if (!sa) {
			next = 0;
			break;
		}
		if (__atomic_load_n(&sa->state, __ATOMIC_ACQUIRE) == CYGNET_SLOT_LIVE)
			tell(sa);
	}
	cygnet_reader_offline(sadb, SADB_READER_CONTROL);
}
