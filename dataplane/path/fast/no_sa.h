/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file no_sa.h
 * Received ESP to this host that no SA is for, by itself or in UDP. Strangers can send as much of it as the link carries,
 * so it ends where its flow is looked up, before the stages touch more of it. Drop and audit record are those of the
 * stages.
 */
#ifndef CYGNETD_NO_SA_H
#define CYGNETD_NO_SA_H

#include "path/fast/fast.h"

/**
 * Whether the stages would drop a frame as ESP for an SPI that is not in the SAD.
 * @param frame  its link-layer header, to us alone; behind it an intact packet without options or extension headers
 * @param link   bytes of that header
 * @param len    bytes of packet
 * @return offset of the ESP header in the packet, bytes; 0: the stages decide
 */
unsigned int no_sa_for(const uint8_t *frame, unsigned int link, unsigned int len);
/** Drop such a frame. Takes it over.
 * @param link, len   as above; @param esp  what no_sa_for() has returned
 * @param interface  that it came in by */
void no_sa_drop(struct worker *w, struct rte_mbuf *m, unsigned int link, unsigned int len,
		unsigned int esp, unsigned int interface);

#endif
