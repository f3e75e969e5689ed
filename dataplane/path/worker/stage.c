/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path/worker/stage.h"

const char *const stage_name[STAGE_COUNTED] = {
#define X(name, text, help) [STAGE_##name] = text,
	STAGES(X)
#undef X
	[STAGE_KNOWN] = "known",
	[STAGE_CRYPTO] = "crypto",
	[STAGE_FINISH] = "finish",
};

const char *const stage_help[STAGE_COUNTED] = {
#define X(name, text, help) [STAGE_##name] = help,
	STAGES(X)
#undef X
	[STAGE_KNOWN] = "received bursts: packets of known flows, the others to from-wire",
	[STAGE_CRYPTO] = "crypto devices that work when they are called",
	[STAGE_FINISH] = "packets back from a crypto device, in the order of their SA",
};

void stage_return(struct stages *stages, enum stage stage, struct rte_mbuf **m, unsigned int n)
{
	struct stage_queue *q = &stages->queue[stage];

	for (unsigned int i = n; i--;) {
		packet(m[i])->next = q->n++ ? q->head : NULL;
		q->head = m[i];
		if (q->n == 1)
			q->tail = m[i];
	}
	stages->waiting |= 1u << stage;
	stages->blocked = true;
}
