/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file frame.h
 * Classify an Ethernet frame: IP for Cygnet, another protocol for the kernel, or a frame to drop.
 */
#ifndef CYGNETD_FRAME_H
#define CYGNETD_FRAME_H

#include <rte_mbuf.h>

#include "base/drop.h"

/**
 * Check a frame's EtherType. The kernel decapsulates more than Cygnet does (it handles a frame with
 * a priority tag as plain IPv4). Only protocols known to carry no IP may therefore pass between
 * device and kernel without a policy check.
 * @param m   linear, data at the Ethernet header, which is complete
 * @param ip  receives whether it is an IPv4 or IPv6 packet; DROP_NONE is returned then
 * @return DROP_NONE or a drop reason
 */
enum drop_reason frame_check(const struct rte_mbuf *m, bool *ip);

#endif
