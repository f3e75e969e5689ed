/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "base/log.h"
#include "crypto/device/algorithm.h"
#include "crypto/device/engine.h"
#include "crypto/device/known_packets.h"
#include "crypto/device/op.h"
#include "crypto/device/selftest.h"
#include "crypto/device/sessions.h"
#include "crypto/device/suite.h"
#include "ip/packet.h"

#define WAIT_S 10u /* for a batch */
#define QUEUE  0u
#define FORGED 5u /* each such packet of a batch, from the first one on */

const struct known_answer *selftest_answers = known_answers;

/* The packets of one algorithm in one direction. */
struct trial {
	const struct engine_device *device;
	struct rte_mempool *ops;
	unsigned int n; /* packets of the batch */
	struct rte_mbuf *m[KNOWN_PACKETS];
	struct esp_job job[KNOWN_PACKETS];
	int status[KNOWN_PACKETS];		     /* 0 or -errno; -EBADMSG: not authentic */
	uint8_t body[KNOWN_PACKETS][KNOWN_BODY_MAX]; /* of the outbound packets */
	struct session s[KNOWN_SAS];
	void *crypto[KNOWN_SAS]; /* sessions of the device */
	bool lost;		 /* the device did not return a packet */
};

static const struct session *session_of(const struct trial *t, unsigned int i)
{
	return &t->s[i % KNOWN_SAS];
}

/* --- processing --- */

/* The packets of SA k in one call. */
static void by_call(struct trial *t, unsigned int k)
{
	const union rte_crypto_sym_ofs ofs = {.raw = t->s[k].chain_ofs};
	bool aead = t->s[k].form == SUITE_AEAD;
	struct rte_crypto_va_iova_ptr iv[KNOWN_PACKETS], aad[KNOWN_PACKETS], icv[KNOWN_PACKETS];
	struct rte_crypto_vec range[KNOWN_PACKETS];
	struct rte_crypto_sgl sgl[KNOWN_PACKETS];
	int32_t status[KNOWN_PACKETS];
	struct rte_crypto_sym_vec vec = {.src_sgl = sgl,
					 .iv = iv,
					 .aad = aad,
					 .digest = icv,
					 .status = status};

	for (unsigned int i = k; i < t->n; i += KNOWN_SAS, vec.num++) {
		uint8_t *data = rte_pktmbuf_mtod(t->m[i], uint8_t *);
		struct esp_job *job = &t->job[i];

		range[vec.num].base = data + (aead ? job->text_at : job->auth_at);
		range[vec.num].len = aead ? job->text_len : job->auth_len;
		sgl[vec.num] = (struct rte_crypto_sgl){.vec = &range[vec.num], .num = 1};
		iv[vec.num].va = job->iv;
		aad[vec.num].va = job->aad;
		icv[vec.num].va = data + job->icv_at;
		status[vec.num] = EIO;
	}
	if (vec.num)
		rte_cryptodev_sym_cpu_crypto_process(t->device->id, t->crypto[k], ofs, &vec);
	for (unsigned int i = k; i < t->n; i += KNOWN_SAS)
		t->status[i] = -status[i / KNOWN_SAS];
}

static int status_of(const struct rte_crypto_op *op)
{
	switch (op->status) {
	case RTE_CRYPTO_OP_STATUS_SUCCESS:
		return 0;
	case RTE_CRYPTO_OP_STATUS_AUTH_FAILED:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

/* Empty bursts flush the device, as those of a worker do. @return operations that the device took */
static unsigned int enqueue(const struct trial *t, struct rte_crypto_op **op, unsigned int sent)
{
	return rte_cryptodev_enqueue_burst(t->device->id, QUEUE, op + sent,
					   (uint16_t)(t->n - sent));
}

/* @return operations that the device has returned */
static unsigned int dequeue(struct trial *t, struct rte_crypto_op *const *op)
{
	struct rte_crypto_op *done[KNOWN_PACKETS];
	unsigned int n = rte_cryptodev_dequeue_burst(t->device->id, QUEUE, done, KNOWN_PACKETS);

	for (unsigned int d = 0; d < n; d++)
		for (unsigned int i = 0; i < t->n; i++)
			if (done[d] == op[i])
				t->status[i] = status_of(done[d]);
	return n;
}

static int exchange(struct trial *t, struct rte_crypto_op **op)
{
	uint64_t end = rte_get_tsc_cycles() + WAIT_S * rte_get_tsc_hz();
	unsigned int sent = 0, back = 0;

	while (back < t->n && rte_get_tsc_cycles() < end) {
		sent += enqueue(t, op, sent);
		back += dequeue(t, op);
	}
	t->lost = back < sent;
	return back < t->n ? -ETIMEDOUT : 0;
}

static int by_queue(struct trial *t)
{
	struct rte_crypto_op *op[KNOWN_PACKETS];
	int err = 0;

	for (unsigned int i = 0; i < t->n; i++) {
		t->status[i] = -EIO;
		/* As many as there are packets. */
		op[i] = crypto_op_alloc(t->ops, t->m[i], &t->job[i], session_of(t, i)->form);
		rte_crypto_op_attach_sym_session(op[i], t->crypto[i % KNOWN_SAS]);
	}
	err = exchange(t, op);
	/* The device may still write into operations that it has not returned. */
	for (unsigned int i = 0; i < t->n && !t->lost; i++)
		crypto_op_free(op[i]);
	return err;
}

static int process(struct trial *t, bool call)
{
	if (!call)
		return by_queue(t);
	for (unsigned int k = 0; k < KNOWN_SAS; k++)
		by_call(t, k);
	return 0;
}

/* --- answers --- */

static void write_all(struct trial *t, bool inbound)
{
	for (unsigned int i = 0; i < t->n; i++) {
		rte_pktmbuf_reset(t->m[i]);
		known_write(t->m[i], session_of(t, i), i, inbound ? t->body[i] : NULL, &t->job[i]);
	}
}

/* @param hex  all of it */
static bool is_hex(const uint8_t *at, unsigned int len, const char *hex)
{
	char text[2 * KNOWN_ICV_MAX + 1] = "";

	for (unsigned int i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", at[i]);
	return strcmp(text, hex) == 0;
}

static uint64_t fnv1a(uint64_t hash, const uint8_t *data, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		hash = (hash ^ data[i]) * 0x100000001b3u;
	return hash;
}

static int seal(struct trial *t, bool call, const struct known_answer *answer)
{
	uint64_t hash = 0xcbf29ce484222325u;
	int err;

	write_all(t, false);
	err = process(t, call);
	for (unsigned int i = 0; i < t->n && !err; i++) {
		const struct session *s = session_of(t, i);
		unsigned int len = known_body(t->m[i], s, i, t->body[i]);

		err = t->status[i];
		hash = fnv1a(hash, t->body[i], len);
		if (!err && !i && !is_hex(t->body[i] + len - s->icv_len, s->icv_len, answer->icv))
			err = -EBADMSG;
	}
	if (!err && t->n == KNOWN_PACKETS && hash != answer->all)
		err = -EBADMSG;
	return err;
}

/* @param forged  each FORGED-th packet has a wrong ICV */
static int open_all(struct trial *t, bool call, bool forged)
{
	int err;

	write_all(t, true);
	for (unsigned int i = 0; i < t->n && forged; i += FORGED)
		known_forge(t->m[i], &t->job[i]);
	err = process(t, call);
	for (unsigned int i = 0; i < t->n && !err; i++) {
		if (forged && i % FORGED == 0)
			err = t->status[i] == -EBADMSG ? 0 : -EBADMSG;
		else
			err = t->status[i];
		if (!err && !(forged && i % FORGED == 0) &&
		    !known_text_is(t->m[i], session_of(t, i), i))
			err = -EBADMSG;
	}
	return err;
}

/* One packet, which fills no lanes, and all. */
static int answer_both(struct trial *t, const struct known_answer *answer, bool inbound, bool call)
{
	static const unsigned int batches[] = {1, KNOWN_PACKETS};
	int err = 0;

	for (unsigned int b = 0; b < RTE_DIM(batches) && !err; b++) {
		t->n = batches[b];
		if (!inbound)
			err = seal(t, call, answer);
		else if (!(err = open_all(t, call, false)))
			err = open_all(t, call, true);
	}
	return err;
}

/* --- the test --- */

static void free_sessions(struct trial *t, unsigned int n)
{
	/* The device may still use the sessions of packets that it has not returned. */
	for (unsigned int k = 0; k < n && !t->lost; k++)
		rte_cryptodev_sym_session_free(t->device->id, t->crypto[k]);
}

/* @return 0; -ENOTSUP: the device does not offer the algorithm; -ENODEV: it offers it, but does not set up all
 *	   SAs of it */
static int make_sessions(struct trial *t, const struct known_answer *answer, bool inbound)
{
	unsigned int device = (unsigned int)(t->device - engine_device);
	struct cygnet_sa sa;
	int err;

	for (unsigned int k = 0; k < KNOWN_SAS; k++) {
		known_sa(&sa, answer, k, inbound);
		err = session_describe(&t->s[k], &sa) ? session_crypto(&sa, device, &t->crypto[k])
						      : -ENOTSUP;
		if (!err)
			continue;
		free_sessions(t, k);
		return err == -EIO || (err == -ENOTSUP && k) ? -ENODEV : err;
	}
	return 0;
}

/* Test one direction by queue and, if workers call the device, by call. */
static int one_way(struct trial *t, const struct known_answer *answer, bool inbound)
{
	int err = make_sessions(t, answer, inbound);

	if (err)
		return err;
	for (int call = 0; call <= (t->device->at_once && t->s[0].by_call) && !err; call++)
		err = answer_both(t, answer, inbound, call);
	free_sessions(t, KNOWN_SAS);
	return err;
}

/* @return false: the device is not to be used */
static bool test_one(struct trial *t, struct engine_device *device,
		     const struct known_answer *answer)
{
	char name[ALGORITHM_NAME];
	int err = one_way(t, answer, false);

	if (!err)
		err = one_way(t, answer, true);
	if (!err || err == -ENOTSUP)
		return true;
	algorithm_text(answer->cipher, answer->key_len, answer->auth, name);
	if (err == -ENODEV) {
		device->denied[answer->cipher] |= (uint8_t)(1u << answer->auth);
		log_warn("engine %s: %s offers %s but does not set it up: other engines "
			 "serve it",
			 device->engine, device->name, name);
		return true;
	}
	log_error("engine %s: %s fails the self-test of %s (%s): it is not used", device->engine,
		  device->name, name, err == -EBADMSG ? "wrong answer" : strerror(-err));
	return false;
}

_Static_assert(CYGNET_AUTHS <= 8, "a bit each in engine_device.denied");

/* @return false: no memory */
static bool make_packets(struct trial *t, unsigned int device, struct rte_mempool **packets)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "selftest_m%u", device);
	*packets = rte_pktmbuf_pool_create(name, KNOWN_PACKETS, 0, PACKET_PRIVATE,
					   RTE_PKTMBUF_HEADROOM + KNOWN_PACKET_MAX, SOCKET_ID_ANY);
	snprintf(name, sizeof(name), "selftest_op%u", device);
	t->ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, KNOWN_PACKETS, 0,
					   sizeof(struct esp_job), SOCKET_ID_ANY);
	return *packets && t->ops && rte_pktmbuf_alloc_bulk(*packets, t->m, KNOWN_PACKETS) == 0;
}

bool selftest(unsigned int device)
{
	struct trial *t = calloc(1, sizeof(*t));
	struct rte_mempool *packets = NULL;
	bool passed;

	if (!t)
		return false;
	t->device = &engine_device[device];
	passed = make_packets(t, device, &packets);
	if (!passed)
		log_error("no memory for the self-test of %s: %s", t->device->name,
			  rte_strerror(rte_errno));
	for (unsigned int i = 0; i < KNOWN_ANSWERS && passed; i++)
		passed = test_one(t, &engine_device[device], &selftest_answers[i]);
	/* The device may still write into packets that it has not returned: its pools stay. */
	if (!t->lost) {
		rte_pktmbuf_free_bulk(t->m, KNOWN_PACKETS);
		rte_mempool_free(packets);
		rte_mempool_free(t->ops);
	}
	free(t);
	return passed;
}
