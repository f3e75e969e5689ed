/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_peer.h
 * The peer of an SA: an independent ESP by RFC 4303, 3602, 2404, 4868, 4106 and 4543 with
 * OpenSSL, to compare cygnetd's with. An error fails the test.
 */
#ifndef ESP_PEER_H
#define ESP_PEER_H

#include <stdbool.h>
#include <stdint.h>

#define PEER_TEXT_MAX 4096u
#define PEER_ESP_MAX  (8 + 16 + PEER_TEXT_MAX + 32)

struct esp_algorithm {
	const char *name;
	uint8_t cipher, key_len;	/* enum cygnet_cipher, bytes */
	uint8_t auth, auth_key_len;	/* enum cygnet_auth, bytes */
	uint8_t iv_len, block, icv_len; /* bytes */
	const char *evp, *digest;	/* as OpenSSL calls them */
};

extern const struct esp_algorithm esp_algorithms[];
/** One of the algorithms that is an AEAD, and one that is a chain. */
extern const struct esp_algorithm esp_gcm, esp_cbc;
extern const unsigned int esp_algorithm_count;

/** Whether the IV begins with a salt, which follows the key. */
bool peer_salted(const struct esp_algorithm *algorithm);

struct esp_peer {
	const struct esp_algorithm *algorithm;
	bool esn;
	uint8_t key[32 + 4], auth_key[64]; /* the salt follows the key */
};

/** Derive distinct keys from a number. */
void peer_init(struct esp_peer *peer, const struct esp_algorithm *algorithm, bool esn,
	       uint8_t number);

/**
 * Build an ESP packet.
 * @param text  inner packet with its trailer, a multiple of the block
 * @param esp   room for PEER_ESP_MAX bytes
 * @return its length
 */
unsigned int peer_seal(const struct esp_peer *peer, uint32_t spi, uint64_t seq, const uint8_t *text,
		       unsigned int len, uint8_t *esp);
/**
 * Authenticate and decrypt an ESP packet, with its trailer.
 * @param seq_high  high half of the sequence number
 * @param text      room for PEER_TEXT_MAX bytes
 * @return the length of text, or -1: not authentic
 */
int peer_open(const struct esp_peer *peer, uint32_t seq_high, const uint8_t *esp, unsigned int len,
	      uint8_t *text);
/** One block of AES without a mode, from which an unpredictable IV is made. */
void peer_block(const struct esp_peer *peer, const uint8_t in[16], uint8_t out[16]);

/**
 * Append padding 1, 2, 3 and so on, its length and the next header.
 * @param pad  bytes of padding
 * @return the length with the trailer
 */
unsigned int peer_trailer(uint8_t *text, unsigned int len, unsigned int pad, uint8_t next);
/** The shortest padding. @return bytes */
unsigned int peer_padding(const struct esp_algorithm *algorithm, unsigned int len);

/** The checksum of RFC 791 over whole words, as in the header. */
uint16_t peer_checksum(const uint8_t *data, unsigned int len);
/** A valid IPv4 header. @param fragment  flags and offset */
void peer_ip(uint8_t ip[20], uint8_t tos, uint16_t total, uint16_t id, uint16_t fragment,
	     uint8_t proto);
/** A packet of len bytes with payload. @param df  its DF */
void peer_packet(uint8_t *packet, unsigned int len, uint8_t tos, bool df);

#endif
