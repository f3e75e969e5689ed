/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ah_mutable.h
 * AH also authenticates the headers in front of it. Fields that routers may change (mutable fields)
 * count as zero (RFC 4302, 3.3.3.1).
 */
#ifndef CYGNETD_AH_MUTABLE_H
#define CYGNETD_AH_MUTABLE_H

#include <stdbool.h>

#include "ip/packet.h"

/**
 * Zero the mutable fields: DSCP and ECN, IPv4's flags, fragment offset, TTL, checksum
 * and options not known to be immutable (RFC 4302, appendix A), IPv6's flow label and hop limit, and
 * the data of IPv6 options marked as mutable.
 * @param header  an IP header and the headers up to AH; may be misaligned
 * @param len     bytes up to AH, at least those of the IP header itself
 * @return false: truncated options, an unfinished source route, or an extension header that may not
 *	   precede AH
 */
bool ah_mutable_clear(uint8_t *header, unsigned int len);

/**
 * Zero the mutable fields in the first len bytes of a packet. A copy of these bytes is saved in the
 * buffer's tail until ah_mutable_restore().
 * @return DROP_NONE, or DROP_AH_HEADERS: ah_mutable_clear() refuses the headers, or they exceed the
 *	   room for the copy
 */
enum drop_reason ah_mutable_hide(struct rte_mbuf *m, unsigned int len);
/** After the device: restore the headers and the packet's length. */
void ah_mutable_restore(struct rte_mbuf *m, unsigned int len);

#endif
