/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file frame.h
 * What an Ethernet frame carries: IP, which is ours, something for the kernel,
 * or something that nobody gets.
 */
#ifndef CYGNETD_FRAME_H
#define CYGNETD_FRAME_H

#include <rte_mbuf.h>

#include "base/drop.h"

/**
 * Look at a frame's EtherType. The kernel unpacks more than we do (a frame with a
 * priority tag is plain IPv4 to it): so only what is known to carry no IP goes
 * past the policies, from the wire to the kernel or the other way.
 * @param m   linear, data at the Ethernet header, which is whole
 * @param ip  set if it is an IPv4 or IPv6 packet; DROP_NONE is returned then
 * @return DROP_NONE, or why neither side gets the frame
 */
enum drop_reason frame_check(const struct rte_mbuf *m, bool *ip);

#endif
