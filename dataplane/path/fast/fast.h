/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fast.h
 * The path of known flows, of a worker: everything that other folders use of it.
 *
 * The stages tell it what they have decided about a packet (learn_*()). Later packets of that flow go from a
 * received burst, or from an SA, to where the first one was sent, without passing the stages. Each check that is
 * about one packet is made; a packet that fails one passes the stages. The path decides nothing itself, except
 * that no SA is for a packet (no_sa.h), and that as the stages do: a worker without it (`flows = 0`, worker.fast is NULL)
 * sends every packet through the stages, and so does one that takes part in a capture.
 */
#ifndef CYGNETD_FAST_H
#define CYGNETD_FAST_H

#include "path/fast/flow.h"
#include "path/worker/worker.h"

/** A packet that came out of an SA, until its next stage is known. */
struct decrypted {
	struct rte_mbuf *m;
	const struct session *s; /* of the SA; valid in this turn */
	uint8_t interface;	 /* that the protected packet came in by */
	bool described;		 /* its struct packet is filled in */
	bool same_flow;		 /* as the entry before it */
	bool has_flow;		 /* key and place are valid */
	uint32_t place;
	struct flow_key key;
};

/** What a worker knows of flows. */
struct fast {
	struct worker *worker;
	struct flow_table flows;
	unsigned int ndecrypted;
	struct decrypted decrypted[CRYPTO_BATCH];
};

/** Have a worker take the path of known flows. Before it has sessions.
 * @param flows  about how many it remembers; 0: it does without
 * @return 0, -ENOMEM or -EIO: no random numbers */
int fast_create(struct worker *w, uint32_t flows);
void fast_free(struct worker *w);

/** Whether packets of known flows need not pass the stages in this turn. */
static inline bool fast_serves(const struct worker *w)
{
	return w->fast && !w->capture;
}

/* --- changes: path/refresh.c --- */

/** The worker's clock has gone on. */
static inline void fast_set_time(struct worker *w)
{
	if (w->fast)
		w->fast->flows.now = w->now;
}

/**
 * Begin an epoch, as things have changed that decisions may depend on.
 * @param databases  cygnet_db_changes() now; worker.databases is that of the last call
 * @param others     whether neighbours, path MTUs or anything else has changed
 * @param general    whether the change may concern any decision
 */
void fast_changed(struct worker *w, uint64_t databases, bool others, bool general);

/** Flows of an SA are void: it comes to this worker or goes, or its session does. */
void fast_forget_sa(struct worker *w, uint32_t sa);
/* --- received bursts: path/loop.c --- */

/** What is known of a received frame. */
struct fast_frame {
	struct flow_key key;
	uint32_t place;
	uint16_t len;		 /* of the packet, bytes; 0: it has no flow */
	bool again;		 /* its flow is that of the frame before it */
	uint8_t no_sa;		 /* no_sa_for(), if flow is NULL */
	const struct flow *flow; /* as it was when the burst was looked up */
};

/** A received burst. */
struct fast_burst {
	struct rte_mbuf *const *m;
	unsigned int n, next;	/* frames; the first one that has not been taken */
	unsigned int interface; /* that they came in by */
	unsigned int link;	/* bytes of its link-layer header */
	bool direct;		/* packets may go into the crypto batch without a struct packet */
	bool without_flow;	/* a frame without flow key is in front of the stages */
	uint64_t state;		/* flow_state() when it was looked up */
	struct fast_frame frame[BURST];
};

/**
 * Look up the flows of a burst, after refresh_changes(). fast_serves().
 * @param m     BURST frames from the wire side of a port at most
 * @param interface  index in interfaces[]
 */
void fast_lookup(struct worker *w, struct fast_burst *burst, struct rte_mbuf *const *m,
		 unsigned int n, unsigned int interface);
/**
 * Take the frames of a burst, in order: frames of known flows go on, the others to STAGE_FROM_WIRE.
 * @return false: the crypto batch is full before the end, or frames without a flow key, fragments for
 *	   one, are in front of the stages and would be overtaken: dispatch() and call again
 */
bool fast_receive(struct worker *w, struct fast_burst *burst);

/* --- packets from other workers: path/inbox.c --- */

/** Take a packet that another worker has handed off, if the route of its SA is known and the packet
 * is ordinary. fast_serves(). @return false: it has to pass packet()->stage */
bool fast_handed(struct worker *w, struct rte_mbuf *m);

/* --- packets that devices have processed: path/finish.c --- */

/** Finish n packets of the crypto batch, all of one device and direction, without a job (batch.c), and with link-layer
 * headers of one length.
 * Outbound packets leave, inbound ones go to fast_decrypted_add(). @param from  index of the first */
void fast_finish(struct worker *w, unsigned int from, unsigned int n);

/**
 * Collect a packet that came out of an SA (data at its IP header, checked), so that flows are prefetched when
 * they go on. Takes it over. Not more than CRYPTO_BATCH until fast_decrypted(). fast_serves().
 * @param s          session of the SA
 * @param interface       that the protected packet came in by
 * @param described  its struct packet is filled in
 */
void fast_decrypted_add(struct worker *w, struct rte_mbuf *m, const struct session *s,
			unsigned int interface, bool described);
/** Have the collected packets, if there are any, go on: packets of known flows leave, or go into the crypto batch, which
 * is empty; the others go to STAGE_DECRYPTED. In the turn in which their SAs were there. */
void fast_decrypted(struct worker *w);

/** The route of a session's SA, if it is valid in this epoch. @return NULL: it is not known */
static inline const struct sa_route *fast_sa_route(const struct worker *w, const struct session *s)
{
	return w->fast && s->route.epoch == w->fast->flows.epoch ? &s->route : NULL;
}

/** The same, found if it is not known. The worker remembers flows. @return NULL: the SA is gone */
const struct sa_route *fast_find_route(struct worker *w, struct session *s);

/* --- what the stages have decided --- */

/** A decision about a packet that an SA is to protect or unprotect. */
struct lesson {
	bool typical; /* other packets of its flow are decided about in the same way */
	struct flow what;
	struct flow_basis on;
};

/** Describe the flow of a packet that session s is to protect or unprotect. The worker of the SA,
 * before the packet is changed. @param lesson  for learn_accepted(), once the packet has been accepted */
void learn_describe(const struct worker *w, struct rte_mbuf *m, struct session *s,
		    const struct cygnet_sa *sa, struct lesson *lesson);
/** A packet was accepted by its SA: remember its flow or, if another worker has received it, the SA's route. */
void learn_accepted(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa,
		    const struct lesson *lesson);
/** A packet with packet()->learn has turned out authentic, and its outer header is as it came in: both of the above. */
void learn_received(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa);
/** A packet, as it came in, is to be handed off to the owner of its SA: remember that for its flow.
 * @param stage  STAGE_FIT or STAGE_UNPROTECT, of the owner */
void learn_handoff(struct worker *w, struct rte_mbuf *m, enum stage stage);
/** A packet, as it came in, is to leave as it is: remember that for its flow. */
void learn_forward(struct worker *w, struct rte_mbuf *m);

#endif
