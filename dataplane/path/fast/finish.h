/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file finish.h
 * Packets of known flows that a device of the CPU has done.
 */
#ifndef CYGNETD_FAST_FINISH_H
#define CYGNETD_FAST_FINISH_H

#include "path/worker/worker.h"

/** Finish n packets of the crypto batch, all of one device and direction and without a struct packet.
 * Outbound packets leave, inbound ones go to fast_decrypted_add().
 * @param from  index of the first */
void fast_finish(struct worker *w, unsigned int from, unsigned int n);

#endif
