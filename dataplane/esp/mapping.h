/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file mapping.h
 * Peers behind NAT (RFC 7296, 2.23): an authentic packet with another source address or port is
 * reported to charon.
 */
#ifndef CYGNETD_MAPPING_H
#define CYGNETD_MAPPING_H

#include "cygnet.h"
#include "esp/session.h"
#include "ip/packet.h"

/** Check the source of an authentic packet. A change is reported to charon at most once a second for
 * each SA. The SA's worker only. */
void mapping_note(const struct cygnet_sa *sa, struct session *s, const struct packet *p);
/** Report a change again (session.moved) that found the event queue full: the peer may send no further
 * packet. The SA's worker only. */
void mapping_tell_again(const struct cygnet_sa *sa, struct session *s);

#endif
