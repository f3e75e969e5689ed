/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file gateway.h
 * The gateway of gateway_fixture.h, for targets that give it packets. It has tunnels to
 * FUZZ_GCM (outside IPv4) and FUZZ_CBC (outside IPv6, ESN), a policy without SA for FUZZ_TRAP, and one
 * that selects by ports. LLVMFuzzerInitialize() is here.
 */
#ifndef FUZZ_GATEWAY_H
#define FUZZ_GATEWAY_H

#include "gateway_fixture.h"
#include "input.h"

/** Numbers of networks; this gateway's is 1. */
#define FUZZ_GCM  2u
#define FUZZ_CBC  3u
#define FUZZ_TRAP 4u
#define FUZZ_AH	  5u /* no policy yet: ah-in.c has one */
#define FUZZ_ALL  6u /* for fuzz_settle(): each packet was encrypted with the SA of its network */

/** Workers and crypto cores, which all run in this thread; 1 and 0 unless the target defines them. */
extern unsigned int fuzz_workers, fuzz_crypto_cores;
/** The first worker. */
extern struct worker *fuzz_worker;
extern struct tunnel fuzz_gcm, fuzz_cbc;

/** Called at the end of LLVMFuzzerInitialize(): the target adds its own SAs and policies. */
void fuzz_set_up(void);

/** Policies between this gateway's network and another one.
 * @param in, out  SAs; NULL: none */
void fuzz_policies(unsigned int network, const struct cygnet_sa *in, const struct cygnet_sa *out);

/** A live SA by its SPI, host byte order. */
struct cygnet_sa *fuzz_sa(uint32_t spi);

/** Receive a packet in a frame, or a whole frame.
 * @param len  up to GATEWAY_FRAME, bytes */
void fuzz_packet(const uint8_t *ip, unsigned int len, unsigned int interface);
void fuzz_frame(const uint8_t *frame, unsigned int len, unsigned int interface);

/** A whole turn of a worker, without packets from ports. */
void fuzz_turn(struct worker *w);
/** Its two halves, between which others may have steps.
 * @param inbox  take the packets that other workers have handed off */
void fuzz_begin_turn(struct worker *w, bool inbox);
void fuzz_end_turn(struct worker *w);

/** Finish queued packets, check the packets that have left, and free them. No packet that a policy protects may
 * leave in plaintext; packets from a network may enter by its SA only; no sequence number may leave twice or behind a
 * later one; no buffer may be lost.
 * @param sealed  number of the network with whose SA the packets were encrypted; 0: none */
void fuzz_settle(unsigned int sealed);

#endif
