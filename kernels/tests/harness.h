/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file harness.h
 * EAL without hugepages or privileges, the driver under test, and sessions on
 * it. Everything here aborts with a message when it fails.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_crypto.h>
#include <rte_cryptodev.h>
#include <rte_mbuf.h>

#define DRIVER	    "crypto_opencl"
#define IV_OFFSET   (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define AAD_OFFSET  (IV_OFFSET + 16)
#define MAX_AAD	    64
#define DESCRIPTORS 2048

struct device {
	char name[32];
	uint8_t id;
	unsigned int queue_pairs;
	struct rte_mempool *sessions;
};

enum cipher { NO_CIPHER, AES_CBC, AES_GCM };

/* Algorithms and keys of a session. */
struct suite {
	enum cipher cipher;
	uint32_t hash; /* size of HMAC's digest in bytes, 0 for none */
	uint32_t key_len, mac_key_len, digest_len, aad_len;
	uint8_t key[32], mac_key[128];
};

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			harness_fail(__FILE__, __LINE__, #condition);                              \
	} while (0)

__attribute__((noreturn)) void harness_fail(const char *file, int line, const char *what);

/** Load the driver (CYGNET_PMD, or the one just built) and start EAL. */
void harness_start(void);
/** End EAL, which removes devices still there, and what it left in /var/run. */
void harness_stop(void);

/** Fast pseudo-random numbers, from a fixed seed. */
uint64_t rnd(void);
uint32_t rnd_below(uint32_t n);
void rnd_fill(void *p, size_t len);

/** Probe, configure and start; args may be NULL. */
void device_open(struct device *dev, const char *args, unsigned int queue_pairs);
void device_close(struct device *dev);

/** Random keys for the algorithms set in the suite. */
void suite_keys(struct suite *suite);
/** @return a session, or NULL with rte_errno set */
void *suite_session(const struct device *dev, const struct suite *suite, bool encrypt);
void session_free(const struct device *dev, void *session);

#endif
