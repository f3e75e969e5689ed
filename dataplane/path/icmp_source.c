/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "host/local_addr.h"
#include "path/icmp_source.h"
#include "path/worker/policy.h"

static bool would_be_protected(const struct cygnet_flow *error, const struct cygnet_addr *source)
{
	struct cygnet_flow flow = *error;
	const struct cygnet_policy *policy;

	flow.src = *source;
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

bool icmp_source(struct rte_mbuf *m, const struct cygnet_flow *error, struct cygnet_addr *source)
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
