/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file may_forward.h
 * Whether this host forwards a packet at all.
 */
#ifndef CYGNETD_MAY_FORWARD_H
#define CYGNETD_MAY_FORWARD_H

#include "path/worker/worker.h"

/** Whether the kernel's settings say that what came in by packet()->interface is forwarded, and the
 * addresses of a packet (data at its IP header, checked) may be. @return DROP_NONE or why not */
enum drop_reason may_forward(struct rte_mbuf *m);

#endif
