/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "operations.h"

static struct rte_mempool *ops, *packets;

const struct suite esp_template = {
	.cipher = OCL_CIPHER_AES_CBC,
	.auth = OCL_AUTH_HMAC_SHA1,
	.digest_len = DIGEST,
	.iv_len = 16,
};

void operations_open(void)
{
	ops = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, 4 * DESCRIPTORS - 1, 0,
					16 + MAX_AAD, SOCKET_ID_ANY);
	packets = rte_pktmbuf_pool_create("packets", 4 * DESCRIPTORS - 1, 0, 0,
					  LEN + 64 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	CHECK(ops && packets);
}

void operations_close(void)
{
	CHECK(rte_mempool_full(ops) && rte_mempool_full(packets));
}

struct rte_crypto_op *make_op(void *session)
{
	struct rte_crypto_op *op = rte_crypto_op_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	struct rte_mbuf *m = rte_pktmbuf_alloc(packets);
	uint8_t *data;

	CHECK(op && m);
	data = (uint8_t *)rte_pktmbuf_append(m, LEN + DIGEST);
	rnd_fill(data, LEN + DIGEST);
	rnd_fill(rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET), 16);
	rte_crypto_op_attach_sym_session(op, session);
	op->sym->m_src = m;
	op->sym->cipher.data.length = LEN;
	op->sym->auth.data.length = LEN;
	op->sym->auth.digest.data = data + LEN;
	return op;
}

void free_op(struct rte_crypto_op *op)
{
	rte_pktmbuf_free(op->sym->m_src);
	rte_crypto_op_free(op);
}

void take_all(const struct device *dev, uint16_t qp, struct rte_crypto_op **back, unsigned int n)
{
	unsigned int done = 0, got;
	uint64_t deadline = 0;

	while (done < n) {
		got = rte_cryptodev_dequeue_burst(dev->id, qp, back + done, n - done);
		expect_progress(got, &deadline);
		done += got;
	}
}

void round_trip(const struct device *dev, uint16_t qp, void *session, unsigned int n,
		enum rte_crypto_op_status status)
{
	struct rte_crypto_op *sent[64], *back[64];

	for (unsigned int i = 0; i < n; i++)
		sent[i] = make_op(session);
	CHECK(rte_cryptodev_enqueue_burst(dev->id, qp, sent, n) == n);
	take_all(dev, qp, back, n);
	for (unsigned int i = 0; i < n; i++) {
		CHECK(back[i] == sent[i]);
		CHECK(back[i]->status == status);
		free_op(back[i]);
	}
}
