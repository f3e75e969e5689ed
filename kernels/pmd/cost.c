/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <rte_common.h>

#include "chunk.h"
#include "cost.h"
#include "log.h"

#define SHORT	128 /* bytes; a multiple of every cipher's block */
#define LONG	1024
#define RECORD	(sizeof(struct ocl_record) + LONG + OCL_MAX_DIGEST)
#define REPEATS 3
#define SECONDS 60

/* The session of a kind: keys are all zero, time does not depend on them. */
static void make_session(struct ocl_session *session, uint32_t kind)
{
	uint32_t auth = kind / OCL_FLAGS % OCL_AUTHS;

	memset(session, 0, sizeof(*session));
	session->label = OCL_LABEL(kind / OCL_FLAGS / OCL_AUTHS, auth, kind % OCL_FLAGS);
	session->rounds = 10;
	session->digest_len = 12;
}

static void fill_bin(struct ocl_chunk *chunk, uint32_t kind, uint32_t label, uint32_t len)
{
	for (uint32_t i = 0; i < chunk->max_records; i++) {
		uint32_t offset = chunk->used;
		struct ocl_record *r = ocl_chunk_add(chunk, label, len, RECORD);

		r->session = kind;
		r->area = OCL_AREA_CHUNK;
		r->base = offset + sizeof(*r);
		r->cipher_off = 0;
		r->cipher_len = len;
		r->auth_off = ocl_is_aead(OCL_LABEL_CIPHER(label)) ? r->base : 0;
		r->auth_len = ocl_is_aead(OCL_LABEL_CIPHER(label)) ? 12 : len;
		r->digest_area = OCL_AREA_CHUNK;
		r->digest_off = r->base + LONG;
		memset(r->iv, 0, sizeof(r->iv));
	}
}

/* Whether no session can have that label. */
static bool is_nonsense(uint32_t label)
{
	return ocl_is_aead(OCL_LABEL_CIPHER(label)) &&
	       (OCL_LABEL_AUTH(label) || OCL_LABEL_AUTH_FIRST(label));
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Nanoseconds from the launch of one bin to its end; negative if it failed. */
static float time_bin(struct ocl_chunk *chunk, uint32_t kind, uint32_t label, uint32_t len)
{
	enum ocl_state state;
	double start, now;

	ocl_chunk_open(chunk, false);
	fill_bin(chunk, kind, label, len);
	ocl_chunk_close(chunk);
	start = seconds();
	state = ocl_chunk_launch(chunk, NULL, true);
	while (state == OCL_LAUNCHED && seconds() - start <= SECONDS)
		state = ocl_chunk_poll(chunk);
	now = seconds();
	if (state == OCL_LAUNCHED) {
		ocl_device_fail(chunk->dev, "no answer to a measurement", 0);
		state = OCL_LOST;
	}
	ocl_state_move(&chunk->state, state);
	ocl_chunk_reset(chunk);
	return state == OCL_DONE ? (now - start) * 1e9 : -1;
}

static float shortest(struct ocl_chunk *chunk, uint32_t kind, uint32_t label, uint32_t len)
{
	float best = time_bin(chunk, kind, label, len);

	for (int i = 1; i < REPEATS && best >= 0; i++) {
		float t = time_bin(chunk, kind, label, len);

		best = RTE_MIN(best, t);
	}
	return best;
}

static int measure(struct ocl_chunk *chunk, struct ocl_sched *sched,
		   const struct ocl_session *sessions)
{
	for (uint32_t kind = 0; kind < OCL_KINDS; kind++) {
		struct ocl_cost *cost = &sched->cost[kind];
		float few, many;

		if (is_nonsense(sessions[kind].label))
			continue;
		few = shortest(chunk, kind, sessions[kind].label, SHORT);
		many = shortest(chunk, kind, sessions[kind].label, LONG);
		if (few < 0 || many < 0)
			return -EIO;
		cost->byte = RTE_MAX(many - few, 0.0f) / (LONG - SHORT);
		cost->start = RTE_MAX(few - cost->byte * SHORT, 0.0f);
		OCL_LOG(DEBUG, "label %#x: %.0f ns and %.3f ns a byte", sessions[kind].label,
			cost->start, cost->byte);
	}
	return 0;
}

static int with_table(struct ocl_sched *sched, struct ocl_device *dev,
		      const struct ocl_memory *memory, struct ocl_session *sessions)
{
	struct ocl_sched one = *sched; /* bin */
	struct ocl_chunk_params params = {
		.dev = dev,
		.memory = memory,
		.sched = &one,
		.records = sched->bin_size,
		.bytes = sched->bin_size * RECORD,
	};
	struct ocl_chunk chunk;
	cl_int err;
	int ret;

	one.bins = 1;
	one.lanes = 1;
	one.items = one.bin_size;
	params.sessions = clCreateBuffer(dev->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
					 OCL_KINDS * sizeof(*sessions), sessions, &err);
	if (err != CL_SUCCESS) {
		OCL_LOG(ERR, "%s takes no data: OpenCL error %d", dev->name, err);
		return -EIO;
	}
	ret = ocl_chunk_init(&chunk, &params);
	if (!ret)
		ret = measure(&chunk, sched, sessions);
	ocl_chunk_free(&chunk);
	if (!ocl_device_lost(dev))
		clReleaseMemObject(params.sessions);
	return ret;
}

int ocl_cost_measure(struct ocl_sched *sched, struct ocl_device *dev,
		     const struct ocl_memory *memory)
{
	struct ocl_session *sessions;
	int ret;

	if (sched->level != OCL_SCHED_ALL)
		return 0;
	sessions = calloc(OCL_KINDS, sizeof(*sessions));
	if (sessions == NULL)
		return -ENOMEM;
	for (uint32_t kind = 0; kind < OCL_KINDS; kind++)
		make_session(&sessions[kind], kind);
	ret = with_table(sched, dev, memory, sessions);
	free(sessions);
	return ret;
}
