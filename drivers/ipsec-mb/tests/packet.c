/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "packet.h"

static struct rte_mempool *packets;

void packets_open(unsigned int n, uint16_t room)
{
	packets = rte_pktmbuf_pool_create("packets", n, 0, 0, room, SOCKET_ID_ANY);
	CHECK(packets);
}

void packets_close(void)
{
	CHECK(rte_mempool_full(packets));
	rte_mempool_free(packets);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static struct rte_mbuf *segment(const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(packets);
	char *to;

	CHECK(m);
	/* A random alignment, if the buffer has room. */
	m->data_off = rnd_below(RTE_MIN(64u, m->buf_len - len + 1u));
	to = rte_pktmbuf_append(m, len);
	CHECK(to);
	memcpy(to, data, len);
	return m;
}

/* @param cuts  offset of each segment, and of the end */
static struct rte_mbuf *cut(const uint8_t *data, const uint32_t *cuts, unsigned int segments)
{
	struct rte_mbuf *first = segment(data, cuts[1]);

	for (unsigned int i = 1; i < segments; i++)
		CHECK(rte_pktmbuf_chain(first, segment(data + cuts[i], cuts[i + 1] - cuts[i])) ==
		      0);
	return first;
}

struct rte_mbuf *packet_make(const uint8_t *data, uint32_t len, unsigned int segments)
{
	uint32_t cuts[SEGMENTS + 1] = {0};

	for (unsigned int i = 1; i < segments; i++)
		cuts[i] = rnd_below(len + 1);
	qsort(cuts, segments, sizeof(cuts[0]), by_number);
	cuts[segments] = len;
	return cut(data, cuts, segments);
}

struct rte_mbuf *packet_make_even(const uint8_t *data, uint32_t len, unsigned int segments)
{
	uint32_t cuts[SEGMENTS + 1];

	for (unsigned int i = 0; i <= segments; i++)
		cuts[i] = i * len / segments;
	return cut(data, cuts, segments);
}

bool packet_holds(const struct rte_mbuf *m, const uint8_t *data, uint32_t len)
{
	if (m->pkt_len != len)
		return false;
	for (; m; data += m->data_len, m = m->next) {
		if (memcmp(rte_pktmbuf_mtod(m, uint8_t *), data, m->data_len))
			return false;
	}
	return true;
}

struct rte_crypto_sgl packet_range(const struct rte_mbuf *m, uint32_t offset, uint32_t len,
				   struct rte_crypto_vec *vec)
{
	struct rte_crypto_sgl sgl = {.vec = vec};

	for (; m; m = m->next) {
		uint32_t skip = RTE_MIN(offset, m->data_len), n = RTE_MIN(len, m->data_len - skip);

		offset -= skip;
		len -= n;
		vec[sgl.num++] = (struct rte_crypto_vec){
			.base = rte_pktmbuf_mtod_offset(m, uint8_t *, skip),
			.len = n,
		};
	}
	CHECK(!len);
	return sgl;
}
