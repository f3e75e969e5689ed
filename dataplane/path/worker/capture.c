/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <stdio.h>

#include <rte_ether.h>
#include <rte_udp.h>

#include "base/sadb.h"
#include "dpdk_pcapng.h"
#include "host/link.h"
#include "path/worker/capture.h"

#define ETHER ((unsigned int)sizeof(struct rte_ether_hdr)) /* of the file's interfaces */

struct capture *capture_wanted;

/* The capture may be over, and about to be freed, when its pointer has been read: only one that is still
 * wanted after worker.capture shows it is used. */
void capture_notice(struct worker *w)
{
	struct capture *wanted;

	do {
		wanted = __atomic_load_n(&capture_wanted, __ATOMIC_ACQUIRE);
		__atomic_store_n(&w->capture, wanted, __ATOMIC_SEQ_CST);
	} while (__atomic_load_n(&capture_wanted, __ATOMIC_SEQ_CST) != wanted);
}

static const char *const point_name[CAPTURE_POINT_COUNT] = {
#define X(name, text, help) [CAPTURE_##name] = text,
	CAPTURE_POINTS(X)
#undef X
};

/* What is known about a packet where it is captured. */
struct seen {
	enum capture_point point;
	unsigned int interface;	 /* of rx and tx; else that it came in by */
	enum drop_reason reason; /* of a drop */
	bool frame;		 /* data at the Ethernet header, else at the IP header */
	rte_be32_t spi;		 /* of the SA; 0: none known */
};

/* --- the SA of a packet --- */

static rte_be32_t spi_at(const uint8_t *ip, unsigned int len, unsigned int offset)
{
	rte_be32_t spi;

	if (len < offset + sizeof(spi))
		return 0;
	memcpy(&spi, ip + offset, sizeof(spi));
	return spi;
}

static bool is_natt(uint8_t af, const struct rte_udp_hdr *udp)
{
	return cygnet_ike_port(sadb, af, rte_be_to_cpu_16(udp->dst_port)) == CYGNET_IKE_ENCAP ||
	       cygnet_ike_port(sadb, af, rte_be_to_cpu_16(udp->src_port)) == CYGNET_IKE_ENCAP;
}

/* The SPI in an ESP or AH header right behind the IP header, or in UDP. Without a non-ESP marker
 * (RFC 3948, 2.2), IKE behind it gives 0. */
static rte_be32_t spi_behind(const uint8_t *ip, unsigned int len, uint8_t af, uint8_t proto,
			     unsigned int offset)
{
	struct rte_udp_hdr udp;

	if (proto == IPPROTO_ESP)
		return spi_at(ip, len, offset);
	if (proto == IPPROTO_AH)
		return spi_at(ip, len, offset + 4);
	if (proto != IPPROTO_UDP || len < offset + sizeof(udp))
		return 0;
	memcpy(&udp, ip + offset, sizeof(udp));
	return is_natt(af, &udp) ? spi_at(ip, len, offset + (unsigned int)sizeof(udp)) : 0;
}

/* @param len  bytes of the packet from its IP header on; nothing has been checked */
static rte_be32_t spi_of_packet(const uint8_t *ip, unsigned int len)
{
	struct rte_ipv4_hdr v4;

	if (len >= sizeof(struct rte_ipv6_hdr) && ip[0] >> 4 == 6)
		return spi_behind(ip, len, AF_INET6, ip[offsetof(struct rte_ipv6_hdr, proto)],
				  sizeof(struct rte_ipv6_hdr));
	if (len < sizeof(v4) || ip[0] >> 4 != 4)
		return 0;
	memcpy(&v4, ip, sizeof(v4));
	if (v4.fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK))
		return 0;
	return spi_behind(ip, len, AF_INET, v4.next_proto_id, ip_header_len(&v4));
}

/* Of a frame with or without the tags of a VLAN. */
static rte_be32_t spi_of_frame(struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned int len = rte_pktmbuf_data_len(m), link = ETHER;

	while (len >= link && link < LINK_HEADER_MAX && vlan_is_tag(vlan_word(frame + link - 2)))
		link += VLAN_TAG;
	if (len < link || (vlan_word(frame + link - 2) != RTE_ETHER_TYPE_IPV4 &&
			   vlan_word(frame + link - 2) != RTE_ETHER_TYPE_IPV6))
		return 0;
	return spi_of_packet(frame + link, len - link);
}

static rte_be32_t spi_of_sa(uint32_t index, uint32_t generation)
{
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, index, generation);

	return sa ? sa->spi : 0;
}

/* A dropped packet is protected, or its struct packet names the SA that it came out of or was to be
 * protected by. Generations of SAs begin at 1. */
static rte_be32_t spi_of_dropped(struct rte_mbuf *m, bool frame)
{
	rte_be32_t spi;

	if (frame)
		return spi_of_frame(m);
	spi = spi_of_packet(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m));
	return spi ? spi : spi_of_sa(packet(m)->sa, packet(m)->generation);
}

/* --- selection --- */

static bool is_wanted(const struct capture *c, struct rte_mbuf *m, const struct seen *seen)
{
	struct rte_bpf *filter = seen->frame ? c->frames : c->packets;

	/* The file has no interface for a port that was added later. */
	if (!(c->points >> seen->point & 1) || !(c->present >> seen->interface & 1) ||
	    (c->interface >= 0 && (unsigned int)c->interface != seen->interface) ||
	    (c->drop != DROP_NONE && c->drop != seen->reason) || (c->spi && c->spi != seen->spi))
		return false;
	return !filter || rte_bpf_exec(filter, m);
}

/* --- the copy --- */

static void write_comment(const struct worker *w, const struct seen *seen, char *comment)
{
	int len = snprintf(comment, CAPTURE_COMMENT, "%s port=%s worker=%u",
			   point_name[seen->point], interfaces[seen->interface].name, w->id);

	if (seen->spi)
		len += snprintf(comment + len, CAPTURE_COMMENT - (size_t)len, " spi=0x%08x",
				rte_be_to_cpu_32(seen->spi));
	if (seen->point == CAPTURE_DROP)
		snprintf(comment + len, CAPTURE_COMMENT - (size_t)len, " reason=%s",
			 drop_name[seen->reason]);
}
_Static_assert(CAPTURE_COMMENT > sizeof(((struct interface *)0)->name) + 100,
	       "all that write_comment() writes");

static enum rte_pcapng_direction direction_of(enum capture_point point)
{
	if (point == CAPTURE_RX || point == CAPTURE_DECRYPTED)
		return RTE_PCAPNG_DIRECTION_IN;
	return point == CAPTURE_DROP ? RTE_PCAPNG_DIRECTION_UNKNOWN : RTE_PCAPNG_DIRECTION_OUT;
}

static struct rte_mbuf *copy_frame(const struct capture *c, const struct rte_mbuf *m,
				   const struct seen *seen, const char *comment)
{
	return dpdk_pcapng_copy(c->device[seen->interface], m, c->pool, c->longest,
				direction_of(seen->point), comment);
}

/* The interfaces of the capture are Ethernet ports: a packet without Ethernet header gets one with zero
 * addresses for the time of the copy. What stands in front of the packet is put back. */
static struct rte_mbuf *copy_packet(const struct capture *c, struct rte_mbuf *m,
				    const struct seen *seen, const char *comment)
{
	bool v6 = rte_pktmbuf_data_len(m) && packet_family(m) == AF_INET6;
	struct rte_ether_hdr before,
		header = {
			.ether_type = rte_cpu_to_be_16(v6 ? RTE_ETHER_TYPE_IPV6
							  : RTE_ETHER_TYPE_IPV4),
		};
	struct rte_mbuf *block;
	void *eth = rte_pktmbuf_prepend(m, ETHER);

	if (!eth)
		return NULL;
	memcpy(&before, eth, sizeof(before));
	memcpy(eth, &header, sizeof(header));
	block = copy_frame(c, m, seen, comment);
	memcpy(eth, &before, sizeof(before));
	rte_pktmbuf_adj(m, ETHER);
	return block;
}

static void take(struct worker *w, struct rte_mbuf *m, const struct seen *seen)
{
	struct capture *c = w->capture;
	char comment[CAPTURE_COMMENT];
	struct rte_mbuf *block;

	if (!is_wanted(c, m, seen))
		return;
	write_comment(w, seen, comment);
	block = seen->frame ? copy_frame(c, m, seen, comment) : copy_packet(c, m, seen, comment);
	if (block && rte_ring_mp_enqueue(c->ring, block) == 0)
		return;
	rte_pktmbuf_free(block);
	__atomic_fetch_add(&c->missed, 1, __ATOMIC_RELAXED);
}

/* --- where packets are --- */

static void take_frame(struct worker *w, struct rte_mbuf *m, enum capture_point point,
		       unsigned int interface)
{
	const struct seen seen = {
		.point = point,
		.interface = interface,
		.reason = DROP_NONE,
		.frame = true,
		.spi = spi_of_frame(m),
	};

	take(w, m, &seen);
}

void capture_received(struct worker *w, struct rte_mbuf **m, unsigned int n, unsigned int interface)
{
	if (!(w->capture->points >> CAPTURE_RX & 1))
		return;
	for (unsigned int i = 0; i < n; i++)
		take_frame(w, m[i], CAPTURE_RX, interface);
}

void capture_sent(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	if (!(w->capture->points >> CAPTURE_TX & 1))
		return;
	for (unsigned int i = 0; i < n; i++)
		take_frame(w, m[i], CAPTURE_TX, m[i]->port);
}

/* A packet that came out of an SA, or goes into one: its struct packet names the SA. */
static void take_packet(struct worker *w, struct rte_mbuf *m, enum capture_point point)
{
	const struct seen seen = {
		.point = point,
		.interface = packet(m)->interface,
		.reason = DROP_NONE,
		.spi = spi_of_sa(packet(m)->sa, packet(m)->generation),
	};

	take(w, m, &seen);
}

void capture_decrypted(struct worker *w, struct rte_mbuf *m)
{
	take_packet(w, m, CAPTURE_DECRYPTED);
}

void capture_to_protect(struct worker *w, struct rte_mbuf *m)
{
	take_packet(w, m, CAPTURE_TO_PROTECT);
}

void capture_dropped(struct stats *counters, struct rte_mbuf *m, enum drop_reason reason,
		     bool frame)
{
	uintptr_t number = ((uintptr_t)counters - (uintptr_t)stats) / sizeof(*stats);
	struct worker *w = &workers[RTE_MIN(number, CONF_MAX_WORKERS - 1ul)];
	struct seen seen = {
		.point = CAPTURE_DROP,
		.interface = packet(m)->interface,
		.reason = reason,
		.frame = frame,
	};

	/* No worker's, but a trace's; or the worker has not taken notice of the capture yet, or does no longer
	 * take part. */
	if (w->stats != counters || !w->capture || seen.interface >= ninterfaces)
		return;
	seen.spi = spi_of_dropped(m, frame);
	take(w, m, &seen);
}
