/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <string.h>

#include <rte_mbuf.h>

#include "crypto/device/known_packets.h"
#include "crypto/device/suite.h"
#include "esp/esp_common.h"

/* As behind Ethernet and IPv4. AES-GMAC with ESN uses four bytes in front of the ESP header. */
#define FRONT 34u
#define TEXT  (FRONT + (unsigned int)sizeof(struct rte_esp_hdr))

void known_sa(struct cygnet_sa *sa, const struct known_answer *answer, unsigned int k, bool inbound)
{
	*sa = (struct cygnet_sa){
		.spi = htonl(KNOWN_SPI + k),
		.proto = IPPROTO_ESP,
		.path[0].af = AF_INET,
		.mode = CYGNET_TUNNEL,
		.cipher = answer->cipher,
		.auth = answer->auth,
		.flags = (inbound ? CYGNET_SA_INBOUND : 0) | (k & 1 ? CYGNET_SA_ESN : 0),
	};
	for (unsigned int key = 0; suite_lengths(sa, key) && sa->cipher_key_len != answer->key_len;)
		key++;
	for (unsigned int j = 0; j < CYGNET_KEY_MAX; j++) {
		sa->cipher_key[j] = (uint8_t)(7 * j + 1 + 29 * k);
		sa->auth_key[j] = (uint8_t)(11 * j + 2 + 31 * k);
	}
}

static uint64_t number(const struct session *s, unsigned int i)
{
	return (s->esn ? (uint64_t)KNOWN_HI << 32 : 0) + KNOWN_SEQ + i;
}

static unsigned int text_len(const struct session *s, unsigned int i)
{
	return (16 + (224 + 52 * i) % 480) & ~(s->align - 1u);
}

/* Bytes from the IV to the high half of the sequence number. */
static unsigned int body_len(const struct session *s, unsigned int i)
{
	return s->iv_len + text_len(s, i);
}

static void write_plain(uint8_t *iv, const struct session *s, unsigned int i)
{
	esp_iv_write(iv, s, number(s, i));
	for (unsigned int j = 0; j < text_len(s, i); j++)
		iv[s->iv_len + j] = (uint8_t)(3 * j + 5 + i);
}

/* As esp_out.c and esp_in.c do it. */
static void describe(struct rte_mbuf *m, const struct session *s, unsigned int i,
		     struct esp_job *job)
{
	uint8_t *esp = rte_pktmbuf_mtod_offset(m, uint8_t *, FRONT), *iv = esp + 8;
	const rte_be32_t spi = rte_cpu_to_be_32(KNOWN_SPI + i % KNOWN_SAS);
	unsigned int body = body_len(s, i);

	memset(job, 0, sizeof(*job));
	if (s->inbound || s->salted)
		esp_nonce(job->iv, s, iv);
	esp_aad(job->aad, s, spi, number(s, i));
	if (s->esn_inside)
		esn_insert(esp, iv + body, rte_cpu_to_be_32(KNOWN_HI));
	else
		esn_write(s, iv + body, number(s, i));
	esp_describe(s, job, FRONT, text_len(s, i), s->inbound || s->salted,
		     TEXT + body + esn_len(s));
}

void known_write(struct rte_mbuf *m, const struct session *s, unsigned int i, const uint8_t *body,
		 struct esp_job *job)
{
	const struct rte_esp_hdr esp = {
		.spi = rte_cpu_to_be_32(KNOWN_SPI + i % KNOWN_SAS),
		.seq = rte_cpu_to_be_32(KNOWN_SEQ + i),
	};
	unsigned int len = body_len(s, i);
	uint8_t *data = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(TEXT + len + esn_len(s) +
								    s->icv_len));

	memset(data, 0, rte_pktmbuf_data_len(m));
	memcpy(data + FRONT, &esp, sizeof(esp));
	if (body) {
		memcpy(data + TEXT, body, len);
		memcpy(data + TEXT + len + esn_len(s), body + len, s->icv_len);
	} else {
		write_plain(data + TEXT, s, i);
	}
	describe(m, s, i, job);
}

void known_forge(struct rte_mbuf *m, const struct esp_job *job)
{
	*rte_pktmbuf_mtod_offset(m, uint8_t *, job->icv_at) ^= 1;
}

unsigned int known_body(struct rte_mbuf *m, const struct session *s, unsigned int i, uint8_t *body)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned int len = body_len(s, i);

	memcpy(body, data + TEXT, len);
	memcpy(body + len, data + TEXT + len + esn_len(s), s->icv_len);
	return len + s->icv_len;
}

bool known_text_is(struct rte_mbuf *m, const struct session *s, unsigned int i)
{
	const uint8_t *text = rte_pktmbuf_mtod_offset(m, const uint8_t *, TEXT + s->iv_len);

	for (unsigned int j = 0; j < text_len(s, i); j++)
		if (text[j] != (uint8_t)(3 * j + 5 + i))
			return false;
	return true;
}
