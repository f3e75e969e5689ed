/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file packet.h
 * The state of a packet between receive and transmit, in the private area of its mbuf.
 */
#ifndef CYGNETD_PACKET_H
#define CYGNETD_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "base/drop.h"
#include "base/failover_masks.h"
#include "base/stats.h"
#include "cygnet.h"
#include "ip/ip_sum.h"

struct session;

/** Origin of a packet: received on an interface. */
#define PACKET_FROM_INTERFACE(interface) ((uint32_t)(interface))
/** Origin of a packet: decrypted by an SA. */
#define PACKET_FROM_SA(sa) (PACKET_SA_BIT | (uint32_t)(sa))
#define PACKET_SA_BIT	   (1u << 22)
_Static_assert(CYGNET_MAX_ENTRIES <= PACKET_SA_BIT, "no index of an SA has that bit");

/* The data of the mbuf begins with the IP header between receive and transmit. */
struct packet {
	uint8_t stage; /* enum stage at which the worker continues after a handoff */
	uint8_t interface; /* index in interfaces[]: incoming; of a frame for a TAP, or handed off to be sent, outgoing */
	uint8_t from_kernel; /* received from the TAP: its TTL is not decremented */
	uint8_t udp;	     /* ESP that arrived in UDP */
	uint8_t own;	     /* ESP made by this host, which may fragment it */
	uint8_t decrypted; /* was protected by an inbound SA, or is our ICMP error to the kernel */
	uint8_t answer;	   /* an ICMP error of this host about plaintext */
	uint8_t must_protect; /* quotes a decrypted packet: must not leave in plaintext */
	uint8_t resume;	      /* enum stage after reassembly */
	uint8_t handed;	      /* handed off by the worker that received it */
	uint16_t whole;	      /* length of the longest fragment of a reassembled packet, bytes;
				 * it is fragmented again on transmit; 0: not reassembled */
	uint32_t sa, generation;
	uint32_t from;	  /* PACKET_FROM_INTERFACE() or PACKET_FROM_SA() */
	uint32_t seen;	  /* worker.seen at receive, later at the SA's processing;
				 * 0: received by another worker, or before a change */
	uint32_t until;	  /* waits for an SA: clock_seconds() at which it is dropped */
	uint64_t seq;	  /* sequence number; inbound with the high bits inferred */
	uint16_t esp;	  /* offset of the ESP or AH header, bytes */
	uint16_t sport;	  /* inbound: source port of UDP, network byte order */
	uint16_t part_at; /* fragment: offset of its payload, bytes */
	/* Index in interfaces[] of the port or VLAN that its frame came in by. It differs from interface only after an SA with an
	 * interface ID. */
	uint8_t frame_interface;
	struct cygnet_addr src; /* inbound: outer source */
	struct session *session;
	struct rte_mbuf *next; /* next packet in the same queue */
	struct failover_masks failover;
	uint8_t called;	    /* processed by call; packets queued later follow it */
	uint8_t back;	    /* completed or lost; earlier packets of its SA are pending */
	uint8_t status;	    /* of the crypto device: enum rte_crypto_op_status */
	uint8_t fits_route; /* handed off to be protected: not longer than the MTU of its own route */
	uint8_t learn;	    /* inbound, took the stages: learn from it once it is authentic */
	uint8_t unmatched; /* no outbound policy matches it: where it may leave by is limited */
	uint8_t policed;   /* metered on its way to the kernel (path/worker/police.h) */
	uint8_t bulk; /* to the kernel, of a class that a transfer may fill: other packets go first */
} __rte_aligned(16); /* alignment of the data behind it */

/** The smallest MTU of an IPv6 link (RFC 8200, 5). */
#define IPV6_MIN_MTU 1280u

/** Size of the private area that the packet pool has. */
#define PACKET_PRIVATE RTE_ALIGN(sizeof(struct packet), RTE_MBUF_PRIV_ALIGN)

static inline struct packet *packet(struct rte_mbuf *m)
{
	return rte_mbuf_to_priv(m);
}

/** Prefetch the mbuf and struct packet of a packet, but not its data, whose address is in the mbuf. */
static inline void packet_prefetch(struct rte_mbuf *m)
{
	rte_prefetch0(m);
	rte_prefetch0(packet(m));
	rte_prefetch0((char *)packet(m) + RTE_CACHE_LINE_SIZE);
}

static inline struct rte_ipv4_hdr *packet_ip(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, struct rte_ipv4_hdr *);
}

static inline struct rte_ipv6_hdr *packet_ip6(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, struct rte_ipv6_hdr *);
}

static const uint8_t packet_none[64];
_Static_assert(sizeof(struct packet) == 96, "what packet_begin() clears");

/** Initialise the struct packet of a received frame.
 * @param interface  index in interfaces[]
 * @param seen       worker.seen */
static inline void packet_begin(struct rte_mbuf *m, unsigned int interface, uint32_t seen)
{
	struct packet *p = packet(m);

	/* A memset() of this size becomes a "rep stos", which costs as much as a flow lookup. */
	rte_mov64((uint8_t *)p, packet_none);
	rte_mov32((uint8_t *)p + 64, packet_none);
	p->interface = p->frame_interface = (uint8_t)interface;
	p->from = PACKET_FROM_INTERFACE(interface);
	p->seen = seen;
}

/**
 * A function that sees packets before they are dropped, while a capture asks for them. Lcores.
 * @param counters  of the worker
 * @param frame     the data begins at the link-layer header, otherwise at the IP header
 */
typedef void (*packet_drop_watch)(struct stats *counters, struct rte_mbuf *m,
				  enum drop_reason reason, bool frame);

/** NULL: none. The capture's thread writes; lcores read; atomic. */
extern packet_drop_watch packet_drops_watched;

/** Count a drop reason and free the packet. @param frame  as in packet_drop_watch */
static inline void packet_drop_as(struct stats *counters, struct rte_mbuf *m,
				  enum drop_reason reason, bool frame)
{
	packet_drop_watch watch = __atomic_load_n(&packet_drops_watched, __ATOMIC_RELAXED);

	if (unlikely(watch != NULL))
		watch(counters, m, reason, frame);
	counters->drop[reason]++;
	rte_pktmbuf_free(m);
}

/** The same, of an IP packet. */
static inline void packet_drop(struct stats *counters, struct rte_mbuf *m, enum drop_reason reason)
{
	packet_drop_as(counters, m, reason, false);
}

/** Copy a packet into a buffer of another pool and free the old one.
 * @return the packet; NULL: no buffer, and m is unchanged */
struct rte_mbuf *packet_move(struct rte_mbuf *m, struct rte_mempool *pool);

/** AF_INET or AF_INET6 of an IP packet. */
static inline uint8_t packet_family(struct rte_mbuf *m)
{
	return *rte_pktmbuf_mtod(m, const uint8_t *) >> 4 == 6 ? AF_INET6 : AF_INET;
}

/** Reduce a packet of one segment to len bytes after the first skip bytes. */
static inline void packet_narrow(struct rte_mbuf *m, unsigned int skip, unsigned int len)
{
	m->data_off = (uint16_t)(m->data_off + skip);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
}

/** The 16 bytes of an address, which is an array or a struct, depending on DPDK's release. */
static inline const uint8_t *ip6_src(const struct rte_ipv6_hdr *ip)
{
	return (const uint8_t *)&ip->src_addr;
}

static inline const uint8_t *ip6_dst(const struct rte_ipv6_hdr *ip)
{
	return (const uint8_t *)&ip->dst_addr;
}

static inline struct cygnet_addr packet_src(struct rte_mbuf *m)
{
	struct cygnet_addr addr = {0};

	if (packet_family(m) == AF_INET6)
		memcpy(&addr, ip6_src(packet_ip6(m)), sizeof(addr));
	else
		addr.v4 = packet_ip(m)->src_addr;
	return addr;
}

static inline struct cygnet_addr packet_dst(struct rte_mbuf *m)
{
	struct cygnet_addr addr = {0};

	if (packet_family(m) == AF_INET6)
		memcpy(&addr, ip6_dst(packet_ip6(m)), sizeof(addr));
	else
		addr.v4 = packet_ip(m)->dst_addr;
	return addr;
}

static inline unsigned int ip_header_len(const struct rte_ipv4_hdr *ip)
{
	return (ip->version_ihl & 0xf) * 4u;
}

/**
 * Check the IPv4 header at the start of a packet and trim Ethernet padding.
 * @param verify  check the header's checksum too
 * @return false: not a complete IPv4 packet
 */
static inline bool packet_check_ip(struct rte_mbuf *m, bool verify)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	unsigned int have = rte_pktmbuf_data_len(m), header, total;

	if (have < sizeof(*ip) || ip->version_ihl >> 4 != 4)
		return false;
	header = ip_header_len(ip);
	total = rte_be_to_cpu_16(ip->total_length);
	if (header < sizeof(*ip) || header > total || total > have)
		return false;
	if (verify && ip_sum(ip, header) != 0xffff)
		return false;
	if (total < have)
		rte_pktmbuf_trim(m, (uint16_t)(have - total));
	return true;
}
/** The selectors of a checked packet, but for the interface, which is 0. */
void packet_flow(struct rte_mbuf *m, struct cygnet_flow *flow);
/** Whether a packet's protocol has ports (or an ICMP type) but the packet does not contain them: a
 * later fragment, or a truncated packet. */
bool packet_hides_ports(const struct cygnet_flow *flow);

/** Whether a checked packet is a later IPv6 fragment. Reassembly takes the protocol from the first
 * fragment and ignores that of later ones (RFC 8200, 4.5). */
bool packet_hides_protocol(struct rte_mbuf *m);
/** Whether a router may fragment a checked packet: IPv4 without DF. */
static inline bool packet_may_be_cut(struct rte_mbuf *m)
{
	return packet_family(m) == AF_INET &&
	       !(packet_ip(m)->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG));
}

/** Decrement the TTL of a checked IPv4 packet. @return false: it expires */
bool packet_decrement_ttl(struct rte_ipv4_hdr *ip);
/** The same for a checked packet of either family. @param ip  its IP header */
static inline bool packet_take_hop(uint8_t *ip)
{
	struct rte_ipv6_hdr *ip6 = (struct rte_ipv6_hdr *)ip;

	if (ip[0] >> 4 != 6)
		return packet_decrement_ttl((struct rte_ipv4_hdr *)ip);
	if (ip6->hop_limits <= 1)
		return false;
	ip6->hop_limits--;
	return true;
}

#endif
