/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "path/worker/unprotect.h"
#include "path/sa_session.h"
#include "path/stages.h"

/* What does not depend on number and content, which the packet of a trace does not have. */
static enum drop_reason check_in(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				 struct esp_job *job)
{
	(void)s;
	(void)job;
	if (!lifetime_allows(sa))
		return DROP_SA_EXPIRED;
	return cygnet_sa_path(sa)->encap == packet(m)->udp ? DROP_NONE : DROP_ESP_ENCAP;
}

static enum drop_reason prepare_in(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				   struct esp_job *job)
{
	enum drop_reason reason = check_in(m, sa, s, job);

	return reason == DROP_NONE ? unprotect_prepare(m, sa, s, job) : reason;
}

void stage_unprotect(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	sa_submit(w, m, n, STAGE_UNPROTECT, unlikely(w->trace != NULL) ? check_in : prepare_in);
}
