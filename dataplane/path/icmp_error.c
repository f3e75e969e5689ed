/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP errors to the source of a packet. To others they leave as a packet of this
 * host would: through STAGE_OUTBOUND, so that policies apply. What the kernel sent is
 * answered into its TAP. */
#include <netinet/in.h>

#include "base/sadb.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "ip/icmp.h"
#include "path/icmp_error.h"
#include "path/worker/policy.h"
#include "path/worker/trace_note.h"

#define PER_SECOND 100 /* of each worker, for each reason and side */

/* A packet for the error, as long as it is to be. @return NULL: no memory */
static struct rte_mbuf *make_answer(struct worker *w, struct rte_mbuf *m, unsigned int len)
{
	struct rte_mbuf *answer = rte_pktmbuf_alloc(w->packets);

	if (!answer)
		return NULL;
	memset(packet(answer), 0, sizeof(struct packet));
	packet(answer)->interface = packet(m)->interface;
	packet(answer)->frame_interface = packet(m)->frame_interface;
	packet(answer)->must_protect = packet(m)->decrypted;
	packet(answer)->answer = !packet(m)->decrypted;
	if (rte_pktmbuf_append(answer, (uint16_t)len))
		return answer;
	rte_pktmbuf_free(answer);
	return NULL;
}

/* The selectors of the error, for policies, but for its source. */
static void describe(struct rte_mbuf *m, enum icmp_why why, struct cygnet_flow *error)
{
	uint8_t af = packet_family(m);
	uint16_t kind = icmp_kind(af, why);

	*error = (struct cygnet_flow){
		.dst = packet_src(m),
		.sport = kind >> 8,
		.dport = kind & 0xff,
		.af = af,
		.proto = af == AF_INET6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP,
		.has_ports = 1,
	};
}

static bool would_be_protected(const struct cygnet_flow *error, const struct cygnet_addr *source)
{
	struct cygnet_flow flow = *error;
	const struct cygnet_policy *policy;

	flow.src = *source;
	policy_flow_to(&flow); /* of several next hops the source decides, too */
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	return policy && policy->action == CYGNET_PROTECT;
}

/* How well an address would do; the first of the best is taken. */
enum merit { NONE, SOME, OF_THE_INTERFACE, PROTECTED, PROTECTED_OF_THE_INTERFACE };

static enum merit merit_of(struct rte_mbuf *m, const struct cygnet_flow *error,
			   const struct local_addr *own)
{
	bool interface = own->interface == packet(m)->interface;

	if (own->af != error->af)
		return NONE;
	if (packet(m)->decrypted && would_be_protected(error, &own->addr))
		return interface ? PROTECTED_OF_THE_INTERFACE : PROTECTED;
	return interface ? OF_THE_INTERFACE : SOME;
}

/* The source of an error about a packet: an address of the port that it came in by, if there is one. About a packet that
 * was decrypted, one from which the error to its source will be protected: the error quotes it, and may not leave in
 * plaintext.
 * @param error   selectors of the error, but for the source
 * @param source  receives it. If no error from any address of ours would be protected it is one from which it will not:
 *		  STAGE_OUTBOUND drops that, and counts it
 * @return false: this host has no address to answer from */
static bool find_source(struct rte_mbuf *m, const struct cygnet_flow *error,
			struct cygnet_addr *source)
{
	enum merit best = NONE;
	struct local_addr own;

	/* The kernel hears from the packet's destination: an address of its own would be a
	 * martian source to it. */
	if (packet(m)->from_kernel) {
		*source = packet_dst(m);
		return true;
	}
	/* A router needs no address on each of its links. */
	for (unsigned int i = 0; best < PROTECTED_OF_THE_INTERFACE && local_addr_next(&i, &own);) {
		enum merit merit = merit_of(m, error, &own);

		if (merit > best) {
			best = merit;
			*source = own.addr;
		}
	}
	return best != NONE;
}

static struct rte_mbuf *write_answer(struct worker *w, struct rte_mbuf *m, enum icmp_why why,
				     uint16_t mtu, const struct cygnet_addr *source)
{
	struct rte_mbuf *answer = make_answer(w, m, icmp_length(m));

	if (answer)
		icmp_write(answer, m, why, mtu, source);
	return answer;
}

/* Whom an error answers. Who has one reason used up, such as by packets whose TTL has expired, leaves the other
 * reasons, and all errors for others. */
static unsigned int side_of(struct rte_mbuf *m)
{
	const struct packet *p = packet(m);

	if (p->decrypted)
		return ICMP_OF_SAS + (p->from & ~PACKET_SA_BIT) % ICMP_SAS;
	return p->from_kernel ? ICMP_OF_KERNEL + p->interface : p->interface;
}

void icmp_error(struct worker *w, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu)
{
	struct cygnet_addr source;
	struct rte_mbuf *answer;
	struct cygnet_flow flow;

	if (!icmp_may_answer(m, why) || !rate_allows(&w->icmp[side_of(m)][why], PER_SECOND))
		return;
	if (unlikely(w->trace != NULL)) {
		trace_icmp(w->trace, why, mtu);
		return;
	}
	describe(m, why, &flow);
	if (!find_source(m, &flow, &source))
		return;
	answer = write_answer(w, m, why, mtu, &source);
	if (!answer)
		return;
	if (packet(m)->from_kernel) {
		/* The rules that let a tunnel's packets pass let it pass, too: a socket that did not hear of it
		 * would send packets that are too big for ever. Nobody on the wire has had it sent. */
		packet(answer)->decrypted = 1;
		packet(answer)->policed = 1; /* by the rate of these errors */
		stage_add(&w->stages, STAGE_TO_KERNEL, answer);
		return;
	}
	stage_add(&w->stages, STAGE_OUTBOUND, answer);
}
