/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "esp/esp_common.h"
#include "esp/lifetime.h"
#include "esp/outer.h"
#include "path/fast/fast.h"
#include "esp/ordinary.h"
#include "path/worker/send_order.h"
#include "path/worker/tx.h"
#include "path/worker/verdict.h"

static struct received_as received_as(const struct crypto_batch *b, unsigned int i)
{
	return (struct received_as){
		.sa = b->s[i]->route.sa,
		.seq = b->seq[i],
		.interface = b->interface[i],
		.ah = b->s[i]->ah,
	};
}

/* Fill in the struct packet of a packet that another device is to have, or that waits. */
static void describe(struct worker *w, unsigned int i)
{
	struct crypto_batch *b = &w->crypto.batch;

	packet_received(w, b->m[i], b->interface[i]);
	esp_in_identify(b->m[i], b->s[i]);
	packet(b->m[i])->seq = b->seq[i];
	packet(b->m[i])->seen = w->seen;
}

/* A received packet that the device has failed is as it came, unless the device had begun. Another
 * device has it by a queue, which expects the ICV behind the text. */
static void retry(struct worker *w, unsigned int i)
{
	struct crypto_batch *b = &w->crypto.batch;
	const struct session *s = b->s[i];
	struct rte_mbuf *m = b->m[i];
	enum drop_reason reason;

	if (esn_len(s))
		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - s->icv_len),
		       b->icv[i], s->icv_len);
	describe(w, i);
	reason = esp_in_prepare(m, s, &b->job[i]);
	if (reason == DROP_NONE)
		crypto_retry(&w->crypto, m, &b->job[i], b->device[i]);
	else
		drop(w, m, reason);
}

static void failed(struct worker *w, unsigned int i, enum rte_crypto_op_status status)
{
	struct crypto_batch *b = &w->crypto.batch;
	const struct received_as as = received_as(b, i);

	if (status == RTE_CRYPTO_OP_STATUS_ERROR && b->s[i]->inbound)
		retry(w, i);
	else
		verdict_failed(w, b->m[i], &as, status);
}

/* A packet of the SA before this one is with another device. The trailer goes where esp_in_finish()
 * looks for it: fast_batch_fits() says that there is room. */
static void wait_behind(struct worker *w, unsigned int i)
{
	struct crypto_batch *b = &w->crypto.batch;

	describe(w, i);
	rte_pktmbuf_append(b->m[i], (uint16_t)esn_len(b->s[i]));
	crypto_wait(&w->crypto, b->m[i], RTE_CRYPTO_OP_STATUS_SUCCESS);
}

static void finish_inbound(struct worker *w, unsigned int i)
{
	struct crypto_batch *b = &w->crypto.batch;
	const struct received_as as = received_as(b, i);
	const struct session *s = b->s[i];
	struct rte_mbuf *m = b->m[i];
	unsigned int esp = outer_len(packet_family(m) == AF_INET6);

	/* Packets before it in this batch may have used the SA up. */
	if (!is_ordinary(s, 0) && !lifetime_allows(as.sa)) {
		drop(w, m, DROP_SA_EXPIRED);
		return;
	}
	if (verdict_is_new(w, m, &as) &&
	    verdict_decrypted(w, m, &as, esp_in_decapsulate(m, as.sa, s, esp, 0), 0))
		fast_decrypted_add(w, m, s, b->interface[i], false);
}

void fast_finish(struct worker *w, unsigned int from, unsigned int n)
{
	const struct crypto_batch *b = &w->crypto.batch;
	bool inbound = b->s[from]->inbound;
	unsigned int bytes = 0, good = 0;

	for (unsigned int i = from; i < from + n; i++) {
		if (unlikely(!crypto_vectors_done(&b->v, i))) {
			send_nothing(w, b->s[i], b->seq[i]);
			failed(w, i, crypto_batch_status(&w->crypto, i));
			continue;
		}
		good++;
		bytes += rte_pktmbuf_data_len(b->m[i]);
		if (b->s[i]->shared)
			send_in_order(w, b->m[i], b->interface[i], b->s[i], b->seq[i]);
		else if (!inbound)
			tx_frame(w, b->m[i], b->interface[i]);
		else if (order_waits(b->s[i]))
			wait_behind(w, i);
		else
			finish_inbound(w, i);
	}
	if (!inbound) {
		w->stats->encapsulated += good;
		bytes -= good * b->s[from]->route.link.len; /* packets, not frames */
	}
	crypto_count(&w->crypto, b->device[from], inbound, good, bytes);
}
