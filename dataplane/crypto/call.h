/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file call.h
 * Executing batches on crypto devices that work when they are called (rte_cryptodev's "CPU crypto"):
 * no queue, no operation for each packet. Any lcore.
 */
#ifndef CYGNETD_CALL_H
#define CYGNETD_CALL_H

#include "crypto/batch.h"

/** Have a device do the packets of a run. The status of each is in v->status. */
void crypto_call(const struct crypto_run *run, struct crypto_vectors *v);
/**
 * PIPSEA's rule for bins of packets (section 3.3), for the lanes of a multi-buffer library: the
 * longest first, so that they all end at about the same time.
 * @param which  n packets, to be put into that order
 * @return false: they are in it
 */
bool crypto_sort(const struct crypto_vectors *v, uint8_t *which, unsigned int n);

#endif
