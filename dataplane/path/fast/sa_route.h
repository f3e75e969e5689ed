/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_route.h
 * Working out the route of an SA (esp/sa_route.h).
 */
#ifndef CYGNETD_FAST_SA_ROUTE_H
#define CYGNETD_FAST_SA_ROUTE_H

#include "path/worker/worker.h"

/** Work out the route of an SA's packets. The worker of the SA. */
void sa_route_find(struct worker *w, struct session *s, struct cygnet_sa *sa);

#endif
