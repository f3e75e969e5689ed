/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>

#include "crypto/device/sessions.h"
#include "esp/outer.h"
#include "esp/out_use.h"
#include "esp/ordinary.h"
#include "path/fast/fast.h"
#include "path/fast/per_packet.h"
#include "path/fast/sa_route.h"
#include "path/worker/unprotect.h"
#include "path/worker/audit.h"
#include "path/worker/owner.h"
#include "path/worker/submit.h"
#include "path/worker/tunnel.h"

void fast_protect(struct worker *w, struct rte_mbuf *m, struct session *s)
{
	unsigned int inner = rte_pktmbuf_data_len(m);
	struct cygnet_sa *sa = s->route.sa;
	struct packet *p = packet(m);
	enum drop_reason reason = DROP_SEQ_EXHAUSTED;

	p->seen = w->seen;
	p->sa = s->sa;
	p->generation = s->generation;
	p->seq = 0;
	if (s->shared)
		send_order_note(w, s);
	if (out_reserve(s, sa, 1, CRYPTO_BATCH, &p->seq))
		reason = esp_out_tunnel(m, s, p->seq, crypto_job(&w->crypto));
	if (reason != DROP_NONE) {
		send_nothing(w, s, p->seq);
		audit_drop(w, m, reason, sa, 0);
		return;
	}
	out_count(s, sa, 1, inner);
	tunnel_count_out(w, sa, 1, inner);
	submit_packet(w, m, s, sa);
}

void fast_unprotect(struct worker *w, struct rte_mbuf *m, struct session *s)
{
	struct cygnet_sa *sa = s->route.sa;
	struct packet *p = packet(m);
	struct rte_esp_hdr esp;
	enum drop_reason reason;

	esp_in_identify(m, s);
	if (rte_pktmbuf_data_len(m) < p->esp + sizeof(esp)) {
		drop(w, m, DROP_ESP_TRUNCATED);
		return;
	}
	memcpy(&esp, rte_pktmbuf_mtod_offset(m, const uint8_t *, p->esp), sizeof(esp));
	p->seq = rte_be_to_cpu_32(esp.seq);
	reason = unprotect_prepare(m, sa, s, crypto_job(&w->crypto));
	if (reason != DROP_NONE)
		audit_drop(w, m, reason, sa, p->seq);
	else
		submit_packet(w, m, s, sa);
}

void fast_handoff(struct worker *w, struct rte_mbuf *m, const struct flow *f)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	struct packet *p = packet(m);
	struct rte_esp_hdr esp;

	p->sa = f->sa;
	p->generation = f->generation;
	if (f->kind == FLOW_HANDOFF_OUT) {
		p->fits_route = 1; /* flow.longest */
		owner_handoff(w, m, STAGE_FIT);
		return;
	}
	p->src = packet_src(m);
	p->esp = (uint16_t)outer_len(ip[0] >> 4 == 6);
	memcpy(&esp, ip + p->esp, sizeof(esp));
	p->seq = rte_be_to_cpu_32(esp.seq);
	owner_handoff(w, m, STAGE_UNPROTECT);
}

/* The other worker has made the checks of the stages before: ESP without UDP and options, or a packet
 * that was not put together and fits its own route. */
static bool is_plain(struct rte_mbuf *m, const struct session *s)
{
	const struct packet *p = packet(m);

	return s->inbound ? p->stage == STAGE_UNPROTECT && !s->ah && !p->udp &&
				    p->esp == outer_len(packet_family(m) == AF_INET6)
			  : p->stage == STAGE_FIT && !p->whole && p->fits_route;
}

bool fast_handed(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	struct session *s;

	if ((p->stage != STAGE_FIT && p->stage != STAGE_UNPROTECT) || m->nb_segs > 1)
		return false;
	s = session_peek(w->sessions, p->sa, p->generation);
	if (!s || s->route.until <= w->now || !sa_route_renew(w, s) || !is_plain(m, s) ||
	    !is_ordinary(s, s->inbound ? 0 : rte_pktmbuf_data_len(m)))
		return false;
	w->stats->shortcut++;
	if (s->inbound)
		fast_unprotect(w, m, s);
	else
		fast_protect(w, m, s);
	return true;
}
