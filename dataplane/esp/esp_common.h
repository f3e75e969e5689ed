/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_common.h
 * Functions shared by inbound and outbound ESP.
 */
#ifndef CYGNETD_ESP_COMMON_H
#define CYGNETD_ESP_COMMON_H

#include <rte_byteorder.h>
#include <rte_esp.h>

#include "esp/esp.h"

/* Bytes of the high half of a 64-bit sequence number behind the ciphertext. It is authenticated but
 * not sent. An AEAD has it in its AAD instead. */
static inline unsigned int esn_len(const struct session *s)
{
	return s->esn && s->form != SUITE_AEAD ? 4 : 0;
}

/* With AES-GMAC (RFC 4543, 3.3) the ICV covers the high half between SPI and sequence number, in one
 * contiguous range. While a device has the packet, the SPI is moved four bytes to the front. The
 * bytes that it overwrites are saved behind the ciphertext, in esn_len() bytes.
 * @param esp    the ESP header
 * @param saved  receives the overwritten bytes
 * @param hi     high half of the sequence number, network byte order */
static inline void esn_insert(uint8_t *esp, uint8_t *saved, uint32_t hi)
{
	memcpy(saved, esp - sizeof(hi), sizeof(hi));
	memcpy(esp - sizeof(hi), esp, sizeof(hi));
	memcpy(esp, &hi, sizeof(hi));
}

/* Undo esn_insert() after the device. @param m  including the ICV */
static inline void esn_remove(struct rte_mbuf *m, const struct session *s)
{
	uint8_t *esp = rte_pktmbuf_mtod_offset(m, uint8_t *, packet(m)->esp);
	const uint8_t *saved = rte_pktmbuf_mtod_offset(m, uint8_t *,
						       rte_pktmbuf_data_len(m) - s->icv_len -
							       esn_len(s));

	memcpy(esp, esp - esn_len(s), esn_len(s));
	memcpy(esp - esn_len(s), saved, esn_len(s));
}

/* Check the ciphertext of a received packet: it is one or more whole units (RFC 4303, 2.4).
 * @param header  bytes up to the end of the IV
 * @param have    bytes of packet
 * @param text    receives the bytes of ciphertext
 * @return false: truncated */
static inline bool esp_in_text(const struct session *s, unsigned int header, unsigned int have,
			       unsigned int *text)
{
	if (have < header + s->align + s->icv_len)
		return false;
	*text = have - header - s->icv_len;
	return !(*text & (s->align - 1u));
}

/* @param end  of the ciphertext */
static inline void esn_write(const struct session *s, uint8_t *end, uint64_t seq)
{
	const rte_be32_t hi = rte_cpu_to_be_32((uint32_t)(seq >> 32));

	if (esn_len(s))
		memcpy(end, &hi, sizeof(hi));
}

/* Bytes from the ESP header to the cipher range of a chain. Outbound, the range of CBC begins at the
 * field of the IV (esp_iv_write()). */
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

/* Counter modes use the sequence number as IV, because it is unique. With CBC the sequence number is
 * written to the field of the IV, and the cipher encrypts that block too, with a zero IV. The IV on
 * the wire is then E(number), which is unpredictable without the key (NIST SP 800-38A, appendix C). */
static inline void esp_iv_write(uint8_t *wire, const struct session *s, uint64_t seq)
{
	const uint64_t number = rte_cpu_to_be_64(seq);

	if (s->iv_len)
		memcpy(wire, &number, sizeof(number));
	if (s->iv_len == 16)
		memset(wire + sizeof(number), 0, 8);
}

/* Salt, then IV, then the initial counter value 1 (RFC 3686, 4).
 * @param wire  IV on the wire, 8 bytes */
static inline void esp_nonce_salted(uint8_t *iv, const struct session *s, const void *wire)
{
	static const uint8_t first[4] = {0, 0, 0, 1};

	memcpy(iv, &s->salt, sizeof(s->salt));
	memcpy(iv + sizeof(s->salt), wire, 8);
	memcpy(iv + sizeof(s->salt) + 8, first, sizeof(first));
}

/* The IV for the device. */
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
 * @param skip_iv  the IV on the wire is not in the cipher range
 * @param icv      offset of the ICV
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
