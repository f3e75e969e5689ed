/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file dispatch.h
 * The dispatcher: moves packets from stage to stage.
 */
#ifndef CYGNETD_DISPATCH_H
#define CYGNETD_DISPATCH_H

#include "path/worker/worker.h"

/** Run the first stage that has packets and room for what comes of them. @return false: there is none */
bool dispatch_stage(struct worker *w);
/** Run the stages until no packet is in front of one, or only stages that wait for the crypto batch have
 * packets. */
void dispatch_stages(struct worker *w);
/** Run stages, crypto batch and what comes out of both until nothing in the worker's hands can go on:
 * no packet is in front of a stage, in the crypto batch or in crypto_ready(). */
void dispatch(struct worker *w);

/** TSC, if stages are counted; else 0. */
uint64_t dispatch_began(const struct worker *w);
/** Count a vector of packets that a stage has had since then. */
void dispatch_count(struct worker *w, unsigned int stage, unsigned int packets, uint64_t began);

#endif
