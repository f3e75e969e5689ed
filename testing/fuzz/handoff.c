/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers that hand packets off to the owner of their SA, to the worker of a port, a TAP or a datagram's fragments,
 * while SAs move between them. Each step takes two bytes of the input: a packet arrives at some worker, a worker has
 * half a turn, or an SA begins to move. Workers' turns overlap.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/sadb.h"
#include "gateway.h"
#include "path/worker/move.h"
#include "path/worker/owner.h"
#include "worker_fixture.h"

#define STEPS	96u
#define PACKETS 40u /* that may arrive: all of them fit into the worker's tx at once */

unsigned int fuzz_workers = 3, fuzz_crypto_cores = 0;

static uint64_t last_seq[2];
static bool begun[3];

void fuzz_set_up(void)
{
}

static struct worker *worker_of(uint8_t choice)
{
	return &workers[choice % fuzz_workers];
}

static void arrive(struct worker *w, const uint8_t *ip, unsigned int len, unsigned int port)
{
	struct rte_mbuf *m = gateway_frame(ip, len, port);

	worker_receive(w, &m, 1, port);
}

/* Plaintext for a tunnel, or a fragment of it. */
static void outbound(struct worker *w, uint8_t choice)
{
	const struct tunnel *t = choice & 1 ? &fuzz_cbc : &fuzz_gcm;
	unsigned int len = 48 + 8 * (choice >> 3);
	uint8_t ip[GATEWAY_FRAME];
	uint16_t sum;

	gateway_inner(ip, t, choice & 2 && !(choice & 4), true, len, 1, 64);
	if (choice & 4) {
		ip[6] = choice & 2 ? 0x20 : 0;
		ip[7] = choice & 2 ? 0 : (uint8_t)((len - 20) / 8);
		memset(ip + 10, 0, 2);
		sum = peer_checksum(ip, 20);
		memcpy(ip + 10, &sum, sizeof(sum));
	}
	arrive(w, ip, len, GATEWAY_LAN);
}

/* From the peer of a tunnel: the next packet, or one that has been there. */
static void inbound(struct worker *w, uint8_t choice)
{
	const struct tunnel *t = choice & 1 ? &fuzz_cbc : &fuzz_gcm;
	uint64_t *seq = &last_seq[choice & 1], back = choice >> 5;
	uint8_t ip[GATEWAY_FRAME];
	unsigned int len;

	*seq += !back;
	len = gateway_sealed(ip, t, choice & 2, 64 + 4 * (choice >> 3 & 3), 1,
			     *seq > back ? *seq - back : 1);
	arrive(w, ip, len, GATEWAY_WAN);
}

/* A request for the kernel: an IKE message. */
static void to_kernel(struct worker *w)
{
	static const uint8_t own[] = {192, 0, 2, 1};
	uint16_t ports[] = {htons(500), htons(500), htons(80), 0}, sum;
	uint8_t ip[GATEWAY_FRAME];

	gateway_packet(ip, 2, 1, false, 100, 1, 64);
	memcpy(ip + 16, own, sizeof(own));
	memset(ip + 10, 0, 2);
	sum = peer_checksum(ip, 20);
	memcpy(ip + 10, &sum, sizeof(sum));
	memcpy(ip + 20, ports, sizeof(ports));
	arrive(w, ip, 100, GATEWAY_WAN);
}

static void half_turn(struct worker *w, bool inbox)
{
	bool *is_begun = &begun[w->id];

	if (*is_begun)
		fuzz_end_turn(w);
	else
		fuzz_begin_turn(w, inbox);
	*is_begun = !*is_begun;
}

static void move(uint8_t choice)
{
	const struct tunnel *t = choice & 1 ? &fuzz_cbc : &fuzz_gcm;

	move_begin(cygnet_sa_index(sadb, choice & 2 ? t->in : t->out),
		   (choice >> 2) % fuzz_workers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned int packets = 0;

	cygnet_reader_quiescent(sadb, 0);
	for (unsigned int i = 0; i < STEPS && in.left; i++) {
		uint8_t step = input_byte(&in), choice = input_byte(&in);
		struct worker *w = worker_of(step >> 3);

		if ((step & 7) < 4 && ++packets > PACKETS)
			continue;
		if ((step & 7) < 2)
			outbound(w, choice);
		else if ((step & 7) == 2)
			inbound(w, choice);
		else if ((step & 7) == 3)
			to_kernel(w);
		else if ((step & 7) == 4)
			move(choice);
		else
			half_turn(w, choice & 1);
	}
	for (unsigned int i = 0; i < fuzz_workers; i++)
		if (begun[i])
			half_turn(&workers[i], false);
	fuzz_settle(FUZZ_ALL);
	return 0;
}
