/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * Sessions: from DPDK's transforms to an entry in the tables of the driver's devices.
 */
#ifndef OCL_SESSION_H
#define OCL_SESSION_H

#include <cryptodev_pmd.h>

#include "inc_types.h"

#define OCL_MAX_AAD 1024

struct ocl_store;

/* The driver's part of a session in the application's pool. Holds no key. */
struct ocl_session_priv {
	const struct ocl_store *store; /* that holds the entry */
	uint64_t upload;
	uint32_t slot;
	uint32_t label;
	uint16_t iv_offset; /* from the operation's start */
	uint16_t aad_len;
	uint8_t iv_len;
	uint8_t digest_len;
	uint8_t block;	  /* the cipher's range is a multiple of it; 0: there is none */
	uint8_t aad_skip; /* what DPDK wants to be free in front of the AAD */
	bool aead;	  /* operations use sym->aead */
	bool auth;	  /* they have a range to authenticate */
	bool verify;
};

/* cryptodev's session operations; any thread, also while queue pairs run. */
unsigned int ocl_session_size(struct rte_cryptodev *dev);
int ocl_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			  struct rte_cryptodev_sym_session *session);
void ocl_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session);

#endif
