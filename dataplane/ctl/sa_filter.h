/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_filter.h
 * Which SAs `show sad` and `show tunnels` show: pairs of a keyword and a value, all of which apply.
 */
#ifndef CYGNETCTL_SA_FILTER_H
#define CYGNETCTL_SA_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct sa_filter {
	uint8_t af; /* of the peer's address; 0: any peer */
	struct cygnet_addr peer;
	uint32_t spi;	  /* network byte order; 0: any */
	uint32_t reqid;	  /* 0: any */
	const char *name; /* of the connection or the CHILD_SA; NULL: any */
};

/** The keywords, ended by NULL. */
extern const char *const sa_filter_keywords[];

/** Read pairs. An error is reported. @return 0, or the exit status */
int sa_filter_parse(struct sa_filter *filter, const struct options *options, int argc, char **argv);
/** Whether an SA has the peer and the reqid. */
bool sa_filter_takes(const struct sa_filter *filter, const struct cygnet_sa *sa);
/** Whether one of the names, which may be NULL, is that of the filter. */
bool sa_filter_takes_name(const struct sa_filter *filter, const char *ike, const char *child);

/** The address of an SA's peer. */
static inline const struct cygnet_addr *sa_peer(const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);

	return sa->flags & CYGNET_SA_INBOUND ? &path->src : &path->dst;
}

#endif
