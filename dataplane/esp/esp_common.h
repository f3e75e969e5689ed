/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_common.h
 * What both directions of ESP share.
 */
#ifndef CYGNETD_ESP_COMMON_H
#define CYGNETD_ESP_COMMON_H

#include <rte_byteorder.h>
#include <rte_esp.h>

#include "esp/esp.h"

/* The high half of a 64-bit sequence number is authenticated at the end of the
 * packet, without being sent; AEADs have it in their AAD instead. */
static inline unsigned int esn_len(const struct session *s)
{
	return s->esn && s->form != SUITE_AEAD ? 4 : 0;
}

/* RFC 4543, 3.3: of AES-GMAC it stands between SPI and sequence number. What is covered has
 * to be in one piece: while a device has the packet the SPI is where the last bytes of the
 * header in front of ESP were, and those are behind the text, in esn_len().
 * @param esp    the ESP header
 * @param saved  where those bytes go
 * @param hi     high half of the sequence number, network byte order */
static inline void esn_insert(uint8_t *esp, uint8_t *saved, uint32_t hi)
{
	memcpy(saved, esp - sizeof(hi), sizeof(hi));
	memcpy(esp - sizeof(hi), esp, sizeof(hi));
	memcpy(esp, &hi, sizeof(hi));
}

/* After the device. @param m  ICV and all */
static inline void esn_remove(struct rte_mbuf *m, const struct session *s)
{
	uint8_t *esp = rte_pktmbuf_mtod_offset(m, uint8_t *, packet(m)->esp);
	const uint8_t *saved = rte_pktmbuf_mtod_offset(
		m, uint8_t *, rte_pktmbuf_data_len(m) - s->icv_len - esn_len(s));

	memcpy(esp, esp - esn_len(s), esn_len(s));
	memcpy(esp - esn_len(s), saved, esn_len(s));
}

/* RFC 4303, 2.4: what is between IV and ICV of a packet that came is whole units, one at least.
 * @param header  bytes up to the end of the IV; @param have  bytes of packet
 * @return false: it is cut off, else *text are bytes of ciphertext */
static inline bool esp_in_text(const struct session *s, unsigned int header, unsigned int have,
			       unsigned int *text)
{
	if (have < header + s->align + s->icv_len)
		return false;
	*text = have - header - s->icv_len;
	return !(*text & (s->align - 1u));
}

/* @param at  behind the text */
static inline void esn_write(const struct session *s, uint8_t *at, uint64_t seq)
{
	const rte_be32_t hi = rte_cpu_to_be_32((uint32_t)(seq >> 32));

	if (esn_len(s))
		memcpy(at, &hi, sizeof(hi));
}

/* Bytes from the ESP header to what the cipher of a chain works on: in front of that nothing is
 * encrypted. Outbound, CBC begins at what becomes the IV (esp_out.c). */
static inline unsigned int esp_chain_head(const struct session *s)
{
	return (unsigned int)sizeof(struct rte_esp_hdr) + (s->inbound || s->salted ? s->iv_len : 0);
}

/* RFC 4106, section 5: SPI, then the 32- or 64-bit sequence number. */
static inline void esp_aad(uint8_t *aad, const struct session *s, uint32_t spi, uint64_t seq)
{
	uint32_t lo = rte_cpu_to_be_32((uint32_t)seq), hi = rte_cpu_to_be_32((uint32_t)(seq >> 32));

	aad += s->aad_at;
	memcpy(aad, &spi, 4);
	if (s->esn) {
		memcpy(aad + 4, &hi, 4);
		aad += 4;
	}
	memcpy(aad + 4, &lo, 4);
}

/* A counter mode takes the sequence number for its IV: it is never used twice. In
 * CBC the cipher starts one block earlier, at the sequence number in place of the
 * IV, with a zero IV: what goes out is E(number), which nobody can foresee without
 * the key (NIST SP 800-38A, appendix C). */
static inline void esp_iv_write(uint8_t *wire, const struct session *s, uint64_t seq)
{
	const uint64_t number = rte_cpu_to_be_64(seq);

	if (s->iv_len)
		memcpy(wire, &number, sizeof(number));
	if (s->iv_len == 16)
		memset(wire + sizeof(number), 0, 8);
}

/* The salt in front of the IV on the wire, and in counter mode the counter behind it (RFC 3686,
 * 4). @param wire  8 bytes */
static inline void esp_nonce_salted(uint8_t *iv, const struct session *s, const void *wire)
{
	static const uint8_t first[4] = {0, 0, 0, 1};

	memcpy(iv, &s->salt, sizeof(s->salt));
	memcpy(iv + sizeof(s->salt), wire, 8);
	memcpy(iv + sizeof(s->salt) + 8, first, sizeof(first));
}

/* What the device has for its IV. */
static inline void esp_nonce(uint8_t *iv, const struct session *s, const void *wire)
{
	if (s->iv_len == 16)
		memcpy(iv, wire, 16);
	else if (s->salted)
		esp_nonce_salted(iv, s, wire);
	else
		memcpy(iv, wire, 8);
}

/**
 * Describe the packet to the crypto device.
 * @param esp      offset of the ESP header
 * @param text     bytes of ciphertext
 * @param skip_iv  the IV on the wire is not part of what the cipher works on
 * @param icv      where the ICV is, or goes
 */
static inline void esp_describe(const struct session *s, struct esp_job *job, unsigned int esp,
				unsigned int text, bool skip_iv, unsigned int icv)
{
	unsigned int iv = esp + sizeof(struct rte_esp_hdr), data = iv + s->iv_len;

	job->text_at = (uint16_t)(skip_iv ? data : iv);
	job->text_len = (uint16_t)(skip_iv ? text : text + s->iv_len);
	job->auth_at = (uint16_t)(s->esn_inside ? esp - esn_len(s) : esp);
	job->auth_len = (uint16_t)(data - esp + text + esn_len(s));
	job->icv_at = (uint16_t)icv;
}

#endif
