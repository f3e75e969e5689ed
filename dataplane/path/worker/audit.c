/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/audit.h"
#include "base/sadb.h"
#include "base/settings.h"
#include "host/interface.h"
#include "path/worker/audit.h"

_Static_assert(sizeof(((struct audit_record *)0)->port) >= sizeof(((struct interface *)0)->name),
	       "a record has the port's name");

static bool is_auditable(enum drop_reason reason)
{
	switch (reason) {
	case DROP_BAD_SPI:
	case DROP_REPLAY:
	case DROP_AUTH_FAILED:
	case DROP_ESP_PADDING:
	case DROP_AH_NEXT:
	case DROP_POLICY_INBOUND:
	case DROP_TUNNEL_MISSING:
	case DROP_POLICY_PLAINTEXT:
	case DROP_SEQ_EXHAUSTED:
		return true;
	default:
		return false;
	}
}

/* Whether the packet is still as it was received, with ESP or AH. Other packets are described by their selectors. */
static bool is_protected(enum drop_reason reason)
{
	return reason != DROP_POLICY_INBOUND && reason != DROP_TUNNEL_MISSING &&
	       reason != DROP_POLICY_PLAINTEXT && reason != DROP_SEQ_EXHAUSTED;
}

static struct rate *rate_of_cause(struct audit_rates *rates, enum drop_reason reason,
				  const struct cygnet_sa *sa, const struct cygnet_addr *src)
{
	struct {
		uint32_t reason, spi;
		struct cygnet_addr src;
	} cause = {.reason = reason};

	if (sa)
		cause.spi = sa->spi;
	else
		cause.src = *src;
	return &rates->cause[random_hash(&rates->key, &cause, sizeof(cause)) % AUDIT_CAUSES];
}

/* The reason's rate is counted last: packets beyond the rate of their cause do not use it up. */
static bool within_rates(struct worker *w, struct rte_mbuf *m, enum drop_reason reason,
			 const struct cygnet_sa *sa)
{
	struct rate *of_reason = &w->audit.reason[reason];
	struct cygnet_addr src;

	if (rate_is_spent(of_reason, AUDIT_OF_REASON, AUDIT_SECONDS))
		return false;
	src = packet_src(m);
	return rate_allows_in(rate_of_cause(&w->audit, reason, sa, &src), AUDIT_OF_CAUSE,
			      AUDIT_SECONDS) &&
	       rate_allows_in(of_reason, AUDIT_OF_REASON, AUDIT_SECONDS);
}

static void describe_packet(struct audit_record *r, struct rte_mbuf *m, uint8_t proto)
{
	if (is_protected(r->reason)) {
		r->flow.af = packet_family(m);
		r->flow.src = packet_src(m);
		r->flow.dst = packet_dst(m);
		r->flow.proto = proto;
	} else {
		packet_flow(m, &r->flow);
	}
	if (r->flow.af == AF_INET6)
		r->flow_label = rte_be_to_cpu_32(packet_ip6(m)->vtc_flow) & 0xfffff;
}

static void describe_sa(struct audit_record *r, const struct cygnet_sa *sa)
{
	r->has_sa = true;
	r->sa = cygnet_sa_index(sadb, sa);
	r->reqid = sa->reqid;
	r->spi = sa->spi;
	r->has_path = !is_protected(r->reason);
	if (r->has_path)
		r->path = *cygnet_sa_path(sa);
}

static void raise(struct worker *w, struct rte_mbuf *m, struct audit_record *r)
{
	r->worker = (uint8_t)w->id;
	memcpy(r->port, interfaces[packet(m)->interface].name,
	       sizeof(interfaces[packet(m)->interface].name));
	if (!audit_raise(r))
		w->stats->unaudited[r->reason]++;
}

static bool wants_record(struct worker *w, struct rte_mbuf *m, enum drop_reason reason,
			 const struct cygnet_sa *sa)
{
	if (!(w->settings & SETTING_AUDIT))
		return false;
	if (within_rates(w, m, reason, sa))
		return true;
	w->stats->unaudited[reason]++;
	return false;
}

void audit_drop(struct worker *w, struct rte_mbuf *m, enum drop_reason reason,
		const struct cygnet_sa *sa, uint64_t seq)
{
	if (is_auditable(reason) && wants_record(w, m, reason, sa)) {
		struct audit_record r = {
			.reason = reason,
			.has_seq = is_protected(reason),
			.seq = seq,
		};

		describe_packet(&r, m, sa ? sa->proto : 0);
		if (sa)
			describe_sa(&r, sa);
		raise(w, m, &r);
	}
	drop(w, m, reason);
}

void audit_drop_unknown(struct worker *w, struct rte_mbuf *m, uint8_t proto, rte_be32_t spi,
			uint32_t seq)
{
	if (wants_record(w, m, DROP_BAD_SPI, NULL)) {
		struct audit_record r = {
			.reason = DROP_BAD_SPI,
			.has_seq = true,
			.seq = seq,
			.spi = spi,
		};

		describe_packet(&r, m, proto);
		raise(w, m, &r);
	}
	drop(w, m, DROP_BAD_SPI);
}
