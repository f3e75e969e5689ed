/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "base/log.h"
#include "crypto/device/algorithm.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "crypto/device/selftest.h"
#include "crypto/device/sessions.h"
#include "crypto/device/suite.h"
#include "esp/esp_common.h"
#include "ip/packet.h"

#define WAIT_S	   10u /* for one packet */
#define QUEUE	   0u
#define PACKET_MAX (sizeof(struct rte_esp_hdr) + 16 + KNOWN_TEXT + KNOWN_ICV_MAX)

const struct known_answer *selftest_answers = known_answers;

/* One packet in one session. */
struct trial {
	const struct engine_device *device;
	struct rte_mempool *ops;
	struct rte_mbuf *m;
	struct session s;
	void *crypto; /* session of the device */
	struct esp_job job;
	bool lost; /* the device did not return the packet */
};

static void make_sa(struct cygnet_sa *sa, const struct known_answer *answer, bool inbound)
{
	*sa = (struct cygnet_sa){
		.proto = IPPROTO_ESP,
		.path[0].af = AF_INET,
		.mode = CYGNET_TUNNEL,
		.cipher = answer->cipher,
		.auth = answer->auth,
		.flags = inbound ? CYGNET_SA_INBOUND : 0,
	};
	for (unsigned int key = 0; suite_lengths(sa, key) && sa->cipher_key_len != answer->key_len;)
		key++;
	for (unsigned int i = 0; i < CYGNET_KEY_MAX; i++) {
		sa->cipher_key[i] = (uint8_t)(7 * i + 1);
		sa->auth_key[i] = (uint8_t)(11 * i + 2);
	}
}

static unsigned int header_len(const struct session *s)
{
	return (unsigned int)sizeof(struct rte_esp_hdr) + s->iv_len;
}

static unsigned int packet_len(const struct session *s)
{
	return header_len(s) + KNOWN_TEXT + s->icv_len;
}

static void write_plain(uint8_t *data, const struct session *s)
{
	const struct rte_esp_hdr esp = {rte_cpu_to_be_32(KNOWN_SPI), rte_cpu_to_be_32(KNOWN_SEQ)};

	memcpy(data, &esp, sizeof(esp));
	esp_iv_write(data + sizeof(esp), s, KNOWN_SEQ);
	for (unsigned int i = 0; i < KNOWN_TEXT; i++)
		data[header_len(s) + i] = (uint8_t)(3 * i + 5);
	memset(data + header_len(s) + KNOWN_TEXT, 0, s->icv_len);
}

static bool is_plain(const uint8_t *text)
{
	for (unsigned int i = 0; i < KNOWN_TEXT; i++)
		if (text[i] != (uint8_t)(3 * i + 5))
			return false;
	return true;
}

/* As esp_out.c and esp_in.c do it. */
static void describe(struct trial *t)
{
	const uint8_t *wire_iv = rte_pktmbuf_mtod_offset(t->m, uint8_t *,
							 sizeof(struct rte_esp_hdr));
	const struct session *s = &t->s;

	memset(&t->job, 0, sizeof(t->job));
	if (s->inbound || s->salted)
		esp_nonce(t->job.iv, s, wire_iv);
	esp_aad(t->job.aad, s, rte_cpu_to_be_32(KNOWN_SPI), KNOWN_SEQ);
	esp_describe(s, &t->job, 0, KNOWN_TEXT, s->inbound || s->salted,
		     header_len(s) + KNOWN_TEXT);
}

static int by_call(const struct trial *t)
{
	uint8_t *data = rte_pktmbuf_mtod(t->m, uint8_t *);
	bool aead = t->s.form == SUITE_AEAD;
	struct esp_job job = t->job;
	struct rte_crypto_vec range = {
		.base = data + (aead ? job.text_at : job.auth_at),
		.len = aead ? job.text_len : job.auth_len,
	};
	struct rte_crypto_sgl sgl = {.vec = &range, .num = 1};
	struct rte_crypto_va_iova_ptr iv = {.va = job.iv}, aad = {.va = job.aad},
				      icv = {.va = data + job.icv_at};
	int32_t status = EIO;
	struct rte_crypto_sym_vec vec = {
		.num = 1,
		.src_sgl = &sgl,
		.iv = &iv,
		.aad = &aad,
		.digest = &icv,
		.status = &status,
	};
	const union rte_crypto_sym_ofs ofs = {.raw = t->s.chain_ofs};

	rte_cryptodev_sym_cpu_crypto_process(t->device->id, t->crypto, ofs, &vec);
	return -status;
}

/* Empty bursts flush the device, as those of a worker do. */
static bool wait_for(const struct trial *t)
{
	uint64_t end = rte_get_tsc_cycles() + WAIT_S * rte_get_tsc_hz();
	struct rte_crypto_op *op;

	while (!rte_cryptodev_dequeue_burst(t->device->id, QUEUE, &op, 1)) {
		if (rte_get_tsc_cycles() > end)
			return false;
		rte_cryptodev_enqueue_burst(t->device->id, QUEUE, &op, 0);
	}
	return true;
}

static int by_queue(struct trial *t)
{
	struct rte_crypto_op *op = crypto_op_alloc(t->ops, t->m, &t->job, t->s.form);
	int err;

	if (!op)
		return -ENOMEM;
	rte_crypto_op_attach_sym_session(op, t->crypto);
	if (rte_cryptodev_enqueue_burst(t->device->id, QUEUE, &op, 1) != 1) {
		crypto_op_free(op);
		return -EIO;
	}
	if (!wait_for(t)) {
		t->lost = true;
		return -ETIMEDOUT;
	}
	err = op->status == RTE_CRYPTO_OP_STATUS_SUCCESS       ? 0
	      : op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? -EBADMSG
							       : -EIO;
	crypto_op_free(op);
	return err;
}

static int process(struct trial *t, bool call)
{
	describe(t);
	return call ? by_call(t) : by_queue(t);
}

/* @param hex  all of it */
static bool is_hex(const uint8_t *at, unsigned int len, const char *hex)
{
	char text[2 * KNOWN_ICV_MAX + 1] = "";

	for (unsigned int i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", at[i]);
	return strcmp(text, hex) == 0;
}

static int seal(struct trial *t, bool call, const char *icv)
{
	const uint8_t *made = rte_pktmbuf_mtod_offset(t->m, uint8_t *,
						      header_len(&t->s) + KNOWN_TEXT);
	int err;

	write_plain(rte_pktmbuf_mtod(t->m, uint8_t *), &t->s);
	err = process(t, call);
	if (err)
		return err;
	return is_hex(made, t->s.icv_len, icv) ? 0 : -EBADMSG;
}

/* @param sealed  the packet; its last byte is that of the ICV */
static int open_both(struct trial *t, bool call, uint8_t *sealed)
{
	uint8_t *data = rte_pktmbuf_mtod(t->m, uint8_t *);
	unsigned int len = packet_len(&t->s);
	int err;

	memcpy(data, sealed, len);
	err = process(t, call);
	if (err)
		return err;
	if (!is_plain(data + header_len(&t->s)))
		return -EBADMSG;
	memcpy(data, sealed, len);
	data[len - 1] ^= 1;
	return process(t, call) == -EBADMSG ? 0 : -EBADMSG;
}

/* Test one direction by queue and, if workers call the device, by call. */
static int one_way(struct trial *t, const struct known_answer *answer, bool inbound,
		   uint8_t *sealed)
{
	int device = (int)(t->device - engine_device), err;
	struct cygnet_sa sa;

	make_sa(&sa, answer, inbound);
	if (!session_describe(&t->s, &sa))
		return -ENOTSUP;
	err = session_crypto(&sa, (unsigned int)device, &t->crypto);
	if (err == -EIO)
		return -ENODEV;
	if (err)
		return err;
	rte_pktmbuf_reset(t->m);
	rte_pktmbuf_append(t->m, (uint16_t)packet_len(&t->s));
	for (int call = 0; call <= (t->device->at_once && t->s.by_call) && !err; call++)
		err = inbound ? open_both(t, call, sealed) : seal(t, call, answer->icv);
	if (!err && !inbound)
		memcpy(sealed, rte_pktmbuf_mtod(t->m, void *), packet_len(&t->s));
	if (!t->lost)
		rte_cryptodev_sym_session_free(t->device->id, t->crypto);
	return err;
}

/* @return false: the device is not to be used */
static bool test_one(struct trial *t, struct engine_device *device,
		     const struct known_answer *answer)
{
	uint8_t sealed[PACKET_MAX];
	char name[ALGORITHM_NAME];
	int err = one_way(t, answer, false, sealed);

	if (!err)
		err = one_way(t, answer, true, sealed);
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

bool selftest(unsigned int device)
{
	struct trial t = {.device = &engine_device[device]};
	struct rte_mempool *packets;
	char name[RTE_MEMPOOL_NAMESIZE];
	bool passed;

	/* The pools of a device that does not return its packet stay. */
	snprintf(name, sizeof(name), "selftest_m%u", device);
	packets = rte_pktmbuf_pool_create(name, 1, 0, PACKET_PRIVATE, RTE_PKTMBUF_HEADROOM + 1024,
					  SOCKET_ID_ANY);
	snprintf(name, sizeof(name), "selftest_op%u", device);
	t.ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, 1, 0,
					  sizeof(struct esp_job), SOCKET_ID_ANY);
	t.m = packets ? rte_pktmbuf_alloc(packets) : NULL;
	passed = t.ops && t.m;
	if (!passed)
		log_error("no memory for the self-test of %s: %s", t.device->name,
			  rte_strerror(rte_errno));
	for (unsigned int i = 0; i < KNOWN_ANSWERS && passed; i++)
		passed = test_one(&t, &engine_device[device], &selftest_answers[i]);
	/* The device may still write into packets that it has not returned. */
	if (t.lost)
		return false;
	rte_pktmbuf_free(t.m);
	rte_mempool_free(packets);
	rte_mempool_free(t.ops);
	return passed;
}
