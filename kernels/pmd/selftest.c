/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_common.h>

#include "chunk.h"
#include "emu.h"
#include "keys.h"
#include "log.h"
#include "selftest.h"

#define KEY_LENS  3
#define CHAINS	  (OCL_CIPHER_AES_GCM * OCL_AUTHS * 4)
#define AEADS	  ((OCL_CIPHERS - OCL_CIPHER_AES_GCM) * 2)
#define MAX_CASES (KEY_LENS * (CHAINS + AEADS))
#define MAX_LEN	  352
#define RECORD	  (sizeof(struct ocl_record) + 16 + MAX_LEN + OCL_MAX_DIGEST)
#define AAD_LEN	  12
#define SECONDS	  120 /* a first compilation on a busy machine included */

static uint8_t pattern(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 24;
}

/* The algorithm's length of key; aes_len if it takes several. */
static uint32_t cipher_key_len(uint32_t cipher, uint32_t aes_len)
{
	return cipher == OCL_CIPHER_3DES_CBC		? 24
	       : cipher == OCL_CIPHER_CHACHA20_POLY1305 ? 32
							: aes_len;
}

static uint32_t auth_key_len(uint32_t auth, uint32_t aes_len)
{
	return auth == OCL_AUTH_AES_XCBC ? 16 : auth == OCL_AUTH_AES_GMAC ? aes_len : 64;
}

static int make_session(struct ocl_session *session, uint32_t label, uint32_t aes_len,
			uint32_t *state)
{
	uint32_t cipher = OCL_LABEL_CIPHER(label), auth = OCL_LABEL_AUTH(label);
	uint8_t key[64];
	int err = 0;

	for (uint32_t i = 0; i < sizeof(key); i++)
		key[i] = pattern(state);
	memset(session, 0, sizeof(*session));
	session->label = label;
	session->nonce_len = 11 + aes_len % 3;
	if (cipher != OCL_CIPHER_NONE)
		err = keys_set_cipher(session, key, cipher_key_len(cipher, aes_len));
	if (!err && auth != OCL_AUTH_NONE)
		err = keys_set_auth(session, key, auth_key_len(auth, aes_len));
	if (auth != OCL_AUTH_NONE || cipher >= OCL_CIPHER_AES_GCM)
		session->digest_len = 16;
	return err;
}

/* A record with a header of AAD_LEN bytes in front of the cipher's range. */
static void make_record(struct ocl_chunk *chunk, uint32_t index, uint32_t label, uint32_t *state)
{
	uint32_t offset = chunk->used, cipher = OCL_LABEL_CIPHER(label), len = 16 * (index % 20);
	struct ocl_record *r;
	u8 *data = chunk->host + offset + sizeof(*r);

	if (cipher != OCL_CIPHER_AES_CBC && cipher != OCL_CIPHER_3DES_CBC && len)
		len -= index % 16;
	r = ocl_chunk_add(chunk, label, len, RECORD);
	for (uint32_t i = 0; i < RECORD - sizeof(*r); i++)
		data[i] = pattern(state);
	r->session = index;
	r->area = OCL_AREA_CHUNK;
	r->base = offset + sizeof(*r);
	r->auth_off = 16 - AAD_LEN + (ocl_is_aead(cipher) ? r->base : 0);
	r->auth_len = AAD_LEN + (OCL_LABEL_AUTH(label) ? len : 0);
	r->cipher_off = 16;
	r->cipher_len = len;
	r->digest_area = OCL_AREA_CHUNK;
	r->digest_off = r->base + 16 + MAX_LEN;
	for (uint32_t i = 0; i < RTE_DIM(r->iv); i++)
		r->iv[i] = pattern(state) << 8 | pattern(state);
	/* So that a staged path transfers the whole chunk back. */
	ocl_chunk_copy_back(chunk, r->result, (u8 *)r, offset, 0);
}

struct cases {
	struct ocl_chunk *chunk;
	struct ocl_session *sessions;
	uint32_t n, state;
};

static int add_case(struct cases *cases, uint32_t label, uint32_t aes_len)
{
	int err;

	/* The two do not go together. */
	if (OCL_LABEL_AUTH(label) == OCL_AUTH_AES_GMAC && OCL_LABEL_CIPHER(label))
		return 0;
	err = make_session(&cases->sessions[cases->n], label, aes_len, &cases->state);
	if (!err)
		make_record(cases->chunk, cases->n++, label, &cases->state);
	return err;
}

/* Everything that a label can say. */
static int add_cases(struct cases *cases, uint32_t aes_len)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < CHAINS; i++)
		err = add_case(cases, OCL_LABEL(i / 4 / OCL_AUTHS, i / 4 % OCL_AUTHS, i % 4),
			       aes_len);
	for (uint32_t i = 0; !err && i < AEADS; i++)
		err = add_case(cases, OCL_LABEL(OCL_CIPHER_AES_GCM + i / 2, 0, i % 2), aes_len);
	return err;
}

static uint32_t make_cases(struct ocl_chunk *chunk, struct ocl_session *sessions)
{
	struct cases cases = {.chunk = chunk, .sessions = sessions, .state = 1};

	for (uint32_t k = 0; k < KEY_LENS; k++) {
		if (add_cases(&cases, 16 + 8 * k))
			return 0;
	}
	return cases.n;
}

static int wait_for(struct ocl_chunk *chunk, enum ocl_state state)
{
	const struct timespec nap = {.tv_nsec = 200000};

	for (int i = 0; i < SECONDS * 5000; i++) {
		if (state == OCL_LAUNCHED)
			state = ocl_chunk_poll(chunk);
		if (state != OCL_LAUNCHED) {
			ocl_state_move(&chunk->state, state);
			return state == OCL_DONE ? 0 : -EIO;
		}
		nanosleep(&nap, NULL);
	}
	ocl_device_fail(chunk->dev, "no answer to the self-test", 0);
	return -EIO;
}

/* Offsets of records, in the order of their making. */
static uint32_t record_at(uint32_t index)
{
	return index * RECORD;
}

static int compare(const struct ocl_chunk *chunk, const struct ocl_session *sessions, u8 *expected,
		   uint32_t n)
{
	u8 *const areas[OCL_AREAS] = {[OCL_AREA_CHUNK] = expected};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t offset = record_at(i), status = emu_packet(sessions, areas, offset, 1);

		if (status != ocl_chunk_result(chunk, i) ||
		    memcmp(expected + offset, chunk->host + offset, RECORD)) {
			OCL_LOG(ERR, "%s computes wrong: self-test %u, label %#x", chunk->dev->name,
				i, sessions[i].label);
			return -EIO;
		}
	}
	return 0;
}

static int run(struct ocl_chunk *chunk, cl_mem table, cl_command_queue queue,
	       struct ocl_session *sessions, u8 *expected)
{
	cl_int err;
	uint32_t n;
	int ret;

	ocl_chunk_open(chunk, false);
	n = make_cases(chunk, sessions);
	if (n == 0)
		return -EIO;
	memcpy(expected, chunk->host, chunk->used);
	err = clEnqueueWriteBuffer(queue, table, CL_TRUE, 0, n * sizeof(*sessions), sessions, 0,
				   NULL, NULL);
	if (err != CL_SUCCESS) {
		OCL_LOG(ERR, "%s takes no data: OpenCL error %d", chunk->dev->name, err);
		return -EIO;
	}
	ocl_chunk_close(chunk);
	ret = wait_for(chunk, ocl_chunk_launch(chunk, NULL, true));
	if (!ret)
		ret = compare(chunk, sessions, expected, n);
	return ret;
}

/* So many bins that none is left over, and that packets get all their lanes. */
static int init_chunk(struct ocl_chunk *chunk, struct ocl_device *dev,
		      const struct ocl_memory *memory, struct ocl_sched *sched, cl_mem table)
{
	const struct ocl_chunk_params params = {
		.dev = dev,
		.memory = memory,
		.sched = sched,
		.sessions = table,
		.records = MAX_CASES,
		.bytes = MAX_CASES * RECORD,
	};

	sched->bins = MAX_CASES;
	sched->items = MAX_CASES * sched->lanes * sched->bin_size;
	return ocl_chunk_init(chunk, &params);
}

int ocl_selftest(struct ocl_device *dev, const struct ocl_memory *memory,
		 const struct ocl_sched *sched)
{
	struct ocl_session *sessions = calloc(MAX_CASES, sizeof(*sessions));
	u8 *expected = aligned_alloc(16, RTE_ALIGN_CEIL(MAX_CASES * RECORD, 16));
	struct ocl_sched own = *sched;
	struct ocl_chunk chunk = {0};
	cl_command_queue queue = NULL;
	cl_mem table = NULL;
	cl_int err = CL_OUT_OF_HOST_MEMORY;
	int ret = -EIO;

	if (sessions && expected)
		table = clCreateBuffer(dev->context, CL_MEM_READ_ONLY,
				       MAX_CASES * sizeof(*sessions), NULL, &err);
	if (err == CL_SUCCESS)
		queue = clCreateCommandQueue(dev->context, dev->id, 0, &err);
	if (err != CL_SUCCESS)
		OCL_LOG(ERR, "no self-test on %s: OpenCL error %d", dev->name, err);
	else
		ret = init_chunk(&chunk, dev, memory, &own, table);
	if (!ret)
		ret = run(&chunk, table, queue, sessions, expected);
	ocl_chunk_free(&chunk);
	if (queue && !ocl_device_lost(dev))
		clReleaseCommandQueue(queue);
	if (table && !ocl_device_lost(dev))
		clReleaseMemObject(table);
	free(expected);
	free(sessions);
	return ret;
}
