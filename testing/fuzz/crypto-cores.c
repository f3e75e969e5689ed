/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker with a crypto core, and a device that fails some of the packets. Each step takes two bytes of the
 * input: packets arrive, the core runs a batch, the worker has a turn, or the device begins or ceases to fail.
 */
#include <dlfcn.h>
#include <errno.h>

#include "base/sadb.h"
#include "crypto/core.h"
#include "gateway.h"
#include "worker_fixture.h"

#define STEPS	96u
#define PACKETS 100u /* all of them fit into the worker's tx at once */

unsigned int fuzz_workers = 1, fuzz_crypto_cores = 1;

static uint64_t last_seq[2];
static unsigned int every, count; /* each such packet fails; 0: none */

void fuzz_set_up(void)
{
}

/* In place of DPDK's. A packet fails before anything is done to it. */
uint32_t rte_cryptodev_sym_cpu_crypto_process(uint8_t id, void *session,
					      union rte_crypto_sym_ofs ofs,
					      struct rte_crypto_sym_vec *vec)
{
	static uint32_t (*process)(uint8_t, void *, union rte_crypto_sym_ofs,
				   struct rte_crypto_sym_vec *);

	if (!process)
		*(void **)&process = dlsym(RTLD_NEXT, "rte_cryptodev_sym_cpu_crypto_process");
	for (uint32_t i = 0; i < vec->num; i++) {
		struct rte_crypto_sym_vec one = {
			.num = 1,
			.src_sgl = vec->src_sgl + i,
			.iv = vec->iv + i,
			.aad = vec->aad + i,
			.digest = vec->digest + i,
			.status = vec->status + i,
		};

		if (every && ++count % every == 0)
			vec->status[i] = EINVAL;
		else
			process(id, session, ofs, &one);
	}
	return 0;
}

static struct rte_mbuf *packet_of(uint8_t choice)
{
	const struct tunnel *t = choice & 1 ? &fuzz_cbc : &fuzz_gcm;
	uint64_t *seq = &last_seq[choice & 1];
	unsigned int len = 64 + 16 * (choice >> 3);
	uint8_t ip[GATEWAY_FRAME];

	if (choice & 4) {
		gateway_inner(ip, t, choice & 2, true, len, 1, 64);
		return gateway_frame(ip, len, GATEWAY_LAN);
	}
	len = gateway_sealed(ip, t, choice & 2, len, 1, ++*seq);
	/* A forged one. */
	if (choice >> 3 == 31)
		ip[len - 1] ^= 1;
	return gateway_frame(ip, len, GATEWAY_WAN);
}

static void receive(unsigned int n, uint8_t choice)
{
	struct rte_mbuf *m[8];

	for (unsigned int i = 0; i < n; i++)
		m[i] = packet_of((uint8_t)((choice & ~1) | ((choice ^ i) & 1)));
	worker_receive(fuzz_worker, m, n, choice & 4 ? GATEWAY_LAN : GATEWAY_WAN);
}

/* The devices serve as at the start; sessions that have failed on one are asked for again. */
static void mend(void)
{
	every = 0;
	engines_lost = 0;
	memset(&fuzz_worker->crypto.failover, 0, sizeof(fuzz_worker->crypto.failover));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned int packets = 0;

	cygnet_reader_quiescent(sadb, 0);
	for (unsigned int i = 0; i < STEPS && in.left; i++) {
		uint8_t step = input_byte(&in), choice = input_byte(&in);
		unsigned int n = 1 + (step >> 5);

		if ((step & 3) == 1) {
			crypto_core_turn(0);
		} else if ((step & 3) == 2) {
			fuzz_turn(fuzz_worker);
		} else if ((step & 3) == 3) {
			every = choice % 8;
		} else if (packets + n <= PACKETS) {
			receive(n, choice);
			packets += n;
		}
	}
	fuzz_settle(FUZZ_ALL);
	mend();
	return 0;
}
