/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fragment.h
 * One packet becomes several (RFC 791, 3.2), and several become one.
 */
#ifndef CYGNETD_FRAGMENT_H
#define CYGNETD_FRAGMENT_H

#include "headers.h"
#include "pipeline.h"

/** As many parts as 64 KiB have at an MTU of 576. */
#define FRAGMENTS_MAX 128
/** Fragments at most that a worker keeps while they are put together. */
#define REASSEMBLY_PACKETS (3 * 1024u)

/** Whether a packet (data at its IP header, checked) is a fragment. */
static inline bool is_fragment(const struct rte_ipv4_hdr *ip)
{
	return ip->fragment_offset &
	       rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
}

/**
 * Cut a packet into parts. It is used up; DF is not looked at and not set in the parts.
 * One of IPv6 is cut for this host's kernel, or if it is this host that sends it: no
 * other router may (RFC 8200, 4.5).
 * @param m    data at its IP header
 * @param mtu  bytes of a part with its IP header at most
 * @return how many parts; 0: no memory or a silly MTU, and the packet has been dropped
 */
unsigned int fragment_packet(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			     struct rte_mbuf *parts[FRAGMENTS_MAX]);

/** The same for an IPv6 packet. */
unsigned int fragment6_packet(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			      struct rte_mbuf *parts[FRAGMENTS_MAX]);

/** Fragments of a packet travel close together: how long for the next one. */
#define REASSEMBLY_WAIT_MS 500u

/** What a worker keeps of packets that are not whole yet.
 * @param wait_ms  as long as a packet's next fragment is waited for
 * @param dropped  counts fragments that did not become a packet
 * @return NULL: no memory */
struct reassembly *reassembly_create(unsigned int wait_ms, uint64_t *dropped);
void reassembly_free(struct reassembly *r);
/** The worker that puts the packet of a fragment together. */
unsigned int reassembly_owner(const struct worker *w, struct rte_mbuf *m, const struct headers *h);
/** Have a fragment of plaintext put together with the others of its packet. Takes it over.
 * @param then  where the packet goes; a fragment that goes out comes from the kernel */
void reassemble_plain(struct worker *w, struct rte_mbuf *m, enum packet_resume then);
/** Take a fragment of ESP, AH or UDP to this host, or of reassemble_plain(); the worker is
 * its owner. A packet that is whole goes where its resume says. */
void reassemble(struct worker *w, struct rte_mbuf *m);
/** Drop what has waited too long; call it now and then. */
void reassembly_expire(struct worker *w);

#endif
