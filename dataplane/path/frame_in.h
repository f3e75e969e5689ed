/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file frame_in.h
 * Frames that come from a port or out of its TAP: what both stages check.
 */
#ifndef CYGNETD_FRAME_IN_H
#define CYGNETD_FRAME_IN_H

#include <stdbool.h>

#include "path/worker/worker.h"

/**
 * Begin a frame's struct packet and check its Ethernet header, in which the tags of a VLAN are no more, or not yet.
 * @param interface  index in interfaces[]
 * @param ip    receives whether it is an IPv4 or IPv6 packet, if DROP_NONE is returned
 * @return DROP_NONE, or why the frame goes no further
 */
enum drop_reason frame_in_check(const struct worker *w, struct rte_mbuf *m, unsigned int interface,
				bool *ip);
/**
 * Take the Ethernet header off an IP packet and check the IP header. The EtherType and the version
 * have to agree: the next host believes the type, cygnetd the version.
 * @param verify  the checksum of an IPv4 header too
 * @return DROP_NONE, or why the packet goes no further
 */
enum drop_reason frame_in_strip(struct rte_mbuf *m, bool verify);
/** Put the Ethernet header back, which is still in front of the packet. */
void frame_in_restore(struct rte_mbuf *m);

#endif
