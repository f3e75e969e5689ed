/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ah.h
 * AH (RFC 4302) in tunnel and transport mode: processing of one packet before and after the crypto
 * device, the counterpart of esp.h. While the device has the packet, mutable fields are zero
 * (ah_mutable.h), and the ICV is behind the packet, as in ESP.
 */
#ifndef CYGNETD_AH_H
#define CYGNETD_AH_H

#include "esp/esp.h"

/** AH up to its ICV. */
struct ah_header {
	uint8_t next;	     /* protocol of what follows */
	uint8_t len;	     /* of AH, in words of four bytes, minus two */
	rte_be16_t reserved; /* ignored, but covered by the ICV */
	rte_be32_t spi, seq;
} __attribute__((packed));

/** Bytes of an outbound AH: for AES-GMAC (RFC 4543, 4) with an IV in front of the ICV,
 * and no more padding than IPv4 or IPv6 need (3.3.3.2.1).
 * @param v6  the header in front of it is IPv6's */
static inline unsigned int ah_len(const struct session *s, bool v6)
{
	unsigned int unit = v6 ? 8 : 4;

	return RTE_ALIGN_CEIL((unsigned int)sizeof(struct ah_header) + s->iv_len + s->icv_len,
			      unit);
}

/** Bytes behind the packet that count as part of it: the high half of a 64-bit sequence
 * number, which is not sent (2.5.1). */
static inline unsigned int ah_hidden(const struct session *s)
{
	return s->esn ? sizeof(rte_be32_t) : 0;
}

/** Describe a job that authenticates the whole packet and encrypts nothing. @param total  bytes */
static inline void ah_describe(const struct session *s, struct esp_job *job, unsigned int total)
{
	job->text_at = 0;
	job->text_len = 0;
	job->auth_at = 0;
	job->auth_len = (uint16_t)(total + ah_hidden(s));
	job->icv_at = (uint16_t)(total + ah_hidden(s));
}

/**
 * Insert AH into a packet (data at its IP header) and describe the job for the device.
 * @param seq  reserved with cygnet_sa_reserve_seq()
 * @return DROP_NONE or a drop reason
 */
enum drop_reason ah_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa,
				const struct session *s, uint64_t seq, struct esp_job *job);
/** After the device: complete the packet for transmission. */
void ah_out_finish(struct rte_mbuf *m, const struct session *s);

/**
 * Describe the job for a received packet (data at its IP header,
 * packet()->esp, where AH is, and ->seq set).
 * @return DROP_NONE or a drop reason
 */
enum drop_reason ah_in_prepare(struct rte_mbuf *m, const struct session *s, struct esp_job *job);
/**
 * After the device has verified the ICV: remove AH, in tunnel mode also the outer header. The inner
 * packet is checked.
 * @return DROP_NONE or a drop reason
 */
enum drop_reason ah_in_finish(struct rte_mbuf *m, const struct cygnet_sa *sa,
			      const struct session *s);

#endif
