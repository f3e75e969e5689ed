/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file owner.h
 * Which worker owns an SA.
 *
 * An SA has one owner, so that its sequence numbers, replay window and order need no lock: the worker that
 * receives its first packet, because a card gives the packets of a flow to one worker; or the worker with the
 * fewest SAs, if that one has many more than its share. If the first packet came from the kernel, by another worker, or
 * inbound not from the peer's address, it does not say where later ones come in: then the number of the SA's slot
 * names the owner. It may change (move.h), and share the SA (share.h). An outbound SA for one CPU (RFC 9611) belongs to the
 * worker that CPU stands for (cygnet_policy_sa_for()), and stays there.
 */
#ifndef CYGNETD_OWNER_H
#define CYGNETD_OWNER_H

#include "path/worker/worker.h"

/** Packets of an SA that is about to arrive that its worker keeps at most. */
#define OWNER_KEEP_MOST 4096u

/** By SA slot: OWNED_BY() of the last SA there that has an owner; 0: there was none. Read through owner_of(). */
extern uint32_t sa_owners[CYGNET_MAX_ENTRIES];

/** An SA's generation, but for its highest bits, and the worker that owns it. */
#define OWNED_BY(generation, worker) ((uint32_t)(generation) << 8 | ((worker) + 1))
_Static_assert(CONF_MAX_WORKERS < UINT8_MAX, "a worker's number + 1 is a byte of sa_owners[]");

/** Whether a value of sa_owners[] is of an SA, or of a later one in its slot: then no packet of it leaves any more. */
static inline bool owner_is_of(uint32_t owned, uint32_t generation)
{
	return owned && (int32_t)((owned & ~(uint32_t)UINT8_MAX) - (generation << 8)) >= 0;
}

/** The worker in a value of sa_owners[] that is not 0. */
static inline unsigned int owner_in(uint32_t owned)
{
	return (owned & UINT8_MAX) - 1;
}

/** owner_of(), of an SA that has none yet. @param owned  of sa_owners[] */
unsigned int owner_assign(const struct worker *w, struct rte_mbuf *m, uint32_t owned);

/** Which worker owns the SA of a packet, packet()->sa and, inbound, ->src; if none does yet, one does from now on. */
static inline unsigned int owner_of(const struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	uint32_t owned = __atomic_load_n(&sa_owners[p->sa], __ATOMIC_RELAXED);

	return likely(owner_is_of(owned, p->generation)) ? owner_in(owned)
							 : owner_assign(w, m, owned);
}

/** Whether another worker owns an SA. @param sa  index of its slot */
static inline bool owner_is_other(const struct worker *w, uint32_t sa, uint32_t generation)
{
	uint32_t owned = __atomic_load_n(&sa_owners[sa], __ATOMIC_RELAXED);

	return owner_is_of(owned, generation) && owner_in(owned) != w->id;
}

/** Whether an inbound packet, of which packet()->sa and ->src are set, comes from the address of its SA's peer. */
bool owner_hears_peer(struct rte_mbuf *m);

/** Which worker owns the last SA of a slot. Any thread. @param worker  receives its number. @return false: the slot never had one */
static inline bool owner_known(uint32_t sa, unsigned int *worker)
{
	uint32_t owned = __atomic_load_n(&sa_owners[sa], __ATOMIC_RELAXED);

	*worker = owner_in(owned);
	return owned;
}

/** Have a packet pass STAGE_FIT or STAGE_UNPROTECT on the worker that owns its SA, which may be this one.
 * Takes over the packet, whose struct packet is filled in for that stage. */
void owner_handoff(struct worker *w, struct rte_mbuf *m, enum stage stage);

/**
 * Whether a packet that was handed off to this worker is not for its stages now: the SA is about to arrive
 * and the packet is kept, or the SA has left and the packet follows it. Takes over the packet if so.
 * @param m  packet()->stage is STAGE_FIT or STAGE_UNPROTECT
 */
bool owner_diverts(struct worker *w, struct rte_mbuf *m);

/** Name an SA's owner. @param was  of sa_owners[]; receives what it is if another thread has changed it. @return false: one has */
bool owner_set(uint32_t sa, uint32_t *was, uint32_t owned);

/** What becomes of a packet that was kept; takes it over. */
typedef void (*owner_taken)(struct worker *w, struct rte_mbuf *m);
/** An SA has arrived: no more packets are kept, and those that are go on, in order. */
void owner_take_kept(struct worker *w, owner_taken take);
/** Drop the packets that are kept: the worker ends. */
void owner_drop(struct worker *w);
/** No SA has an owner. No worker runs. @param slots  of the SAD */
void owners_reset(uint32_t slots);

#endif
