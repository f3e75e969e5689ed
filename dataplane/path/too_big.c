/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <rte_udp.h>

#include "base/changes.h"
#include "base/clock.h"
#include "base/sadb.h"
#include "esp/path_mtu.h"
#include "ip/headers.h"
#include "path/fragment.h"
#include "path/too_big.h"
#include "path/worker/worker.h"

#define PER_SECOND 100 /* errors about an SA that each worker believes */
/* Numbers by which an error may be late: of a second at four million packets a second. */
#define LATE	    (1u << 22)
#define ICMP_HEADER 8u

/* A packet that we may have sent, by what an error quotes of it. */
struct sent {
	uint8_t af, proto;
	bool udp;
	uint16_t sport, dport; /* with udp; network byte order */
	uint32_t spi;	       /* network byte order */
	bool has_seq;	       /* the shortest quotation of AH has none */
	uint32_t seq;	       /* low 32 bits, host byte order */
	unsigned int len;      /* of the packet, bytes */
	struct cygnet_addr src, dst;
};

/* The SPI behind the IP header, behind UDP if need be. @return false: not that of an SA */
static bool read_spi(struct sent *s, uint8_t proto, const uint8_t *l4, unsigned int len)
{
	unsigned int offset = 0;
	struct rte_udp_hdr udp;

	s->proto = proto == IPPROTO_UDP ? IPPROTO_ESP : proto;
	s->udp = proto == IPPROTO_UDP;
	if (s->udp && len >= sizeof(udp)) {
		memcpy(&udp, l4, sizeof(udp));
		s->sport = udp.src_port;
		s->dport = udp.dst_port;
	}
	if (s->udp)
		offset = sizeof(udp);
	else if (proto == IPPROTO_AH)
		offset = 4; /* RFC 4302, 2 */
	else if (proto != IPPROTO_ESP)
		return false;
	if (len < offset + sizeof(s->spi))
		return false;
	memcpy(&s->spi, l4 + offset, sizeof(s->spi));
	offset += (unsigned int)sizeof(s->spi);
	s->has_seq = len >= offset + sizeof(s->seq);
	if (s->has_seq) {
		memcpy(&s->seq, l4 + offset, sizeof(s->seq));
		s->seq = rte_be_to_cpu_32(s->seq);
	}
	/* The eight bytes that each error quotes (RFC 792) end in front of the number of AH. */
	return s->spi && (s->has_seq || s->proto == IPPROTO_AH);
}

static bool read_v4(struct sent *s, const uint8_t *quote, unsigned int len)
{
	struct rte_ipv4_hdr ip;
	unsigned int header;

	if (len < sizeof(ip))
		return false;
	memcpy(&ip, quote, sizeof(ip));
	header = ip_header_len(&ip);
	if (ip.version_ihl >> 4 != 4 || header < sizeof(ip) || header > len ||
	    (ip.fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK)))
		return false;
	*s = (struct sent){
		.af = AF_INET,
		.len = rte_be_to_cpu_16(ip.total_length),
		.src = cygnet_addr4(ip.src_addr),
		.dst = cygnet_addr4(ip.dst_addr),
	};
	return read_spi(s, ip.next_proto_id, quote + header, len - header);
}

static bool read_v6(struct sent *s, const uint8_t *quote, unsigned int len)
{
	unsigned int header = sizeof(struct rte_ipv6_hdr);
	struct rte_ipv6_fragment_ext ext;
	struct rte_ipv6_hdr ip;
	uint8_t proto;

	if (len < header + sizeof(ext) || *quote >> 4 != 6)
		return false;
	memcpy(&ip, quote, sizeof(ip));
	memcpy(&ext, quote + header, sizeof(ext));
	*s = (struct sent){.af = AF_INET6, .len = header + rte_be_to_cpu_16(ip.payload_len)};
	memcpy(&s->src, ip6_src(&ip), sizeof(s->src));
	memcpy(&s->dst, ip6_dst(&ip), sizeof(s->dst));
	proto = ip.proto;
	if (proto == IPPROTO_FRAGMENT) {
		/* Only the first one shows an SPI. */
		if (ext.frag_data & rte_cpu_to_be_16(RTE_IPV6_EHDR_FO_MASK))
			return false;
		proto = ext.next_header;
		header += (unsigned int)sizeof(ext);
	}
	return read_spi(s, proto, quote + header, len - header);
}

/* Whether the number is one of the last LATE that the SA has used. Who does not see the SA's packets has to guess it
 * besides the SPI. */
static bool was_sent_lately(const struct cygnet_sa *sa, const struct sent *s)
{
	uint64_t last = __atomic_load_n(&sa->seq, __ATOMIC_RELAXED);
	uint32_t ago = (uint32_t)last - s->seq;

	return !s->has_seq || (ago < LATE && ago < last);
}

/* @return the SA that has sent that packet, or NULL */
static struct cygnet_sa *sender(const struct sent *s)
{
	struct cygnet_sa *sa = cygnet_sad_lookup_out(sadb, s->spi, s->proto, s->af, &s->dst);
	const struct cygnet_path *path;

	if (!sa)
		return NULL;
	path = cygnet_sa_path(sa);
	if (memcmp(&path->src, &s->src, sizeof(s->src)) || s->udp != (path->encap != 0) ||
	    (s->udp && (s->sport != path->sport || s->dport != path->dport)))
		return NULL;
	return was_sent_lately(sa, s) ? sa : NULL;
}

/* Whether a router may say that of a packet of this length. */
static bool is_plausible(const struct sent *s, uint32_t mtu)
{
	return mtu >= path_mtu_least(s->af) && mtu < s->len;
}

/* Lower the path MTU, never raise it: the last value holds until it is forgotten. */
static void note(struct cygnet_sa *sa, uint32_t mtu)
{
	unsigned int before = path_mtu(sa, UINT16_MAX);

	if (mtu <= before)
		__atomic_store_n(&sa->path_mtu,
				 (uint64_t)mtu << PATH_MTU_SHIFT |
					 (clock_seconds() & PATH_MTU_SECOND),
				 __ATOMIC_RELAXED);
	/* Said once more, it only holds longer; what flows remember is the MTU, not until when. */
	if (mtu < before)
		changes_note_one();
}

/* @return whether the message says "too big", of whatever packet; then mtu is set */
static bool says_too_big(struct rte_mbuf *m, const struct headers *h, uint32_t *mtu)
{
	bool v6 = packet_family(m) == AF_INET6;
	const uint8_t *icmp = rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len);

	if (h->proto != (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) || h->fragment ||
	    rte_pktmbuf_data_len(m) < h->len + ICMP_HEADER)
		return false;
	if (v6 ? icmp[0] != ICMP6_PACKET_TOO_BIG || icmp[1] != 0
	       : icmp[0] != ICMP_DEST_UNREACH || icmp[1] != ICMP_FRAG_NEEDED)
		return false;
	memcpy(mtu, icmp + 4, sizeof(*mtu));
	*mtu = rte_be_to_cpu_32(*mtu);
	/* The first half is unused, and not always zero (RFC 1191, 4; RFC 4884, 4.1). */
	if (!v6)
		*mtu &= UINT16_MAX;
	return true;
}

static bool checksum_is_right(struct rte_mbuf *m, const struct headers *h)
{
	const uint8_t *icmp = rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len);

	if (packet_family(m) == AF_INET)
		return rte_raw_cksum(icmp, rte_pktmbuf_data_len(m) - h->len) == UINT16_MAX;
	return h->len == sizeof(struct rte_ipv6_hdr) &&
	       !rte_ipv6_udptcp_cksum_verify(packet_ip6(m), icmp);
}

void too_big_learn(struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	const uint8_t *quote = rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len + ICMP_HEADER);
	struct cygnet_sa *sa = NULL;
	struct sent sent;
	unsigned int len;
	uint32_t mtu;

	if (!says_too_big(m, h, &mtu))
		return;
	len = rte_pktmbuf_data_len(m) - h->len - ICMP_HEADER;
	if (checksum_is_right(m, h) &&
	    (packet_family(m) == AF_INET6 ? read_v6(&sent, quote, len)
					  : read_v4(&sent, quote, len)) &&
	    is_plausible(&sent, mtu))
		sa = sender(&sent);
	/* Junk does not use up the rate, nor do errors about another SA. */
	if (!sa || !rate_allows(&w->too_big[cygnet_sa_index(sadb, sa) % TOO_BIG_SAS], PER_SECOND)) {
		w->stats->too_big_ignored++;
		return;
	}
	note(sa, mtu);
	w->stats->too_big_learned++;
}

bool too_big_may_cut(struct rte_mbuf *m)
{
	return packet_family(m) == AF_INET6 || packet(m)->whole || packet_may_be_cut(m);
}

void too_big_route(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	unsigned int mtu = path_mtu(sa, UINT16_MAX), n;
	struct rte_mbuf *parts[FRAGMENTS_MAX];

	if (rte_pktmbuf_pkt_len(m) <= mtu || !too_big_may_cut(m)) {
		stage_add(&w->stages, STAGE_ROUTE, m);
		return;
	}
	n = fragment_packet(w, m, mtu, parts);
	for (unsigned int i = 0; i < n; i++)
		stage_add(&w->stages, STAGE_ROUTE, parts[i]);
}
