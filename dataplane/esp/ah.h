/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ah.h
 * AH (RFC 4302) in tunnel and transport mode: what happens to one packet before and after
 * the crypto device, as esp.h has it for ESP. While the device has the packet, what routers
 * may change is zero (ah_mutable.h), and the ICV is behind the packet, where ESP has its own.
 */
#ifndef CYGNETD_AH_H
#define CYGNETD_AH_H

#include "esp/esp.h"

/** AH up to its ICV. */
struct ah_header {
	uint8_t next;		/* protocol of what follows */
	uint8_t len;		/* of AH, in words of four bytes, less two */
	rte_be16_t reserved;	/* the ICV covers it, that is all */
	rte_be32_t spi, seq;
} __rte_packed;

/** Bytes of an AH that we make: for AES-GMAC (RFC 4543, 4) with an IV in front of the ICV,
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

/** All of the packet is authenticated, and nothing is encrypted. @param total  bytes */
static inline void ah_describe(const struct session *s, struct esp_job *job, unsigned int total)
{
	job->text_at = 0;
	job->text_len = 0;
	job->auth_at = 0;
	job->auth_len = (uint16_t)(total + ah_hidden(s));
	job->icv_at = (uint16_t)(total + ah_hidden(s));
}

/**
 * Put AH into a packet (data at its IP header) and describe what the device is to do.
 * @param seq  reserved with cygnet_sa_reserve_seq()
 * @return DROP_NONE or a drop reason
 */
enum drop_reason ah_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa,
				const struct session *s, uint64_t seq, struct esp_job *job);
/** After the device: the packet is what goes out. */
void ah_out_finish(struct rte_mbuf *m, const struct session *s);

/**
 * Describe what the device is to do with a received packet (data at its IP header,
 * packet()->esp, where AH is, and ->seq set).
 * @return DROP_NONE or a drop reason
 */
enum drop_reason ah_in_prepare(struct rte_mbuf *m, const struct session *s, struct esp_job *job);
/**
 * After the device found the packet authentic: take AH off, in tunnel mode with the header
 * around it. What was inside is checked.
 * @return DROP_NONE or a drop reason
 */
enum drop_reason ah_in_finish(struct rte_mbuf *m, const struct cygnet_sa *sa,
			      const struct session *s);

#endif
