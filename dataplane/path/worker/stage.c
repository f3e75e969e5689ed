/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_debug.h>

#include "path/worker/stage.h"

const char *const stage_name[STAGE_COUNTED] = {
#define X(name, text, help, next) [STAGE_##name] = text,
	STAGES(X)
#undef X
		[STAGE_KNOWN] = "known",
	[STAGE_CRYPTO] = "crypto",
	[STAGE_QUEUES] = "queues",
	[STAGE_FINISH] = "finish",
};

const char *const stage_help[STAGE_COUNTED] = {
#define X(name, text, help, next) [STAGE_##name] = help,
	STAGES(X)
#undef X
		[STAGE_KNOWN] = "received bursts: packets of known flows, the others to from-wire",
	[STAGE_CRYPTO] = "crypto devices that work when they are called",
	[STAGE_QUEUES] = "crypto devices with queues, and crypto cores: packets that come back",
	[STAGE_FINISH] = "packets back from a crypto device, in the order of their SA",
};

#define TO(stage) (1u << STAGE_##stage)
#define TO_NONE	  0
/* About a packet from the kernel it goes to the kernel, about another one to its source. */
#define ICMP_ERROR (TO(OUTBOUND) | TO(TO_KERNEL))

const uint32_t stage_next[STAGE_COUNT] = {
#define X(name, text, help, next) [STAGE_##name] = (next) | TO(TX) | TO(TAP),
	STAGES(X)
#undef X
};

void stage_not_next(const struct stages *stages, enum stage stage)
{
	rte_panic("%s may not send packets to %s\n", stage_name[stages->running - 1],
		  stage_name[stage]);
}

void stage_link(struct stage_queue *q, struct rte_mbuf *m)
{
	packet(m)->next = NULL;
	if (q->nlinked++)
		packet(q->last)->next = m;
	else
		q->first = m;
	q->last = m;
}

unsigned int stage_take(struct stages *stages, enum stage stage, struct rte_mbuf **m,
			unsigned int n)
{
	struct stage_queue *q = &stages->queue[stage];
	unsigned int taken = 0;

	for (; taken < n && q->n; taken++, q->n--, q->head++)
		m[taken] = q->m[q->head % STAGE_QUEUE];
	for (; taken < n && q->nlinked; taken++, q->nlinked--) {
		m[taken] = q->first;
		q->first = packet(q->first)->next;
	}
	if (!q->n && !q->nlinked)
		stages->waiting &= ~(1u << stage);
	return taken;
}

/* The ring has room: packets that were taken from it left it, and linked ones are taken only once the
 * ring is empty. */
void stage_return(struct stages *stages, enum stage stage, struct rte_mbuf **m, unsigned int n)
{
	struct stage_queue *q = &stages->queue[stage];

	for (unsigned int i = n; i--;)
		q->m[--q->head % STAGE_QUEUE] = m[i];
	q->n += n;
	stages->waiting |= 1u << stage;
	stages->blocked = true;
}

static bool queue_has_sa(const struct stage_queue *q, uint32_t sa)
{
	struct rte_mbuf *m = q->first;

	for (uint32_t i = 0; i < q->n; i++)
		if (packet(q->m[(q->head + i) % STAGE_QUEUE])->sa == sa)
			return true;
	for (uint32_t i = 0; i < q->nlinked; i++, m = packet(m)->next)
		if (packet(m)->sa == sa)
			return true;
	return false;
}

bool stages_have_sa(const struct stages *stages, uint32_t sa)
{
	return queue_has_sa(&stages->queue[STAGE_FIT], sa) ||
	       queue_has_sa(&stages->queue[STAGE_PROTECT], sa) ||
	       queue_has_sa(&stages->queue[STAGE_UNPROTECT], sa);
}
