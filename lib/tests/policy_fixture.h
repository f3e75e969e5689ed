/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies for tests of the SPD. */
#ifndef POLICY_FIXTURE_H
#define POLICY_FIXTURE_H

#include "fixture.h"

static inline struct cygnet_policy_params policy(struct cygnet_selector sel, uint32_t priority,
						 enum cygnet_action action)
{
	return (struct cygnet_policy_params){
		.sel = sel,
		.priority = priority,
		.reqid = 1,
		.dir = CYGNET_OUT,
		.action = (uint8_t)action,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
		.dst = addr4("192.0.2.1"),
	};
}

#endif
