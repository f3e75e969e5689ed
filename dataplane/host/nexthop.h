/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file nexthop.h
 * Which of the kernel's next-hop objects and groups (ip-nexthop(8)) the mirrored routes use. When one that is
 * used changes or goes, the routes by it change or go without messages of their own. Routes whose object does not
 * fit are left to the kernel (route.c). Control thread only.
 */
#ifndef CYGNETD_NEXTHOP_H
#define CYGNETD_NEXTHOP_H

#include <stdbool.h>
#include <stdint.h>

/** @param objects  that routes can use at a time. @return 0 or -ENOMEM */
int nexthops_init(uint32_t objects);
void nexthops_free(void);
/** Another route uses an object. @param id  0: none. @return 0 or -ENOMEM: too many objects */
int nexthop_hold(uint32_t id);
/** One route less uses it. */
void nexthop_release(uint32_t id);
/** Whether a route uses it. */
bool nexthop_is_used(uint32_t id);
/** Whether some object did not fit since nexthops_begin(): a message about any may concern routes that were left to the
 * kernel. */
bool nexthops_left_out(void);
/** All routes are about to be told again. */
void nexthops_begin(void);

#endif
