/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/device/pool.h"
#include "esp/esp.h"
#include "esp/path_mtu.h"
#include "ip/headers.h"
#include "path/fragment.h"
#include "path/icmp_error.h"
#include "path/reassemble.h"
#include "path/sa_session.h"
#include "path/stages.h"
#include "path/worker/next_hop.h"
#include "path/worker/policy.h"

/* In transport mode only whole packets are protected (RFC 4303, 3.3.4), and cut afterwards if they
 * may be cut. So are packets of a policy for certain ports, as its SA does not take parts without
 * ports (RFC 4301, 7).
 * @return 0 if the packet, once it is protected, fits the path of its SA, or need not; else the length
 * of the longest packet that fits, bytes */
static unsigned int longest_fitting(struct rte_mbuf *m, const struct cygnet_sa *sa,
				    const struct session *s)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	struct next_hop hop = sa_next_hop(sa);
	unsigned int mtu = path_mtu(sa, next_hop_mtu(&hop)), kept = esp_out_kept(m, s);
	unsigned int len = rte_pktmbuf_data_len(m), longest = packet_route_limit(m);

	/* Every link takes an IPv6 packet of that length: the outer packet is cut (RFC 2473, 7.1). */
	if (packet_family(m) == AF_INET6 && len <= IPV6_MIN_MTU)
		return 0;
	if (hop.kind != ROUTE_FORWARD || (s->transport && packet_may_be_cut(m)))
		return 0;
	if (esp_out_size(s, path, kept, len) > mtu)
		longest = RTE_MIN(longest, esp_out_mtu(s, path, kept, mtu));
	if (len <= longest)
		return 0;
	if (packet(m)->whole || (packet_may_be_cut(m) && policy_asks_ports(m)))
		return 0;
	return RTE_MAX(longest, 1u);
}

/* A packet that is padded beyond the usual length has to be in a longer buffer. That of a trace is of no
 * pool, and long enough. */
static struct rte_mbuf *make_room(struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	struct rte_mbuf *longer;

	if (!sa->tfc || !packet_pool_jumbo || m->pool == packet_pool_jumbo || !m->pool ||
	    rte_pktmbuf_data_len(m) > MTU_USUAL)
		return m;
	longer = packet_move(m, packet_pool_jumbo);
	return longer ? longer : m;
}

static void to_protect(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	stage_add(&w->stages, STAGE_PROTECT, make_room(m, sa));
}

/* A packet that is too long is cut before it is protected: the peer need not reassemble ESP, and
 * each part is authentic by itself (RFC 4301, 8.2). With DF the source hears how long it may be. */
static void cut(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa, unsigned int mtu)
{
	struct rte_mbuf *parts[FRAGMENTS_MAX];
	unsigned int n;

	if (!packet_may_be_cut(m)) {
		icmp_error(w, m, ICMP_TOO_BIG, (uint16_t)mtu);
		drop(w, m, DROP_TOO_BIG);
		return;
	}
	n = fragment_packet(w, m, mtu, parts);
	for (unsigned int i = 0; i < n; i++)
		to_protect(w, parts[i], sa);
}

/* In transport mode only whole packets are protected (RFC 4303, 3.3.4).
 * @return false: the packet is whole, and stays the caller's */
static bool take_fragment(struct worker *w, struct rte_mbuf *m)
{
	struct headers h = headers_read(m);

	if (!h.fragment)
		return false;
	m = reassemble(w, m, &h, STAGE_OUTBOUND);
	if (m)
		stage_add(&w->stages, STAGE_OUTBOUND, m);
	return true;
}

/* @return false: the sessions are busy, and the packet stays the caller's */
static bool fit(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_sa *sa;
	struct session *s;
	enum sa_session found = sa_session_find(w, m, true, &sa, &s);
	unsigned int mtu;

	if (found != SA_SESSION_FOUND)
		return found != SA_SESSION_BUSY;
	if (s->transport && packet(m)->from_kernel && take_fragment(w, m))
		return true;
	mtu = longest_fitting(m, sa, s);
	if (mtu)
		cut(w, m, sa, mtu);
	else
		to_protect(w, m, sa);
	return true;
}

void stage_fit(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!fit(w, m[i])) {
			stage_return(&w->stages, STAGE_FIT, m + i, n - i);
			return;
		}
	}
}
