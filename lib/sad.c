/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <time.h>

#include "hash.h"
#include "lock.h"
#include "pool.h"
#include "qsbr.h"
#include "sad.h"
#include "selector.h"
#include "siphash.h"
#include "window.h"

bool addr_equal(const struct cygnet_addr *a, const struct cygnet_addr *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

bool sad_ends_at(const struct cygnet_sa *sa, uint8_t af, const struct cygnet_addr *dst)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);

	return path->af == af && addr_equal(&path->dst, dst);
}

/* Where inbound SAs are filed: by their SPI, which this host has drawn. */
static uint32_t *bucket_in(struct cygnet_db *db, uint32_t spi, uint8_t proto)
{
	uint64_t hash = hash_mix(db->seed, (uint64_t)proto << 32 | spi);

	return &db->sa_table[hash & db->sa_mask];
}

/* Where outbound SAs are filed: by the peer's address, too. Peers choose their SPIs, and all of them could choose one.
 * The secret of 64 bits is enough of a key, because nobody sees a hash. */
static uint32_t *bucket_out(struct cygnet_db *db, uint32_t spi, uint8_t proto,
			    const struct cygnet_addr *dst)
{
	const uint64_t id[] = {(uint64_t)proto << 32 | spi, dst->words[0], dst->words[1]};
	const uint64_t key[2] = {db->seed, 0};

	if (!(db->features & LAYOUT_OUT_BY_PEER))
		return bucket_in(db, spi, proto);
	return &db->sa_table[siphash(key, id, sizeof(id)) & db->sa_mask];
}

/* The SA that a reference leads to. @return NULL at the end of the chain */
static struct cygnet_sa *follow(struct cygnet_db *db, const uint32_t *ref)
{
	uint32_t index = ref_index(load_acquire(ref), db->geometry.sas);

	return index == CYGNET_NONE ? NULL : &db->sas[index];
}

static bool is_inbound(const struct cygnet_sa *sa)
{
	return load_relaxed(&sa->flags) & CYGNET_SA_INBOUND;
}

uint32_t *sad_bucket(struct cygnet_db *db, const struct cygnet_sa *sa)
{
	return is_inbound(sa) ? bucket_in(db, sa->spi, sa->proto)
			      : bucket_out(db, sa->spi, sa->proto, &cygnet_sa_path(sa)->dst);
}

/* @param larval  also an SPI that is only reserved */
static inline struct cygnet_sa *lookup_in(struct cygnet_db *db, uint32_t spi, uint8_t proto,
					  uint8_t af, const struct cygnet_addr *dst, bool larval)
{
	struct cygnet_sa *sa = follow(db, bucket_in(db, spi, proto));
	uint32_t left = db->geometry.sas; /* a damaged chain may be a loop */

	/* Inbound SAs come first in a chain, see publish(). */
	for (; sa && left-- && is_inbound(sa); sa = follow(db, &sa->next)) {
		uint32_t state;

		if (sa->spi != spi || sa->proto != proto)
			continue;
		state = load_acquire(&sa->state);
		if ((state == CYGNET_SLOT_LIVE || (larval && state == CYGNET_SLOT_LARVAL)) &&
		    sad_ends_at(sa, af, dst))
			return sa;
	}
	return NULL;
}

EXPORT struct cygnet_sa *cygnet_sad_lookup(struct cygnet_db *db, uint32_t spi, uint8_t proto,
					   uint8_t af, const struct cygnet_addr *dst)
{
	return lookup_in(db, spi, proto, af, dst, false);
}

EXPORT bool cygnet_sad_expects(struct cygnet_db *db, uint32_t spi, uint8_t proto, uint8_t af,
			       const struct cygnet_addr *dst)
{
	return lookup_in(db, spi, proto, af, dst, true) != NULL;
}

EXPORT struct cygnet_sa *cygnet_sad_lookup_out(struct cygnet_db *db, uint32_t spi, uint8_t proto,
					       uint8_t af, const struct cygnet_addr *dst)
{
	struct cygnet_sa *sa = follow(db, bucket_out(db, spi, proto, dst));
	uint32_t left = db->geometry.sas;

	for (; sa && left--; sa = follow(db, &sa->next)) {
		if (is_inbound(sa) || sa->spi != spi || sa->proto != proto)
			continue;
		if (load_acquire(&sa->state) == CYGNET_SLOT_LIVE && sad_ends_at(sa, af, dst))
			return sa;
	}
	return NULL;
}

static struct cygnet_sa *find_in(struct cygnet_db *db, const uint32_t *bucket,
				 const struct cygnet_sa_id *id)
{
	struct cygnet_sa *sa = follow(db, bucket);
	uint32_t left = db->geometry.sas;

	for (; sa && left--; sa = follow(db, &sa->next))
		if (sa->spi == id->spi && sa->proto == id->proto &&
		    sad_ends_at(sa, id->af, &id->dst))
			return sa;
	return NULL;
}

struct cygnet_sa *sad_find(struct cygnet_db *db, const struct cygnet_sa_id *id)
{
	uint32_t *in = bucket_in(db, id->spi, id->proto);
	uint32_t *out = bucket_out(db, id->spi, id->proto, &id->dst);
	struct cygnet_sa *sa = find_in(db, in, id);

	return sa || out == in ? sa : find_in(db, out, id);
}

/* Whether an inbound SA has the SPI, whatever its destination. */
static bool spi_in_use(struct cygnet_db *db, uint32_t spi, uint8_t proto)
{
	struct cygnet_sa *sa = follow(db, bucket_in(db, spi, proto));
	uint32_t left = db->geometry.sas;

	for (; sa && left--; sa = follow(db, &sa->next))
		if (sa->spi == spi && sa->proto == proto)
			return true;
	return false;
}

/* Outbound SAs are inserted behind the inbound SAs of a chain: lookups of received packets
 * end before them. */
static void publish(struct cygnet_db *db, struct cygnet_sa *sa)
{
	uint32_t *link = sad_bucket(db, sa);
	uint32_t left = db->geometry.sas;

	if (!is_inbound(sa)) {
		struct cygnet_sa *other = follow(db, link);

		for (; other && left-- && is_inbound(other); other = follow(db, link))
			link = &other->next;
	}
	store_relaxed(&sa->next, load_relaxed(link));
	store_release(link, cygnet_sa_index(db, sa) + 1);
}

static void unpublish(struct cygnet_db *db, struct cygnet_sa *sa)
{
	uint32_t ref = cygnet_sa_index(db, sa) + 1;
	uint32_t *link = sad_bucket(db, sa);
	uint32_t left = db->geometry.sas;

	while (load_relaxed(link) != ref) {
		struct cygnet_sa *other = follow(db, link);

		if (!other || !left--)
			return;
		link = &other->next;
	}
	store_release(link, load_relaxed(&sa->next));
}

static void retire(struct cygnet_db *db, struct cygnet_sa *sa)
{
	struct slots slots = pool_sas(db);
	uint32_t index = cygnet_sa_index(db, sa);

	pool_retire(db, &slots, index, cygnet_sa_scope(index));
}

static struct cygnet_sa *take_larval(struct cygnet_db *db, const struct cygnet_sa_id *id,
				     uint32_t flags)
{
	struct slots slots = pool_sas(db);
	uint32_t index = pool_take(db, &slots);
	struct cygnet_sa *sa;

	if (index == CYGNET_NONE)
		return NULL;
	sa = &db->sas[index];
	sa->spi = id->spi;
	sa->proto = id->proto;
	sa->flags = flags;
	sa->replay_block = CYGNET_NONE;
	sa->path[sa->path_index & 1] = (struct cygnet_path){.dst = id->dst, .af = id->af};
	sa->epoch = 0;
	pool_use(&slots, index, CYGNET_SLOT_LARVAL);
	return sa;
}

/* Does not check the SPI. */
static bool id_valid(const struct cygnet_sa_id *id)
{
	return (id->af == AF_INET || id->af == AF_INET6) && addr_padded(&id->dst, id->af) &&
	       (id->proto == IPPROTO_ESP || id->proto == IPPROTO_AH);
}

/* Numbers are read in batches: a getrandom() for each SPI would take a third of the time of
 * cygnet_spi_reserve(). @return false if the kernel has none */
static bool draw(struct cygnet_db *db, uint64_t *number)
{
	if (!db->randoms) {
		if (getrandom(db->random, sizeof(db->random), 0) != sizeof(db->random))
			return false;
		db->randoms = sizeof(db->random) / sizeof(db->random[0]);
	}
	*number = db->random[--db->randoms];
	return true;
}

EXPORT int cygnet_spi_reserve(struct cygnet_db *db, uint8_t proto, uint8_t af,
			      const struct cygnet_addr *dst, uint32_t min, uint32_t max,
			      uint32_t *spi)
{
	struct cygnet_sa_id id = {.proto = proto, .af = af, .dst = *dst};
	struct cygnet_sa *sa = NULL;
	uint32_t range;
	uint64_t first;
	int err = -ENOENT;

	min = min ? min : CYGNET_SPI_MIN;
	max = max ? max : CYGNET_SPI_MAX;
	/* SPI 0 is for local use, 1 to 255 are reserved (RFC 4303, 2.1). */
	if (min < 256 || min > max || !id_valid(&id))
		return -EINVAL;
	range = max - min + 1;
	lock_take(db);
	if (!draw(db, &first)) {
		lock_release(db);
		return -EIO;
	}
	first %= range;
	/* At least one of capacity + 1 different SPIs is free. */
	for (uint32_t i = 0; i < range && i <= db->geometry.sas; i++) {
		id.spi = htonl(min + (uint32_t)((first + i) % range));
		if (spi_in_use(db, id.spi, proto))
			continue;
		sa = take_larval(db, &id, CYGNET_SA_INBOUND);
		err = sa ? 0 : -ENOSPC;
		break;
	}
	if (sa) {
		publish(db, sa);
		*spi = id.spi;
	}
	lock_release(db);
	return err;
}

static bool params_valid(const struct cygnet_sa_params *p)
{
	return id_valid(&p->id) && ntohl(p->id.spi) > 255 && p->path.af == p->id.af &&
	       addr_equal(&p->id.dst, &p->path.dst) && addr_padded(&p->path.src, p->id.af) &&
	       p->mode <= CYGNET_TRANSPORT && p->cipher < CYGNET_CIPHERS &&
	       p->auth < CYGNET_AUTHS && p->cipher_key_len + p->salt_len <= CYGNET_KEY_MAX &&
	       p->auth_key_len <= CYGNET_KEY_MAX && p->icv_len <= CYGNET_KEY_MAX &&
	       p->replay_window <= CYGNET_REPLAY_WINDOW_MAX &&
	       (!p->if_id || p->mode == CYGNET_TUNNEL);
}

static uint64_t now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec;
}

static void fill(struct cygnet_sa *sa, const struct cygnet_sa_params *p)
{
	sa->reqid = p->reqid;
	store_relaxed(&sa->flags, p->flags);
	sa->replay_window = p->replay_window;
	sa->tfc = p->tfc;
	sa->if_id = p->if_id;
	sa->mode = p->mode;
	sa->cipher = p->cipher;
	sa->auth = p->auth;
	sa->dscp = p->dscp;
	sa->icv_len = p->icv_len;
	sa->cipher_key_len = p->cipher_key_len;
	sa->salt_len = p->salt_len;
	sa->auth_key_len = p->auth_key_len;
	sa->path[sa->path_index & 1] = p->path;
	memcpy(sa->cipher_key, p->cipher_key, sizeof(sa->cipher_key));
	memcpy(sa->auth_key, p->auth_key, sizeof(sa->auth_key));
	sa->seq = 0;
	memset(sa->replay, 0, sizeof(sa->replay));
	sa->bytes = sa->packets = sa->use_time = 0;
	sa->replay_drops = sa->auth_drops = 0;
	sa->expired = 0;
	sa->path_mtu = 0;
	sa->lifetime = p->lifetime;
	sa->install_time = now_seconds();
}

/* A larval SA is already in its chain, but readers skip it until it is live. */
static int add_locked(struct cygnet_db *db, const struct cygnet_sa_params *p)
{
	struct slots slots = pool_sas(db);
	struct cygnet_sa *sa = sad_find(db, &p->id);
	bool larval = sa != NULL;
	int err;

	/* A reserved SPI is for an inbound SA: its slot is among the inbound ones of its chain. */
	if (larval &&
	    (load_relaxed(&sa->state) != CYGNET_SLOT_LARVAL || !(p->flags & CYGNET_SA_INBOUND)))
		return -EEXIST;
	if (!larval)
		sa = take_larval(db, &p->id, p->flags);
	if (!sa)
		return -ENOSPC;
	err = window_attach(db, sa, p->flags & CYGNET_SA_INBOUND ? p->replay_window : 0);
	if (err) {
		if (!larval)
			retire(db, sa);
		return err;
	}
	fill(sa, p);
	pool_use(&slots, cygnet_sa_index(db, sa), CYGNET_SLOT_LIVE);
	if (!larval)
		publish(db, sa);
	return 0;
}

EXPORT int cygnet_sa_add(struct cygnet_db *db, const struct cygnet_sa_params *params)
{
	int err;

	if (!params_valid(params))
		return -EINVAL;
	if (params->if_id && !(db->features & LAYOUT_IF_ID))
		return -EOPNOTSUPP;
	lock_take(db);
	err = add_locked(db, params);
	lock_release(db);
	return err;
}

/* Whether no reader can still read the spare path. If one can, cygnet_sa_update() returns -EAGAIN
 * instead of waiting, because other writers would wait for the mutex meanwhile. */
static bool path_writable(struct cygnet_db *db, const struct cygnet_sa *sa)
{
	return sa->epoch <= qsbr_over(db);
}

/* Have the other path in force, and the SA in its chain. An outbound SA is in none for a moment, and a lookup on its way
 * along the chain goes on in the other one: it may miss an SA, but ends. */
static void switch_path(struct cygnet_db *db, struct cygnet_sa *sa, uint32_t index)
{
	const struct cygnet_path *path = &sa->path[index & 1];
	bool moves = !is_inbound(sa) && !sad_ends_at(sa, path->af, &path->dst);

	if (moves) {
		store_release(&db->header->moving, cygnet_sa_index(db, sa) + 1);
		unpublish(db, sa);
		write_barrier(); /* its own link is overwritten next */
	}
	store_release(&sa->path_index, index);
	if (moves) {
		publish(db, sa);
		store_release(&db->header->moving, 0);
	}
}

static int update_locked(struct cygnet_db *db, const struct cygnet_sa_id *id,
			 const struct cygnet_path *path, uint32_t reqid)
{
	struct cygnet_sa *sa = sad_find(db, id), *other;
	struct cygnet_sa_id new_id = *id;
	uint32_t index;

	new_id.af = path->af;
	new_id.dst = path->dst;
	if (!sa || load_relaxed(&sa->state) != CYGNET_SLOT_LIVE)
		return -ENOENT;
	if (!id_valid(&new_id) || !addr_padded(&path->src, path->af))
		return -EINVAL;
	other = sad_find(db, &new_id);
	if (other && other != sa)
		return -EEXIST;
	if (!path_writable(db, sa))
		return -EAGAIN;
	index = load_relaxed(&sa->path_index) + 1;
	sa->path[index & 1] = *path;
	/* Store the epoch that qsbr_start() begins below. If this process dies before
	 * that, the repair begins it, so that the old path is not overwritten too early. */
	sa->epoch = load_relaxed(&db->header->epoch) + 1;
	switch_path(db, sa, index);
	store_relaxed(&sa->path_mtu, 0);
	if (reqid)
		store_relaxed(&sa->reqid, reqid);
	/* Last: a reader that sees the new epoch must see all of the update. */
	qsbr_start(db, cygnet_sa_scope(cygnet_sa_index(db, sa)));
	return 0;
}

EXPORT int cygnet_sa_update(struct cygnet_db *db, const struct cygnet_sa_id *id,
			    const struct cygnet_path *path, uint32_t reqid)
{
	int err;

	lock_take(db);
	err = update_locked(db, id, path, reqid);
	lock_release(db);
	return err;
}

/* @param live  also delete a live SA, not only a larval one */
static int take_out(struct cygnet_db *db, const struct cygnet_sa_id *id, bool live)
{
	struct slots slots = pool_sas(db);
	struct cygnet_sa *sa;

	lock_take(db);
	sa = sad_find(db, id);
	if (sa && !live && load_relaxed(&sa->state) != CYGNET_SLOT_LARVAL)
		sa = NULL;
	if (sa) {
		unpublish(db, sa);
		retire(db, sa);
		pool_reclaim(db, &slots, 4);
	}
	lock_release(db);
	return sa ? 0 : -ENOENT;
}

EXPORT int cygnet_sa_delete(struct cygnet_db *db, const struct cygnet_sa_id *id)
{
	return take_out(db, id, true);
}

EXPORT int cygnet_spi_release(struct cygnet_db *db, const struct cygnet_sa_id *id)
{
	return take_out(db, id, false);
}

EXPORT bool cygnet_spi_reserved(struct cygnet_db *db, const struct cygnet_sa_id *id)
{
	struct cygnet_sa *sa;
	bool reserved;

	lock_take(db);
	sa = sad_find(db, id);
	reserved = sa && load_relaxed(&sa->state) == CYGNET_SLOT_LARVAL;
	lock_release(db);
	return reserved;
}

EXPORT int cygnet_sa_query(struct cygnet_db *db, const struct cygnet_sa_id *id,
			   struct cygnet_sa_usage *usage)
{
	struct cygnet_sa *sa;

	lock_take(db);
	sa = sad_find(db, id);
	if (sa && load_relaxed(&sa->state) != CYGNET_SLOT_LIVE)
		sa = NULL;
	if (sa)
		*usage = (struct cygnet_sa_usage){
			.bytes = load_relaxed(&sa->bytes),
			.packets = load_relaxed(&sa->packets),
			.use_time = load_relaxed(&sa->use_time),
			.seq = load_relaxed(&sa->seq),
			.replay_drops = load_relaxed(&sa->replay_drops),
			.auth_drops = load_relaxed(&sa->auth_drops),
		};
	lock_release(db);
	return sa ? 0 : -ENOENT;
}

void sad_mark(struct cygnet_db *db, uint8_t *mark)
{
	for (uint32_t b = 0; b <= db->sa_mask; b++) {
		struct cygnet_sa *sa = follow(db, &db->sa_table[b]);

		/* A slot that is marked already means a loop in a damaged chain. */
		for (; sa && !mark[cygnet_sa_index(db, sa)]; sa = follow(db, &sa->next))
			mark[cygnet_sa_index(db, sa)] = 1;
	}
}

void sad_finish_move(struct cygnet_db *db, uint8_t *mark)
{
	uint32_t index = ref_index(db->header->moving, db->geometry.sas);

	if (index != CYGNET_NONE && !mark[index] &&
	    load_relaxed(&db->sas[index].state) == CYGNET_SLOT_LIVE) {
		publish(db, &db->sas[index]);
		mark[index] = 1;
	}
	store_release(&db->header->moving, 0);
}

void sad_forget(struct cygnet_db *db)
{
	for (uint32_t b = 0; b <= db->sa_mask; b++)
		if (load_relaxed(&db->sa_table[b]))
			store_release(&db->sa_table[b], 0);
}

EXPORT uint32_t cygnet_sa_index(const struct cygnet_db *db, const struct cygnet_sa *sa)
{
	return (uint32_t)(sa - db->sas);
}

EXPORT struct cygnet_sa *cygnet_sa_at(struct cygnet_db *db, uint32_t index)
{
	return index < db->geometry.sas ? &db->sas[index] : NULL;
}

EXPORT struct cygnet_sa *cygnet_sa_get(struct cygnet_db *db, uint32_t index, uint32_t generation)
{
	struct cygnet_sa *sa = cygnet_sa_at(db, index);

	if (!sa || load_acquire(&sa->state) != CYGNET_SLOT_LIVE || sa->generation != generation)
		return NULL;
	return sa;
}

static void copy_live(const struct cygnet_sa *sa, struct cygnet_sa *copy)
{
	memcpy(copy, sa, offsetof(struct cygnet_sa, cipher_key));
	memset(copy->cipher_key, 0, sizeof(copy->cipher_key));
	memset(copy->auth_key, 0, sizeof(copy->auth_key));
	memcpy(&copy->seq, &sa->seq, sizeof(*sa) - offsetof(struct cygnet_sa, seq));
}

/* Copy only the id of a reserved SPI: a writer may be filling in the other fields. */
static void copy_larval(const struct cygnet_sa *sa, struct cygnet_sa *copy)
{
	*copy = (struct cygnet_sa){
		.state = CYGNET_SLOT_LARVAL,
		.generation = sa->generation,
		.spi = sa->spi,
		.flags = CYGNET_SA_INBOUND,
		.replay_block = CYGNET_NONE,
		.proto = sa->proto,
		.path[0] = {.dst = cygnet_sa_path(sa)->dst, .af = cygnet_sa_path(sa)->af},
	};
}

EXPORT bool cygnet_sa_snapshot(struct cygnet_db *db, uint32_t index, struct cygnet_sa *copy)
{
	const struct cygnet_sa *sa = cygnet_sa_at(db, index);
	uint32_t state, generation, path;

	if (!sa)
		return false;
	do {
		generation = load_acquire(&sa->generation);
		state = load_acquire(&sa->state);
		path = load_acquire(&sa->path_index);
		if (state == CYGNET_SLOT_LIVE)
			copy_live(sa, copy);
		else if (state == CYGNET_SLOT_LARVAL)
			copy_larval(sa, copy);
		else
			return false;
		read_barrier();
	} while (load_relaxed(&sa->path_index) != path);
	return load_relaxed(&sa->generation) == generation && load_relaxed(&sa->state) == state;
}
