/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file verdict.h
 * Which packets an SA accepts after crypto, and their counters: for packets of known flows
 * (fast/finish.c) and for the others (finish.c). Each function counts, and frees a packet that it
 * refuses. The worker of the SA, in a turn in which the SA was there.
 */
#ifndef CYGNETD_VERDICT_H
#define CYGNETD_VERDICT_H

#include "base/sadb.h"
#include "esp/ah_mutable.h"
#include "esp/esp.h"
#include "esp/sa_count.h"
#include "path/worker/audit.h"

/** Whether a packet's number may be new (RFC 4303, 3.4.3), before it is known to be authentic. A
 * number above the highest seen is new; for others ask the replay window. */
static inline bool verdict_may_be_new(struct cygnet_sa *sa, uint64_t seq)
{
	if (seq > sa->seq || cygnet_replay_check(sadb, sa, seq))
		return true;
	sa_count_replay(sa);
	return false;
}

/** What a protected packet came as. */
struct received_as {
	struct cygnet_sa *sa;
	uint64_t seq;
	unsigned int interface;
	bool ah;
};

/** Drop a packet whose outer header is there, and audit that. */
static inline void verdict_drop(struct worker *w, struct rte_mbuf *m, const struct received_as *as,
				enum drop_reason reason)
{
	packet(m)->interface = (uint8_t)as->interface;
	audit_drop(w, m, reason, as->sa, as->seq);
}

/** The same, before ah_in_finish() or esp_in_finish(). */
static inline void verdict_drop_hidden(struct worker *w, struct rte_mbuf *m,
				       const struct received_as *as, enum drop_reason reason)
{
	if (as->ah)
		ah_mutable_restore(m, packet(m)->esp);
	verdict_drop(w, m, as, reason);
}

/** Enter the number of a packet that is authentic: the same may have been under way twice.
 * @return false: it has been dropped */
static inline bool verdict_is_new(struct worker *w, struct rte_mbuf *m,
				  const struct received_as *as)
{
	if (cygnet_replay_update(sadb, as->sa, as->seq))
		return true;
	sa_count_replay(as->sa);
	verdict_drop_hidden(w, m, as, DROP_REPLAY);
	return false;
}

/** Count the inner packet of an authentic packet.
 * @param reason  of esp_in_decapsulate(), esp_in_finish() or ah_in_finish()
 * @param kept    bytes in front that were never protected: esp_out_kept()
 * @return false: it goes no further, and is the caller's no more */
static inline bool verdict_decrypted(struct worker *w, struct rte_mbuf *m,
				     const struct received_as *as, enum drop_reason reason,
				     unsigned int kept)
{
	if (reason == DROP_NONE) {
		sa_count(as->sa, rte_pktmbuf_data_len(m) - kept);
		return true;
	}
	if (reason == DROP_DUMMY) {
		sa_count(as->sa, 0);
		w->stats->dummies++;
		rte_pktmbuf_free(m);
	} else {
		verdict_drop(w, m, as, reason);
	}
	return false;
}

/** Drop a packet that the device has not done. @param status  not RTE_CRYPTO_OP_STATUS_SUCCESS */
static inline void verdict_failed(struct worker *w, struct rte_mbuf *m,
				  const struct received_as *as, enum rte_crypto_op_status status)
{
	if (status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED) {
		sa_count_forged(as->sa);
		verdict_drop_hidden(w, m, as, DROP_AUTH_FAILED);
	} else if (status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED) {
		drop(w, m, DROP_ENGINE_FULL); /* no device took it */
	} else {
		drop(w, m, DROP_ENGINE_FAILED);
	}
}

#endif
