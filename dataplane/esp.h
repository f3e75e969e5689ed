/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp.h
 * ESP (RFC 4303), plain or in UDP (RFC 3948): what happens to one packet before and
 * after the crypto device.
 */
#ifndef CYGNETD_ESP_H
#define CYGNETD_ESP_H

#include <rte_cryptodev.h>

#include "cygnet.h"
#include "drop.h"
#include "packet.h"
#include "session.h"

#define ESP_ICV_MAX 32
/** All went well: no reason to drop. */
#define ESP_OK (-1)
/** A dummy packet, to be discarded without a word (RFC 4303, 2.6). */
#define ESP_DUMMY (-2)

/** What follows a crypto operation in its mempool element. */
struct esp_op {
	uint8_t iv[16];
	uint8_t aad[32]; /* with what CCM has in front of it */
};
#define ESP_IV_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define ESP_AAD_OFFSET (ESP_IV_OFFSET + offsetof(struct esp_op, aad))

/** Free an operation. Its IV begins with the SA's salt, which is part of the key. */
static inline void esp_op_free(struct rte_crypto_op *op)
{
	memset(rte_crypto_op_ctod_offset(op, uint8_t *, ESP_IV_OFFSET), 0, sizeof(struct esp_op));
	rte_crypto_op_free(op);
}

/** How much of a packet stays in front of ESP: in transport mode its headers, bytes. */
unsigned int esp_out_kept(struct rte_mbuf *m, const struct session *s);
/**
 * The size of a packet once it is protected, outer IP header included.
 * @param kept   esp_out_kept()
 * @param inner  bytes of packet
 */
unsigned int esp_out_size(const struct session *s, const struct cygnet_path *path,
			  unsigned int kept, unsigned int inner);
/** The largest packet whose protected form fits into mtu bytes. */
unsigned int esp_out_mtu(const struct session *s, const struct cygnet_path *path,
			 unsigned int kept, unsigned int mtu);

/**
 * Wrap a packet (data at its IP header) and set up its crypto operation.
 * @param seq  reserved with cygnet_sa_reserve_seq()
 * @return ESP_OK or a drop reason
 */
int esp_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa, const struct session *s,
		    uint64_t seq, struct rte_crypto_op *op);
/** After the device: the packet is what goes out. */
void esp_out_finish(struct rte_mbuf *m, const struct session *s);

/**
 * Set up the crypto operation of a received packet (data at its outer IP header,
 * packet()->esp and ->seq set).
 * @return ESP_OK or a drop reason
 */
int esp_in_prepare(struct rte_mbuf *m, const struct session *s, struct rte_crypto_op *op);
/**
 * After the device authenticated and decrypted: strip everything around the inner
 * packet, which is checked (RFC 4303, 3.4.4; ECN by RFC 6040).
 * @return ESP_OK, ESP_DUMMY or a drop reason
 */
int esp_in_finish(struct rte_mbuf *m, const struct cygnet_sa *sa, const struct session *s);

#endif
