/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file priority.h
 * The priorities of frames in VLANs (PCP, IEEE 802.1Q), and the DSCPs of their packets. A priority is the class of a DSCP, its
 * three high bits (RFC 2474, 4.2.2). Lcores.
 */
#ifndef CYGNETD_PRIORITY_H
#define CYGNETD_PRIORITY_H

#include <rte_mbuf.h>

/** Frames that have come in, tags included: their packets get the DSCP of their outermost tag. */
void priority_to_dscp(struct rte_mbuf *const *m, unsigned int n);
/** Frames that leave, tags included: all tags get a priority. @param priority  as conf_port.priority */
void priority_set(struct rte_mbuf *const *m, unsigned int n, uint8_t priority);

#endif
