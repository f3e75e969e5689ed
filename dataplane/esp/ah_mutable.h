/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ah_mutable.h
 * AH authenticates the headers in front of it, too, but for what routers change on the
 * way: that counts as zero (RFC 4302, 3.3.3.1).
 */
#ifndef CYGNETD_AH_MUTABLE_H
#define CYGNETD_AH_MUTABLE_H

#include <stdbool.h>

#include "ip/packet.h"

/**
 * Zero what may change on the way: DSCP and ECN, IPv4's flags, fragment offset, TTL, checksum
 * and options that are not known to stay (RFC 4302, appendix A), IPv6's flow label, hop
 * limit, and what options say that are marked so.
 * @param header  an IP header, with what follows up to AH; may be misaligned
 * @param len     of it, bytes, at least those of the IP header itself
 * @return false: options that are cut off, a source route that leads on, or an extension
 *	   header that does not stand in front of AH
 */
bool ah_mutable_clear(uint8_t *header, unsigned int len);

/**
 * The same for the first len bytes of a packet, which are kept as they are at its end while
 * crypto devices work on it: the room around it is theirs.
 * @return DROP_NONE, or DROP_AH_HEADERS: ah_mutable_clear() does not take them, or they
 *	   are longer than the room there
 */
enum drop_reason ah_mutable_hide(struct rte_mbuf *m, unsigned int len);
/** After the device: the headers are again what they were, and the end is where it was. */
void ah_mutable_restore(struct rte_mbuf *m, unsigned int len);

#endif
