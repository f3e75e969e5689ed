/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/peers.h"
#include "base/settings.h"
#include "host/interface.h"
#include "path/worker/police.h"

_Static_assert(DROP_POLICED_PEER + POLICE_FRAGMENTS == DROP_POLICED_FRAGMENTS &&
		       DROP_POLICED_PEER + POLICE_SA == DROP_POLICED_SA &&
		       POLICE_SA + 1 == POLICE_CLASSES,
	       "a drop reason for each class, in their order");

#define LEAST_BURST 64u
/* Messages a second of a neighbour in use: of all that the kernel may be made to ask for, fewer than the default of
 * police_arp. An answer comes once a second at most. */
#define OF_NEIGHBOUR 4u

static void set_profile(struct rte_meter_srtcm_profile *profile, uint32_t rate)
{
	uint64_t burst = RTE_MAX(rate / 4, LEAST_BURST);
	struct rte_meter_srtcm_params params = {.cir = rate, .cbs = burst, .ebs = burst};

	rte_meter_srtcm_profile_config(profile, &params);
}

static uint8_t share_of(const struct worker *w, unsigned int interface)
{
	const struct device *device = interface_device(&interfaces[interface]);
	unsigned int queues = device ? device->queues : 1;

	return (uint8_t)(queues ? RTE_MIN(queues, w->workers) : 1);
}

static void set_port(struct worker *w, unsigned int interface)
{
	for (unsigned int c = 0; c < POLICE_CLASSES; c++) {
		struct police_meter *meter = &w->police.port[interface][c];
		uint32_t rate = w->police.rate[c];

		if (!rate)
			continue;
		set_profile(&meter->profile, RTE_MAX(rate / w->police.share[interface], 1u));
		rte_meter_srtcm_config(&meter->meter, &meter->profile);
	}
}

static void set_many(struct police_many *many, uint32_t rate)
{
	if (!rate)
		return;
	set_profile(&many->profile, rate);
	for (unsigned int i = 0; i < POLICE_MANY; i++)
		rte_meter_srtcm_config(&many->of[i], &many->profile);
}

void police_init(struct worker *w)
{
	struct police *police = &w->police;
	uint32_t rate[POLICE_CLASSES];
	bool changed;

	for (unsigned int c = 0; c < POLICE_CLASSES; c++)
		rate[c] = __atomic_load_n(&settings_police[c], __ATOMIC_RELAXED);
	changed = memcmp(police->rate, rate, sizeof(rate)) != 0;
	memcpy(police->rate, rate, sizeof(rate));
	if (changed) {
		set_many(&police->peer, rate[POLICE_PEER]);
		set_many(&police->sa, rate[POLICE_SA]);
	}
	/* Also the meters of ports that this worker has not seen yet: another worker may hand off a packet of a
	 * port that was added in this turn. Setting a meter refills it, so only
	 * those are set whose rate has changed. */
	for (unsigned int p = 0; p < CONF_MAX_INTERFACES; p++) {
		uint8_t share = share_of(w, p);

		if (!changed && share == police->share[p])
			continue;
		police->share[p] = share;
		set_port(w, p);
	}
}

static bool is_within(const struct worker *w, struct rte_meter_srtcm *meter,
		      struct rte_meter_srtcm_profile *profile)
{
	return rte_meter_srtcm_color_blind_check(meter, profile, w->now, 1) != RTE_COLOR_RED;
}

static bool passes_or_drop(struct worker *w, struct rte_mbuf *m, bool within,
			   enum police_class class, bool frame)
{
	if (!within)
		packet_drop_as(w->stats, m, (enum drop_reason)(DROP_POLICED_PEER + (int)class),
			       frame);
	return within;
}

bool police_passes(struct worker *w, struct rte_mbuf *m, enum police_class class, bool frame)
{
	struct police_meter *meter = &w->police.port[packet(m)->interface][class];

	packet(m)->bulk = class == POLICE_OTHER;
	if (!w->police.rate[class])
		return true;
	return passes_or_drop(w, m, is_within(w, &meter->meter, &meter->profile), class, frame);
}

static bool is_in_use(struct worker *w, struct rte_mbuf *m, const struct neigh_message *said)
{
	const struct neigh sender = {.addr = said->sender,
				     .af = said->af,
				     .interface = packet(m)->interface};
	unsigned int place;

	return neigh_asked(&sender, &place) &&
	       rate_allows(&w->police.of_neigh[place], OF_NEIGHBOUR);
}

bool police_link(struct worker *w, struct rte_mbuf *m, const struct neigh_message *said, bool frame)
{
	return (said && is_in_use(w, m, said)) || police_passes(w, m, POLICE_ARP, frame);
}

/* @param number  of the meter */
static bool many_passes(struct worker *w, struct rte_mbuf *m, struct police_many *many,
			uint32_t number, enum police_class class)
{
	struct rte_meter_srtcm *meter = &many->of[number % POLICE_MANY];

	if (!w->police.rate[class])
		return true;
	return passes_or_drop(w, m, is_within(w, meter, &many->profile), class, false);
}

bool police_forwarded(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);

	if (p->policed)
		return true;
	if (!p->decrypted)
		return police_passes(w, m, POLICE_OTHER, false);
	packet(m)->bulk = 1;
	return many_passes(w, m, &w->police.sa, p->from & ~PACKET_SA_BIT, POLICE_SA);
}

bool police_ike(struct worker *w, struct rte_mbuf *m)
{
	const struct cygnet_addr src = packet_src(m);
	uint64_t hash;

	if (peers_have(&src, &hash))
		return many_passes(w, m, &w->police.peer, hash >> 32, POLICE_PEER);
	return police_passes(w, m, POLICE_IKE, false);
}

bool police_fragment(struct worker *w, struct rte_mbuf *m)
{
	const struct cygnet_addr src = packet_src(m);
	uint64_t hash;

	return peers_have(&src, &hash) || police_passes(w, m, POLICE_FRAGMENTS, false);
}
