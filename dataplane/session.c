/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mempool.h>

#include "control.h"
#include "engine.h"
#include "esp.h"
#include "log.h"
#include "session.h"

#define MAX_SESSIONS 16384u

struct session_table {
	struct rte_mempool *pool;
	uint32_t slots, next_sweep;
	uint32_t high; /* no session at or above */
	struct session *slot[];
};

static const enum rte_crypto_cipher_algorithm cipher_algorithm[CYGNET_CIPHERS] = {
	[CYGNET_CIPHER_AES_CBC] = RTE_CRYPTO_CIPHER_AES_CBC,
};

static const enum rte_crypto_auth_algorithm auth_algorithm[CYGNET_AUTHS] = {
	[CYGNET_AUTH_HMAC_SHA1] = RTE_CRYPTO_AUTH_SHA1_HMAC,
	[CYGNET_AUTH_HMAC_SHA256] = RTE_CRYPTO_AUTH_SHA256_HMAC,
	[CYGNET_AUTH_HMAC_SHA384] = RTE_CRYPTO_AUTH_SHA384_HMAC,
	[CYGNET_AUTH_HMAC_SHA512] = RTE_CRYPTO_AUTH_SHA512_HMAC,
};

struct session_table *sessions_create(unsigned int worker, uint32_t slots)
{
	struct session_table *table = calloc(1, sizeof(*table) + slots * sizeof(table->slot[0]));
	uint32_t n = slots < MAX_SESSIONS ? slots : MAX_SESSIONS;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (!table)
		return NULL;
	snprintf(name, sizeof(name), "session%u", worker);
	table->slots = slots;
	table->pool = rte_mempool_create(name, n, sizeof(struct session), 0, 0, NULL, NULL, NULL,
					 NULL, SOCKET_ID_ANY,
					 RTE_MEMPOOL_F_SP_PUT | RTE_MEMPOOL_F_SC_GET);
	if (!table->pool) {
		free(table);
		return NULL;
	}
	return table;
}

static void release(struct session_table *table, uint32_t index)
{
	struct session *s = table->slot[index];

	if (s->crypto) /* its memory, with what the driver made of the key, is zeroed */
		rte_cryptodev_sym_session_free(engine_device[s->device].id, s->crypto);
	explicit_bzero(s, sizeof(*s));
	rte_mempool_put(table->pool, s);
	table->slot[index] = NULL;
}

void sessions_free(struct session_table *table)
{
	if (!table)
		return;
	for (uint32_t i = 0; i < table->high; i++)
		if (table->slot[i])
			release(table, i);
	rte_mempool_free(table->pool);
	free(table);
}

static void aead_xform(struct rte_crypto_sym_xform *x, const struct cygnet_sa *sa, bool inbound)
{
	x->type = RTE_CRYPTO_SYM_XFORM_AEAD;
	x->aead.op = inbound ? RTE_CRYPTO_AEAD_OP_DECRYPT : RTE_CRYPTO_AEAD_OP_ENCRYPT;
	x->aead.algo = RTE_CRYPTO_AEAD_AES_GCM;
	x->aead.key.data = sa->cipher_key;
	x->aead.key.length = sa->cipher_key_len;
	x->aead.iv.offset = ESP_IV_OFFSET;
	x->aead.iv.length = 12;
	x->aead.digest_length = sa->icv_len;
	x->aead.aad_length = sa->flags & CYGNET_SA_ESN ? 12 : 8;
}

/* Encrypt, then authenticate; inbound the other way round. @return the first */
static struct rte_crypto_sym_xform *chain_xforms(struct rte_crypto_sym_xform x[2],
						 const struct cygnet_sa *sa, bool inbound)
{
	struct rte_crypto_sym_xform *cipher = &x[inbound], *auth = &x[!inbound];

	cipher->type = RTE_CRYPTO_SYM_XFORM_CIPHER;
	cipher->cipher.op = inbound ? RTE_CRYPTO_CIPHER_OP_DECRYPT : RTE_CRYPTO_CIPHER_OP_ENCRYPT;
	cipher->cipher.algo = cipher_algorithm[sa->cipher];
	cipher->cipher.key.data = sa->cipher_key;
	cipher->cipher.key.length = sa->cipher_key_len;
	cipher->cipher.iv.offset = ESP_IV_OFFSET;
	cipher->cipher.iv.length = 16;
	auth->type = RTE_CRYPTO_SYM_XFORM_AUTH;
	auth->auth.op = inbound ? RTE_CRYPTO_AUTH_OP_VERIFY : RTE_CRYPTO_AUTH_OP_GENERATE;
	auth->auth.algo = auth_algorithm[sa->auth];
	auth->auth.key.data = sa->auth_key;
	auth->auth.key.length = sa->auth_key_len;
	auth->auth.digest_length = sa->icv_len;
	x[0].next = &x[1];
	return x;
}

static bool can_serve(const struct cygnet_sa *sa)
{
	/* Lengths come from shared memory: what the code below relies on. */
	if (sa->mode > CYGNET_TRANSPORT || sa->proto != IPPROTO_ESP || sa->af != AF_INET ||
	    sa->icv_len < 8 || sa->icv_len > ESP_ICV_MAX ||
	    sa->cipher_key_len + sa->salt_len > CYGNET_KEY_MAX ||
	    sa->auth_key_len > CYGNET_KEY_MAX)
		return false;
	if (sa->cipher == CYGNET_CIPHER_AES_GCM)
		return sa->auth == CYGNET_AUTH_NONE && sa->salt_len == 4;
	return sa->cipher == CYGNET_CIPHER_AES_CBC && sa->auth < CYGNET_AUTHS &&
	       auth_algorithm[sa->auth];
}

/* Whether a device says that it does this. One that does not is not asked: some
 * leak a little with every session that they refuse. */
static bool device_does(uint8_t device, const struct rte_crypto_sym_xform *x)
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
	can = rte_cryptodev_sym_capability_get(device, &what);
	if (!can)
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

/* The first device, in the order of preference, that takes the SA. */
static void create_crypto(struct session *s, const struct cygnet_sa *sa)
{
	struct rte_crypto_sym_xform x[2] = {0};

	if (s->aead)
		aead_xform(&x[0], sa, s->inbound);
	else
		chain_xforms(x, sa, s->inbound);
	for (unsigned int i = 0; i < engine_devices && !s->crypto; i++) {
		if (!device_does(engine_device[i].id, &x[0]) ||
		    (x[0].next && !device_does(engine_device[i].id, &x[1])))
			continue;
		s->device = (uint8_t)i;
		s->crypto = rte_cryptodev_sym_session_create(engine_device[i].id, x,
							     engine_device[i].sessions);
	}
}

static void fill(struct session *s, const struct cygnet_sa *sa, uint32_t index)
{
	*s = (struct session){
		.sa = index,
		.generation = sa->generation,
		.inbound = sa->flags & CYGNET_SA_INBOUND,
		.esn = sa->flags & CYGNET_SA_ESN,
		.transport = sa->mode == CYGNET_TRANSPORT,
		.aead = sa->cipher == CYGNET_CIPHER_AES_GCM,
		.icv_len = sa->icv_len,
	};
	s->iv_len = s->aead ? 8 : 16;
	s->align = s->aead ? 4 : 16;
	if (!can_serve(sa))
		return;
	if (s->aead)
		memcpy(&s->salt, sa->cipher_key + sa->cipher_key_len, sizeof(s->salt));
	create_crypto(s, sa);
}

static struct session *create(struct session_table *table, const struct cygnet_sa *sa,
			      uint32_t index)
{
	struct session *s;

	if (rte_mempool_get(table->pool, (void **)&s))
		return NULL;
	fill(s, sa, index);
	s->retry = control_now + 1;
	table->slot[index] = s;
	if (index >= table->high)
		table->high = index + 1;
	if (!s->crypto)
		log_warn("SA %08x: no crypto device here serves %s with %s",
			 rte_be_to_cpu_32(sa->spi), cygnet_cipher_name(sa->cipher),
			 cygnet_auth_name(sa->auth));
	return s;
}

struct session *session_get(struct session_table *table, const struct cygnet_sa *sa,
			    uint32_t index)
{
	struct session *s;

	if (index >= table->slots)
		return NULL;
	s = table->slot[index];
	if (s && (s->generation != sa->generation || (!s->crypto && control_now >= s->retry))) {
		if (s->in_flight)
			return NULL;
		release(table, index);
		s = NULL;
	}
	if (!s)
		s = create(table, sa, index);
	return s && s->crypto ? s : NULL;
}

void sessions_sweep(struct session_table *table)
{
	uint32_t n = table->high / 64 + 1;

	while (n--) {
		uint32_t i = table->next_sweep++;
		struct session *s;

		if (i >= table->high) {
			table->next_sweep = 0;
			return;
		}
		s = table->slot[i];
		if (s && !s->in_flight && !cygnet_sa_get(sadb, s->sa, s->generation))
			release(table, i);
	}
}
