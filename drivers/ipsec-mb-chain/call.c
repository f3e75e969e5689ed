/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "call.h"
#include "device.h"
#include "ipsec-mb/operation.h"

/* The batch of this thread. The TLS model initial-exec needs no call to find the variable, and
 * LeakSanitizer finds it, unlike variables in TLS blocks of libraries that are loaded later. */
static __thread struct chain_batch *own __attribute__((tls_model("initial-exec")));
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_end; /* has the same pointer; its destructor runs when the thread ends */
static int no_key;	     /* errno of pthread_key_create() */

static void free_batch(void *batch)
{
	own = NULL;
	chain_batch_close(batch);
	free(batch);
}

static void make_key(void)
{
	no_key = pthread_key_create(&at_end, free_batch);
}

static int make_own(const struct mb_driver *driver)
{
	struct chain_batch *batch;
	int err;

	pthread_once(&once, make_key);
	if (no_key)
		return no_key;
	batch = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*batch));
	if (batch == NULL)
		return ENOMEM;
	memset(batch, 0, sizeof(*batch));
	err = -chain_batch_open(batch, driver);
	if (err) {
		free(batch);
		return err;
	}
	err = pthread_setspecific(at_end, batch);
	if (err) {
		free_batch(batch);
		return err;
	}
	own = batch;
	return 0;
}

static int add(struct chain_batch *batch, const struct chain_session *s,
	       union rte_crypto_sym_ofs ofs, const struct rte_crypto_sym_vec *vec, uint32_t i)
{
	const struct rte_crypto_vec *piece = vec->src_sgl[i].vec;
	uint32_t auth = ofs.ofs.auth.head + ofs.ofs.auth.tail;
	uint32_t outside = ofs.ofs.cipher.head + ofs.ofs.cipher.tail;
	struct chain_text text = {.icv = vec->digest[i].va};

	if (vec->src_sgl[i].num != 1)
		return ENOTSUP;
	if (!piece->base || piece->len < auth)
		return EINVAL;
	text.start = (uint8_t *)piece->base + ofs.ofs.auth.head;
	text.len = piece->len - auth;
	if (s->kind.cipher != IMB_CIPHER_NULL) {
		if (piece->len < outside || ofs.ofs.cipher.head < ofs.ofs.auth.head)
			return EINVAL;
		text.head = ofs.ofs.cipher.head - ofs.ofs.auth.head;
		text.cipher_len = piece->len - outside;
		text.iv = vec->iv[i].va;
	}
	return chain_batch_add(batch, s, &text);
}

/* Process n texts from index from on, at most CHAIN_BATCH. @return number of texts without error */
static uint32_t process(struct chain_batch *batch, const struct chain_session *s,
			union rte_crypto_sym_ofs ofs, struct rte_crypto_sym_vec *vec, uint32_t from,
			uint32_t n)
{
	uint32_t good = 0, done = 0;

	for (uint32_t i = from; i < from + n; i++)
		vec->status[i] = add(batch, s, ofs, vec, i);
	chain_batch_work(batch);
	for (uint32_t i = from; i < from + n; i++) {
		if (vec->status[i])
			continue;
		vec->status[i] = batch->status[done++];
		good += !vec->status[i];
	}
	return good;
}

uint32_t chain_call(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session,
		    union rte_crypto_sym_ofs ofs, struct rte_crypto_sym_vec *vec)
{
	const struct mb_device *device = dev->data->dev_private;
	const struct chain_session *s = CRYPTODEV_GET_SYM_SESS_PRIV(session);
	uint32_t good = 0;
	int err;

	if (vec->dest_sgl && vec->dest_sgl != vec->src_sgl)
		return mb_call_refuse(vec, ENOTSUP);
	err = own ? 0 : make_own(device->driver);
	if (err)
		return mb_call_refuse(vec, err);
	for (uint32_t i = 0; i < vec->num; i += CHAIN_BATCH)
		good += process(own, s, ofs, vec, i, RTE_MIN(vec->num - i, CHAIN_BATCH));
	return good;
}
