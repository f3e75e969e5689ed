/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fragments of ESP, AH and UDP to this host. ESP and AH have to be whole to be authenticated;
 * of UDP only the first fragment says whether it is IKE or ESP. And fragments of plaintext
 * that leaves by a policy which asks for ports, or in transport mode, where only whole
 * packets are protected (RFC 4301, 7; RFC 4303, 3.3.4). */
#include <netinet/in.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "base/random.h"
#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "esp/esp_tail.h"
#include "ip/ip_sum.h"
#include "ip/partial.h"
#include "ip/tos.h"
#include "path/reassemble.h"
#include "path/stages.h"
#include "path/worker/handoff.h"
#include "path/worker/policy.h"
#include "path/worker/trace_note.h"
#include "path/worker/tunnel.h"

/* Any sender of fragments can fill a table: ESP with AH, UDP, and plaintext have one each, and
 * fragments whose packet does not become whole are dropped soon. */
#define TABLE_PARTS (REASSEMBLY_PACKETS / 3)
#define UNIT	    8u /* of offsets, bytes */

struct reassembly {
	struct partial_table *esp, *udp, *plain;
};

/* Chooses the worker of a packet's fragments: the same for all workers, and no sender can tell which. */
static struct random_key owner_key;

static bool draw_owner_key(void)
{
	static bool drawn;

	drawn = drawn || !random_fill(&owner_key, sizeof(owner_key));
	return drawn;
}

struct reassembly *reassembly_create(unsigned int wait_ms, uint64_t *dropped)
{
	struct reassembly *r = calloc(1, sizeof(*r));
	uint64_t wait = rte_get_tsc_hz() / 1000 * wait_ms;

	if (!r || !draw_owner_key()) {
		free(r);
		return NULL;
	}
	r->esp = partial_create(TABLE_PARTS, wait, dropped);
	r->udp = partial_create(TABLE_PARTS, wait, dropped);
	r->plain = partial_create(TABLE_PARTS, wait, dropped);
	if (!r->esp || !r->udp || !r->plain) {
		reassembly_free(r);
		return NULL;
	}
	return r;
}

void reassembly_free(struct reassembly *r)
{
	if (!r)
		return;
	partial_free(r->esp);
	partial_free(r->udp);
	partial_free(r->plain);
	free(r);
}

static unsigned int reassembly_owner(const struct worker *w, struct rte_mbuf *m,
				     const struct headers *h)
{
	struct {
		struct cygnet_addr src, dst;
		uint64_t id;
	} key = {.src = packet_src(m), .dst = packet_dst(m)};

	if (packet_family(m) == AF_INET6)
		memcpy(&key.id, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->fragment_at + 4), 4);
	else
		key.id = packet_ip(m)->packet_id;
	return random_hash(&owner_key, &key, sizeof(key)) % w->workers;
}

/* Read offset and MF of a fragment. @return false: no payload, not a multiple of 8 bytes with MF set, or an
 * end beyond 64 KiB */
static bool read_part(struct rte_mbuf *m, const struct headers *h, struct partial_part *part)
{
	unsigned int text = rte_pktmbuf_data_len(m) - h->len, field;
	uint16_t raw;

	part->front = h->len;
	if (packet_family(m) == AF_INET6) {
		memcpy(&raw, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->fragment_at + 2),
		       sizeof(raw));
		field = rte_be_to_cpu_16(raw);
		part->offset = field & RTE_IPV6_EHDR_FO_MASK;
		part->more = field & RTE_IPV6_EHDR_MF_MASK;
	} else {
		field = rte_be_to_cpu_16(packet_ip(m)->fragment_offset);
		part->offset = (field & RTE_IPV4_HDR_OFFSET_MASK) * RTE_IPV4_HDR_OFFSET_UNITS;
		part->more = field & RTE_IPV4_HDR_MF_FLAG;
	}
	return text && !(part->more && text % UNIT) && part->offset + text + h->len <= UINT16_MAX;
}

/* Whether policies of an interface may be about what a fragment belongs to. */
static bool by_interface(struct rte_mbuf *m, const struct headers *h)
{
	return (packet(m)->resume != STAGE_LOCAL || h->proto == IPPROTO_UDP) &&
	       (cygnet_spd_binds(sadb) || tunnels_exist());
}

/* RFC 791, 3.2; RFC 8200, 4.5. Policies see only the first fragment's fields: a fragment that other policies
 * are about is no part of the packet. */
static struct partial_key key_of(struct rte_mbuf *m, const struct headers *h)
{
	struct partial_key key = {
		.src = packet_src(m),
		.dst = packet_dst(m),
		.af = packet_family(m),
		.resume = packet(m)->resume,
		.interface = by_interface(m, h) ? packet(m)->interface : 0,
	};

	if (key.af == AF_INET6) {
		memcpy(&key.id, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->fragment_at + 4),
		       sizeof(key.id));
	} else {
		key.id = packet_ip(m)->packet_id;
		key.proto = h->proto;
	}
	return key;
}

/* A buffer for a packet that is too long for the ports' buffers. Spare room goes behind the packet first,
 * because ESP always adds a trailer. @return NULL: there is none */
static struct rte_mbuf *large(unsigned int len)
{
	struct rte_mbuf *m = packet_pool_large ? rte_pktmbuf_alloc(packet_pool_large) : NULL;
	unsigned int left;

	if (!m)
		return NULL;
	left = m->buf_len - RTE_MIN(m->buf_len, len + ESP_TAIL_MAX);
	m->data_off = (uint16_t)RTE_MIN(left, (unsigned int)RTE_PKTMBUF_HEADROOM);
	return m;
}

static void copy_text(uint8_t *to, struct rte_mbuf *part)
{
	for (; part; part = packet(part)->next) {
		memcpy(to, rte_pktmbuf_mtod(part, const void *), rte_pktmbuf_data_len(part));
		to += rte_pktmbuf_data_len(part);
	}
}

/* Put a packet together from its fragments, in one segment, with the headers of the first fragment.
 * @return NULL: no memory */
static struct rte_mbuf *join(const struct partial_whole *whole)
{
	struct rte_mbuf *first = whole->parts, *rest = packet(first)->next, *m = first;
	unsigned int more = whole->len - rte_pktmbuf_data_len(first);
	unsigned int head = whole->front + rte_pktmbuf_data_len(first);

	rte_pktmbuf_prepend(first, (uint16_t)whole->front);
	if (more + ESP_TAIL_MAX > rte_pktmbuf_tailroom(first)) {
		m = large(head + more);
		if (!m) {
			partial_release(first);
			return NULL;
		}
		*packet(m) = *packet(first);
		memcpy(rte_pktmbuf_append(m, (uint16_t)head), rte_pktmbuf_mtod(first, void *),
		       head);
		rte_pktmbuf_free(first);
	}
	copy_text((uint8_t *)rte_pktmbuf_append(m, (uint16_t)more), rest);
	partial_release(rest);
	return m;
}

/* The header of a whole packet. Plaintext that its source has cut, may be cut. */
static void settle_v4(struct rte_mbuf *m)
{
	struct rte_ipv4_hdr *ip = packet_ip(m);

	ip->total_length = rte_cpu_to_be_16(rte_pktmbuf_data_len(m));
	ip->fragment_offset &= rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	if (packet(m)->resume != STAGE_LOCAL)
		ip->fragment_offset = 0;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ip_checksum(ip, ip_header_len(ip));
}

/* The fragment header goes. @return false: another one is behind it */
static bool settle_v6(struct rte_mbuf *m)
{
	struct rte_ipv6_fragment_ext ext;
	struct rte_ipv6_hdr *ip = packet_ip6(m);

	memcpy(&ext, ip + 1, sizeof(ext));
	memmove((uint8_t *)ip + sizeof(ext), ip, sizeof(*ip));
	rte_pktmbuf_adj(m, sizeof(ext));
	ip = packet_ip6(m);
	ip->proto = ext.next_header;
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(rte_pktmbuf_data_len(m) - sizeof(*ip)));
	return ext.next_header != IPPROTO_FRAGMENT;
}

/* RFC 3168, 5.3: the packet gets CE if a fragment has CE. @return false: fragments with Not-ECT and with ECT
 * are mixed */
static bool join_ecn(struct rte_mbuf *m, uint8_t fields)
{
	const uint8_t not_capable = 1u << 0, met = 1u << TOS_ECN;

	if (fields & not_capable)
		return fields == not_capable;
	if (fields & met)
		tos_set(m, (uint8_t)(tos_get(m) | TOS_ECN));
	return true;
}

/* A packet has come whole. @return it, or NULL if it was dropped */
static struct rte_mbuf *make_whole(struct worker *w, const struct partial_whole *whole)
{
	struct rte_mbuf *m;

	if (whole->front + whole->len > UINT16_MAX) {
		w->stats->drop[DROP_MALFORMED] += partial_release(whole->parts);
		return NULL;
	}
	m = join(whole);
	if (!m) {
		w->stats->drop[DROP_NO_BUFFER]++;
		return NULL;
	}
	if (packet_family(m) == AF_INET)
		settle_v4(m);
	else if (!settle_v6(m)) {
		drop(w, m, DROP_IPV6_HEADERS);
		return NULL;
	}
	if (!join_ecn(m, whole->ecn)) {
		drop(w, m, DROP_REASSEMBLY);
		return NULL;
	}
	m->ol_flags &= RTE_MBUF_F_EXTERNAL; /* where its buffer is stays true */
	if (packet(m)->resume != STAGE_LOCAL)
		packet(m)->whole = (uint16_t)whole->longest;
	return m;
}

static struct partial_table *table_for(const struct reassembly *r, struct rte_mbuf *m,
				       uint8_t proto)
{
	if (packet(m)->resume != STAGE_LOCAL)
		return r->plain;
	return proto == IPPROTO_UDP ? r->udp : r->esp;
}

/* Waiting fragments keep none of the buffers that the ports receive into, if these are few.
 * @return NULL: there is no other */
static struct rte_mbuf *spare_buffer(struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	if (!packet_pool_parts || m->pool == packet_pool_jumbo)
		return m;
	copy = rte_pktmbuf_alloc(packet_pool_parts);
	if (copy && rte_pktmbuf_data_len(m) <= rte_pktmbuf_tailroom(copy)) {
		*packet(copy) = *packet(m);
		memcpy(rte_pktmbuf_append(copy, rte_pktmbuf_data_len(m)),
		       rte_pktmbuf_mtod(m, const void *), rte_pktmbuf_data_len(m));
	} else {
		rte_pktmbuf_free(copy);
		copy = NULL;
	}
	rte_pktmbuf_free(m);
	return copy;
}

/* A fragment of which this worker puts the packet together, packet()->resume set.
 * @return the packet once it is whole, or NULL */
static struct rte_mbuf *add_fragment(struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	struct partial_whole whole;
	struct partial_part part;
	struct partial_key key;

	/* Extension headers that stand in front of it are not put together here. */
	if (packet_family(m) == AF_INET6 && h->fragment_at != sizeof(struct rte_ipv6_hdr)) {
		drop(w, m, DROP_IPV6_HEADERS);
		return NULL;
	}
	if (!read_part(m, h, &part)) {
		drop(w, m, DROP_MALFORMED);
		return NULL;
	}
	m = spare_buffer(m);
	if (!m) {
		w->stats->drop[DROP_NO_BUFFER]++;
		return NULL;
	}
	key = key_of(m, h);
	if (!partial_add(table_for(w->reassembly, m, h->proto), &key, m, &part, rte_rdtsc(),
			 &whole))
		return NULL;
	m = make_whole(w, &whole);
	if (m)
		w->stats->reassembled += packet(m)->resume == STAGE_LOCAL;
	return m;
}

struct rte_mbuf *reassemble(struct worker *w, struct rte_mbuf *m, const struct headers *h,
			    enum stage then)
{
	unsigned int owner = reassembly_owner(w, m, h);

	if (unlikely(w->trace != NULL)) {
		trace_wait(w->trace, DROP_REASSEMBLY, "the other fragments of the packet");
		return NULL;
	}
	packet(m)->resume = (uint8_t)then;
	if (owner == w->id)
		return add_fragment(w, m, h);
	handoff(w, m, owner, STAGE_REASSEMBLE);
	return NULL;
}

void stage_reassemble(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct headers h = headers_read(m[i]);
		struct rte_mbuf *whole = add_fragment(w, m[i], &h);

		if (whole)
			stage_add(&w->stages, (enum stage)packet(whole)->resume, whole);
	}
}

void reassembly_expire(struct worker *w)
{
	struct reassembly *r = w->reassembly;
	uint64_t now = rte_rdtsc();

	partial_expire(r->esp, now);
	partial_expire(r->udp, now);
	partial_expire(r->plain, now);
}
