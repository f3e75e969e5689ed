/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "path/worker/unprotect.h"
#include "path/sa_session.h"
#include "path/stages.h"

static enum drop_reason prepare_in(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				   struct esp_job *job)
{
	if (!lifetime_allows(sa))
		return DROP_SA_EXPIRED;
	if (cygnet_sa_path(sa)->encap != packet(m)->udp)
		return DROP_ESP_ENCAP;
	return unprotect_prepare(m, sa, s, job);
}

void stage_unprotect(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	sa_submit(w, m, n, STAGE_UNPROTECT, prepare_in);
}
