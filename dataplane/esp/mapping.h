/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file mapping.h
 * Peers behind NAT (RFC 7296, 2.23): one shows itself, authenticated, at another address or
 * port, and charon hears of it.
 */
#ifndef CYGNETD_MAPPING_H
#define CYGNETD_MAPPING_H

#include "cygnet.h"
#include "esp/session.h"
#include "ip/packet.h"

/** An authentic packet has come. Charon hears of another place at most once a second and SA.
 * The SA's worker. */
void mapping_note(const struct cygnet_sa *sa, struct session *s, const struct packet *p);
/** Tell again what there was no room for (session.moved): the peer may send nothing more that
 * would. The SA's worker. */
void mapping_tell_again(const struct cygnet_sa *sa, struct session *s);

#endif
