/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fit.h
 * Whether a packet fits the path MTU of its SA.
 */
#ifndef CYGNETD_FIT_H
#define CYGNETD_FIT_H

#include "cygnet.h"
#include "esp/session.h"

/**
 * Compare the length of a packet, once it is protected, with the path MTU of its SA. Lcores, or under
 * control_lock().
 * @param m  data at its IP header, checked
 * @param s  of session_describe()
 * @return 0 if it fits, or need not; else the length of the longest packet that fits, bytes
 */
unsigned int fit_longest(struct rte_mbuf *m, const struct cygnet_sa *sa, const struct session *s);

#endif
