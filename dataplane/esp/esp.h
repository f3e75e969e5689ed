/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp.h
 * ESP (RFC 4303), plain or in UDP (RFC 3948): processing of one packet before and after the crypto
 * device.
 */
#ifndef CYGNETD_ESP_H
#define CYGNETD_ESP_H

#include "base/drop.h"
#include "cygnet.h"
#include "esp/esp_tail.h"
#include "esp/session.h"
#include "ip/packet.h"

/** A job of a crypto device. Offsets and lengths are bytes of the packet. */
struct esp_job {
	uint8_t iv[16];
	uint8_t aad[32];	    /* including the space that CCM needs in front */
	uint16_t text_at, text_len; /* encrypted or decrypted range; empty without a cipher */
	uint16_t auth_at, auth_len; /* range covered by the ICV; unused with an AEAD */
	uint16_t icv_at;	    /* offset of the ICV */
	uint8_t reserved[6];
};
_Static_assert(sizeof(struct esp_job) == 64, "a job in an array is one cache line");

/** Bytes of a packet that stay in front of ESP or AH: its headers in transport mode, else 0. */
unsigned int esp_out_kept(struct rte_mbuf *m, const struct session *s);
/**
 * The size of a packet after protection by ESP or AH, including an outer IP header.
 * @param kept   esp_out_kept()
 * @param inner  bytes of packet
 */
unsigned int esp_out_size(const struct session *s, const struct cygnet_path *path,
			  unsigned int kept, unsigned int inner);
/** The largest packet whose protected form fits into mtu bytes. */
unsigned int esp_out_mtu(const struct session *s, const struct cygnet_path *path, unsigned int kept,
			 unsigned int mtu);

/**
 * Encapsulate a packet (data at its IP header) and describe the job for the device.
 * @param seq  reserved with cygnet_sa_reserve_seq()
 * @return DROP_NONE or a drop reason
 */
enum drop_reason esp_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa, struct session *s,
				 uint64_t seq, struct esp_job *job);
/** esp_out_prepare() in tunnel mode with a valid session.front. */
enum drop_reason esp_out_tunnel(struct rte_mbuf *m, const struct session *s, uint64_t seq,
				struct esp_job *job);
/** After the device: complete the packet for transmission. */
void esp_out_finish(struct rte_mbuf *m, const struct session *s);

/**
 * Describe the job for a received packet (data at its outer IP header,
 * packet()->esp and ->seq set).
 * @return DROP_NONE or a drop reason
 */
enum drop_reason esp_in_prepare(struct rte_mbuf *m, const struct session *s, struct esp_job *job);
/**
 * After the device has authenticated and decrypted the packet: remove all headers and the trailer
 * around the inner packet, which is checked (RFC 4303, 3.4.4; ECN by RFC 6040).
 * @return DROP_NONE, DROP_DUMMY or a drop reason
 */
enum drop_reason esp_in_finish(struct rte_mbuf *m, const struct cygnet_sa *sa,
			       const struct session *s);
/** esp_in_finish() for known offsets.
 * @param esp     offset of the ESP header
 * @param hidden  bytes between ciphertext and ICV that were not sent */
enum drop_reason esp_in_decapsulate(struct rte_mbuf *m, const struct cygnet_sa *sa,
				    const struct session *s, unsigned int esp, unsigned int hidden);

/** Assign a received ESP packet (data at its outer IP header, no options) to its session. */
static inline void esp_in_identify(struct rte_mbuf *m, struct session *s)
{
	struct packet *p = packet(m);

	p->esp = packet_family(m) == AF_INET6 ? sizeof(struct rte_ipv6_hdr)
					      : sizeof(struct rte_ipv4_hdr);
	p->session = s;
	p->sa = s->sa;
	p->generation = s->generation;
}

#endif
