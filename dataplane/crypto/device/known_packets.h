/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file known_packets.h
 * The packets whose answers known_answers.h has. A packet is by itself in its mbuf, from the ESP header on.
 */
#ifndef CYGNETD_KNOWN_PACKETS_H
#define CYGNETD_KNOWN_PACKETS_H

#include "crypto/device/known_answers.h"
#include "esp/esp.h"

/** What an ESP packet has behind its header: IV, text and ICV. */
#define KNOWN_BODY_MAX (16u + KNOWN_TEXT + KNOWN_ICV_MAX)
/** Bytes of an mbuf's data, with what is in front of the ESP header. */
#define KNOWN_PACKET_MAX (64u + KNOWN_BODY_MAX)

/** The SA of packet k and each KNOWN_SAS-th behind it. */
void known_sa(struct cygnet_sa *sa, const struct known_answer *answer, unsigned int k,
	      bool inbound);
/**
 * Write packet i and describe the job for the device.
 * @param m     an empty mbuf with struct packet
 * @param body  outbound: NULL; inbound: what known_body() has returned for the outbound packet
 */
void known_write(struct rte_mbuf *m, const struct session *s, unsigned int i, const uint8_t *body,
		 struct esp_job *job);
/** Make the ICV a wrong one. */
void known_forge(struct rte_mbuf *m, const struct esp_job *job);
/** After the device: what has become of a packet behind its header. @return bytes, at most KNOWN_BODY_MAX */
unsigned int known_body(struct rte_mbuf *m, const struct session *s, unsigned int i, uint8_t *body);
/** Whether an inbound packet has become the text of packet i. */
bool known_text_is(struct rte_mbuf *m, const struct session *s, unsigned int i);

#endif
