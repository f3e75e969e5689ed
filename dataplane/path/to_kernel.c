/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/interface.h"
#include "path/fragment.h"
#include "path/stages.h"
#include "path/worker/police.h"
#include "path/worker/tx.h"

static void to_kernel(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *parts[FRAGMENTS_MAX];
	uint16_t mtu = interfaces[packet(m)->interface].mtu;
	unsigned int n;

	if (!police_forwarded(w, m))
		return;
	if (rte_pktmbuf_pkt_len(m) <= mtu) {
		tap_packet(w, m);
		return;
	}
	n = fragment_packet(w, m, mtu, parts);
	for (unsigned int i = 0; i < n; i++)
		tap_packet(w, parts[i]);
}

void stage_to_kernel(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		to_kernel(w, m[i]);
}
