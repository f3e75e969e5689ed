/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_atomic.h>
#include <rte_common.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sadb.h"
#include "base/settings.h"
#include "crypto/device/algorithm.h"
#include "crypto/device/engine.h"
#include "crypto/device/sessions.h"
#include "crypto/device/suite.h"
#include "dpdk_release.h"
#include "esp/esp.h"
#include "esp/mapping.h"
#include "esp/session.h"

#define UNSERVED    16u	  /* unserved SAs that the control thread has not logged yet */
#define EVICT_TRIES 64u	  /* least recently used sessions that are tried for eviction */
#define IN_CACHE    4096u /* with 1.4 KiB each: more than an L2 cache has */

struct unserved {
	rte_be32_t spi;
	uint8_t cipher, auth;
	bool refused; /* not an approved algorithm */
};

struct session_table {
	struct session *pool;	/* array of all sessions */
	struct session *unused; /* list of free sessions, linked by ->older */
	struct session *oldest, *newest;
	uint32_t slots, next_sweep;
	uint32_t used;			     /* sessions */
	const struct session_events *events; /* may be NULL */
	void *user;
	uint32_t high; /* slot[] is empty from here on */
	struct unserved unserved[UNSERVED];
	uint32_t logged,
		noted; /* atomic; free-running ends in unserved[] of what was logged, and noted */
	struct session *slot[];
};

uint32_t sessions_of_worker(uint32_t sas, uint32_t sessions, unsigned int workers)
{
	return (RTE_MIN(sas, sessions) + workers - 1) / workers;
}

static void put(struct session_table *table, struct session *s)
{
	s->older = table->unused;
	table->unused = s;
}

/* Use transparent huge pages of 2 MiB if possible: packets of many SAs access many sessions, and small
 * pages would cost TLB misses. */
static struct session *make_pool(uint32_t most)
{
	size_t page = 2 << 20, size = RTE_ALIGN_CEIL(most * sizeof(struct session), page);
	struct session *pool = aligned_alloc(page, size);

	if (!pool)
		return NULL;
	madvise(pool, size, MADV_HUGEPAGE);
	memset(pool, 0, most * sizeof(*pool));
	return pool;
}

struct session_table *sessions_create(uint32_t slots, uint32_t most,
				      const struct session_events *events, void *user)
{
	struct session_table *table = calloc(1, sizeof(*table) + slots * sizeof(table->slot[0]));

	if (!table)
		return NULL;
	table->slots = slots;
	table->events = events;
	table->user = user;
	table->pool = make_pool(most);
	if (!table->pool) {
		free(table);
		return NULL;
	}
	for (uint32_t i = 0; i < most; i++)
		put(table, &table->pool[i]);
	return table;
}

/* --- the list by last use --- */

static void unlink_session(struct session_table *table, struct session *s)
{
	*(s->older ? &s->older->newer : &table->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &table->newest) = s->older;
}

static void link_newest(struct session_table *table, struct session *s)
{
	s->used = clock_seconds();
	s->older = table->newest;
	s->newer = NULL;
	*(s->older ? &s->older->newer : &table->oldest) = s;
	table->newest = s;
}

/* A session without a use yet is the first to go: forged packets of many SAs release each other's sessions. */
static void link_oldest(struct session_table *table, struct session *s)
{
	s->used = UINT64_MAX;
	s->older = NULL;
	s->newer = table->oldest;
	*(s->newer ? &s->newer->older : &table->newest) = s;
	table->oldest = s;
}

void session_used(struct session_table *table, struct session *s)
{
	if (s->used == clock_seconds())
		return;
	unlink_session(table, s);
	link_newest(table, s);
}

static void release(struct session_table *table, uint32_t index)
{
	struct session *s = table->slot[index];

	for (unsigned int d = 0; d < engine_devices; d++)
		if (s->crypto[d]) /* DPDK zeroes the session, which has the key schedule */
			rte_cryptodev_sym_session_free(engine_device[d].id, s->crypto[d]);
	if (table->events)
		table->events->released(table->user, s);
	unlink_session(table, s);
	table->used--;
	explicit_bzero(s, sizeof(*s));
	put(table, s);
	table->slot[index] = NULL;
}

/* @return NULL: all sessions are in use */
static struct session *take(struct session_table *table, bool evict)
{
	struct session *s = table->oldest;

	for (unsigned int i = 0; evict && !table->unused && s && i < EVICT_TRIES; i++) {
		struct session *newer = s->newer;

		if (!s->in_flight)
			release(table, s->sa);
		s = newer;
	}
	s = table->unused;
	if (s)
		table->unused = s->older;
	return s;
}

void sessions_free(struct session_table *table)
{
	if (!table)
		return;
	for (uint32_t i = 0; i < table->high; i++)
		if (table->slot[i])
			release(table, i);
	free(table->pool);
	free(table);
}

/* --- sessions on devices --- */

static bool can_serve(const struct cygnet_sa *sa)
{
	return sa->mode <= CYGNET_TRANSPORT && suite_known(sa) &&
	       (sa->proto == IPPROTO_ESP || sa->proto == IPPROTO_AH);
}

/* crypto_openssl serves these ciphers instead, but it has no AES-XCBC. */
static bool mixes_packets(const struct engine_device *e, const struct rte_crypto_sym_xform *x)
{
	return DPDK_AESNI_MB_MIXES_DES && x->type == RTE_CRYPTO_SYM_XFORM_CIPHER &&
	       (x->cipher.algo == RTE_CRYPTO_CIPHER_3DES_CBC ||
		x->cipher.algo == RTE_CRYPTO_CIPHER_DES_CBC) &&
	       !strcmp(e->driver, "crypto_aesni_mb");
}

/* Whether a transform is among the capabilities of a device. No session is requested otherwise, because
 * some drivers leak memory with each session that they refuse. */
static bool device_does(const struct engine_device *e, const struct rte_crypto_sym_xform *x)
{
	const struct rte_crypto_cipher_xform *cipher = &x->cipher;
	const struct rte_crypto_auth_xform *auth = &x->auth;
	const struct rte_crypto_aead_xform *aead = &x->aead;
	struct rte_cryptodev_sym_capability_idx what = {.type = x->type};
	const struct rte_cryptodev_symmetric_capability *can;

	if (x->type == RTE_CRYPTO_SYM_XFORM_AEAD)
		what.algo.aead = aead->algo;
	else if (x->type == RTE_CRYPTO_SYM_XFORM_CIPHER)
		what.algo.cipher = cipher->algo;
	else
		what.algo.auth = auth->algo;
	can = rte_cryptodev_sym_capability_get(e->id, &what);
	if (!can || mixes_packets(e, x))
		return false;
	if (x->type == RTE_CRYPTO_SYM_XFORM_AEAD)
		return !rte_cryptodev_sym_capability_check_aead(can, aead->key.length,
								aead->digest_length,
								aead->aad_length, aead->iv.length);
	if (x->type == RTE_CRYPTO_SYM_XFORM_CIPHER)
		return !rte_cryptodev_sym_capability_check_cipher(can, cipher->key.length,
								  cipher->iv.length);
	return !rte_cryptodev_sym_capability_check_auth(can, auth->key.length, auth->digest_length,
							auth->iv.length);
}

int session_crypto(const struct cygnet_sa *sa, unsigned int device, void **crypto)
{
	const struct engine_device *e = &engine_device[device];
	struct rte_crypto_sym_xform x[2];

	*crypto = NULL;
	if (e->denied[sa->cipher] >> sa->auth & 1)
		return -ENOTSUP;
	suite_transforms(x, sa);
	if (!device_does(e, &x[0]) || (x[0].next && !device_does(e, &x[1])))
		return -ENOTSUP;
	*crypto = rte_cryptodev_sym_session_create(e->id, x, e->sessions);
	return *crypto ? 0 : -EIO;
}

/* An SA's lengths are checked and used in a copy that no other process can change in between: of what is constant,
 * which stands before the counters. */
static void copy_sa(struct cygnet_sa *copy, const struct cygnet_sa *sa)
{
	size_t constant = offsetof(struct cygnet_sa, seq);

	memcpy(copy, sa, constant);
	memset((char *)copy + constant, 0, sizeof(*copy) - constant);
	rte_compiler_barrier();
}

/* @param sa  a copy */
static bool describe(struct session *s, const struct cygnet_sa *sa)
{
	*s = (struct session){
		.generation = sa->generation,
		.inbound = sa->flags & CYGNET_SA_INBOUND,
		.esn = sa->flags & CYGNET_SA_ESN,
		.ah = sa->proto == IPPROTO_AH,
		.transport = sa->mode == CYGNET_TRANSPORT,
		.algorithm = (uint8_t)algorithm_of(sa),
	};
	if (!can_serve(sa))
		return false;
	suite_describe(s, sa);
	return true;
}

bool session_describe(struct session *s, const struct cygnet_sa *sa)
{
	struct cygnet_sa copy;
	bool served;

	copy_sa(&copy, sa);
	served = describe(s, &copy);
	explicit_bzero(&copy, sizeof(copy));
	return served;
}

/* Whether the SA, a copy, is still as it was when the session was created. Only a damaged shared file
 * changes these fields. */
static bool still_describes(const struct session *s, const struct cygnet_sa *sa)
{
	struct session now;
	bool same = describe(&now, sa) && now.form == s->form && now.icv_len == s->icv_len &&
		    now.iv_len == s->iv_len && now.inbound == s->inbound && now.esn == s->esn &&
		    now.ah == s->ah && now.esn_inside == s->esn_inside;

	explicit_bzero(&now, sizeof(now)); /* the salt */
	return same;
}

static bool is_refused(uint8_t cipher, uint8_t auth)
{
	return settings_now() & SETTING_APPROVED && !suite_approved(cipher, auth);
}

static void create_on(struct session *s, const struct cygnet_sa *sa, unsigned int device)
{
	uint32_t bit = 1u << device;
	struct cygnet_sa copy;
	int err = 0;

	copy_sa(&copy, sa);
	if (is_refused(copy.cipher, copy.auth))
		err = -ENOTSUP;
	else if (still_describes(s, &copy))
		err = session_crypto(&copy, device, &s->crypto[device]);
	explicit_bzero(&copy, sizeof(copy));
	if (err == -ENOTSUP)
		s->refused |= bit;
	else if (err) {
		s->failed |= bit;
		__atomic_store_n(&engine_device[device].refuses, true, __ATOMIC_RELAXED);
	}
}

void *session_on(struct session *s, const struct cygnet_sa *sa, unsigned int device)
{
	if (engine_lost(device))
		return NULL;
	if (!s->crypto[device] && sa && !((s->refused | s->failed) & 1u << device))
		create_on(s, sa, device);
	return s->crypto[device];
}

static bool is_served(const struct session *s)
{
	return s->crypto[s->device] && !engine_lost(s->device);
}

/* Choose the first device, in the order of preference, that accepts the SA. */
static void choose_device(struct session *s, const struct cygnet_sa *sa)
{
	for (unsigned int d = 0; d < engine_devices; d++) {
		s->device = (uint8_t)d;
		if (session_on(s, sa, d))
			break;
	}
	s->retry = clock_seconds() + 1;
	/* by_batch may not hold for the new device. */
	s->route.by_batch = false;
}

/* Have the control thread log that an SA is not served. If the array is full, the SA is not logged. */
static void note_unserved(struct session_table *table, const struct cygnet_sa *sa)
{
	uint8_t cipher = sa->cipher, auth = sa->auth;
	uint32_t position = table->noted;

	if (position - __atomic_load_n(&table->logged, __ATOMIC_ACQUIRE) == UNSERVED)
		return;
	table->unserved[position % UNSERVED] = (struct unserved){
		sa->spi,
		cipher,
		auth,
		is_refused(cipher, auth),
	};
	/* The reader must see the element before its position. */
	__atomic_store_n(&table->noted, position + 1, __ATOMIC_RELEASE);
}

void sessions_report(struct session_table *table)
{
	uint32_t end = __atomic_load_n(&table->noted, __ATOMIC_ACQUIRE);

	for (uint32_t position = table->logged; position != end; position++) {
		const struct unserved *u = &table->unserved[position % UNSERVED];

		log_sa(RTE_LOG_WARNING, u->spi, "%s %s with %s",
		       u->refused ? "approved = yes refuses" : "no crypto device here serves",
		       cygnet_cipher_name(u->cipher), cygnet_auth_name(u->auth));
	}
	/* All elements have been read: the worker may overwrite them. */
	__atomic_store_n(&table->logged, end, __ATOMIC_RELEASE);
}

static struct session *create(struct session_table *table, const struct cygnet_sa *sa,
			      uint32_t index, bool evict)
{
	struct session *s = take(table, evict);

	if (!s)
		return NULL;
	if (session_describe(s, sa))
		choose_device(s, sa);
	else
		s->refused = UINT32_MAX;
	s->sa = index;
	table->used++;
	link_oldest(table, s);
	table->slot[index] = s;
	if (index >= table->high)
		table->high = index + 1;
	if (!is_served(s))
		note_unserved(table, sa);
	if (table->events)
		table->events->created(table->user, s);
	return s;
}

/* Choose another device if the SA's device no longer serves it. */
static void check_device(struct session *s, const struct cygnet_sa *sa)
{
	if (is_served(s))
		return;
	if (!s->crypto[s->device]) {
		if (clock_seconds() < s->retry)
			return;
		s->failed = 0;
	}
	choose_device(s, sa);
}

struct session *session_peek(const struct session_table *table, uint32_t index, uint32_t generation)
{
	struct session *s = index < table->slots ? table->slot[index] : NULL;

	return s && s->generation == generation ? s : NULL;
}

bool sessions_have_free(const struct session_table *table)
{
	return table->unused;
}

bool sessions_are_many(const struct session_table *table)
{
	return table->used > IN_CACHE;
}

bool session_leave(struct session_table *table, uint32_t index)
{
	struct session *s = index < table->slots ? table->slot[index] : NULL;

	if (s && s->in_flight)
		return false;
	if (s)
		release(table, index);
	return true;
}

enum drop_reason session_get(struct session_table *table, const struct cygnet_sa *sa,
			     uint32_t index, bool evict, struct session **session)
{
	struct session *s;

	if (index >= table->slots)
		return DROP_SA_GONE;
	s = table->slot[index];
	if (s && s->generation != sa->generation) {
		if (s->in_flight || !evict)
			return DROP_NO_SESSION;
		release(table, index);
		s = NULL;
	}
	if (s)
		check_device(s, sa);
	else
		s = create(table, sa, index, evict);
	if (!s)
		return DROP_NO_SESSION;
	if (!s->inbound)
		session_used(table, s);
	*session = s;
	if (is_served(s))
		return DROP_NONE;
	return s->failed ? DROP_NO_SESSION : DROP_UNSUPPORTED;
}

void sessions_sweep(struct session_table *table)
{
	uint32_t n = table->high / 64 + 1;

	while (n--) {
		uint32_t i = table->next_sweep++;
		const struct cygnet_sa *sa;
		struct session *s;

		if (i >= table->high) {
			table->next_sweep = 0;
			return;
		}
		s = table->slot[i];
		sa = s ? cygnet_sa_get(sadb, s->sa, s->generation) : NULL;
		if (sa && s->moved)
			mapping_tell_again(sa, s);
		else if (s && !sa && !s->in_flight)
			release(table, i);
	}
}
