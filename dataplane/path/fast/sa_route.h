/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_route.h
 * Working out the route of an SA (esp/sa_route.h).
 */
#ifndef CYGNETD_FAST_SA_ROUTE_H
#define CYGNETD_FAST_SA_ROUTE_H

#include "path/fast/fast.h"

/** Work out the route of an SA's packets. The worker of the SA. */
void sa_route_find(struct worker *w, struct session *s, struct cygnet_sa *sa);
/** Make the route of an SA valid in this epoch: work it out anew if something has changed that it depends on. The
 * worker of the SA. @return false: the SA is gone */
bool sa_route_renew(struct worker *w, struct session *s);
/** sa_route_renew() for flow_table.renew_session. @param flows  of a struct fast */
bool sa_route_renew_session(struct flow_table *flows, struct session *s,
			    const struct flow_basis *on);

#endif
