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

#include "inc_types.h"

#ifndef DRIVER
#define DRIVER "crypto_opencl"
#endif
#define IV_OFFSET   (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define AAD_OFFSET  (IV_OFFSET + 16)
#define MAX_AAD	    80 /* with the 18 bytes that CCM requires in front */
#define DESCRIPTORS 2048

struct device {
	char name[32];
	uint8_t id;
	unsigned int queue_pairs;
	struct rte_mempool *sessions;
};

/* Algorithms and keys of a session. */
struct suite {
	enum ocl_cipher cipher;
	enum ocl_auth auth;
	bool null_cipher, null_auth; /* a transform without algorithm is given too */
	bool swapped;		     /* authenticate the plaintext */
	uint32_t key_len, mac_key_len, digest_len, aad_len, iv_len;
	uint8_t key[32], mac_key[128];
};

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			harness_fail(__FILE__, __LINE__, #condition); \
	} while (0)

__attribute__((noreturn)) void harness_fail(const char *file, int line, const char *what);

/** Number of lcores, to be set before harness_start(); 1 by default. */
extern unsigned int harness_lcores;

/** Load the driver (CYGNET_PMD, or the one of this build) and start EAL. */
void harness_start(void);
/** End EAL, which removes remaining devices, and delete its files in /var/run. */
void harness_stop(void);

/** Fast pseudo-random numbers, from a fixed seed or from the environment's CYGNET_SEED. */
uint64_t rnd(void);
uint32_t rnd_below(uint32_t n);
void rnd_fill(void *p, size_t len);

/** To be called between polls: fails if there is no progress for 30 s, on a slow machine longer, and
 * sleeps a little if there is none. Between two calls at most 0.1 s counts, because the machine may
 * have stood still. @param n  completed operations; *deadline is 0 at first */
void expect_progress(unsigned int n, uint64_t *deadline);

/** Keep logged messages from now on, until log_end(). */
void log_begin(void);
/** @return how often they contain these words */
unsigned int log_end(const char *words);

/** Probe, configure and start a device; args may be NULL. */
void device_open(struct device *dev, const char *args, unsigned int queue_pairs);
/** The same, with another number of descriptors in each queue pair. */
void device_open_sized(struct device *dev, const char *args, unsigned int queue_pairs,
		       uint32_t descriptors);
void device_close(struct device *dev);
/** Whether a device accepts these arguments ("memory=svm"). */
bool device_has(const char *args);

/** Whether the suite is a single transform. */
static inline bool suite_is_aead(const struct suite *suite)
{
	return suite->cipher >= OCL_CIPHER_AES_GCM;
}

/** Fill in random keys, and lengths of keys, digest, AAD and IV that the algorithms allow. */
void suite_randomize(struct suite *suite);
/** Fill in only random keys of random lengths. */
void suite_keys(struct suite *suite);

/** The transforms of a suite for one direction; they point into the suite. */
struct xforms {
	struct rte_crypto_sym_xform chain[2], *first;
};
void suite_xforms(const struct suite *suite, bool encrypt, struct xforms *xforms);

/** @return a session, or NULL with rte_errno set */
void *suite_session(const struct device *dev, const struct suite *suite, bool encrypt);
void session_free(const struct device *dev, void *session);

/** Start a test; its name is printed. */
#define RUN(test) \
	do { \
		printf("%s\n", #test); \
		fflush(stdout); \
		test; \
	} while (0)

#endif
