/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that charon was told lately, for cygnetctl watch. */
#include <arpa/inet.h>

#include "base/event_log.h"
#include "telemetry_table.h"

#define EVENTS_PER_PAGE 32u

static void add_addr(struct rte_tel_data *row, const char *key, uint8_t af,
		     const struct cygnet_addr *addr)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(af, addr, text, sizeof(text)))
		rte_tel_data_add_dict_string(row, key, text);
}

static void add_flow(struct rte_tel_data *row, const struct cygnet_flow *flow)
{
	rte_tel_data_add_dict_string(row, "event", "acquire");
	add_addr(row, "src", flow->af, &flow->src);
	add_addr(row, "dst", flow->af, &flow->dst);
	rte_tel_data_add_dict_u64(row, "proto", flow->proto);
	rte_tel_data_add_dict_u64(row, "sport", flow->sport);
	rte_tel_data_add_dict_u64(row, "dport", flow->dport);
}

static void add_id(struct rte_tel_data *row, const struct cygnet_sa_id *id)
{
	char spi[16];

	snprintf(spi, sizeof(spi), "0x%08x", ntohl(id->spi));
	rte_tel_data_add_dict_string(row, "spi", spi);
	add_addr(row, "dst", id->af, &id->dst);
}

static void add_event(struct rte_tel_data *row, const struct logged_event *logged)
{
	const struct cygnet_event *event = &logged->event;

	rte_tel_data_add_dict_u64(row, "number", logged->number);
	rte_tel_data_add_dict_u64(row, "time_ms", logged->time_ms);
	rte_tel_data_add_dict_u64(row, "reqid", event->reqid);
	switch (event->type) {
	case CYGNET_EVENT_ACQUIRE:
		add_flow(row, &event->flow);
		break;
	case CYGNET_EVENT_EXPIRE:
		rte_tel_data_add_dict_string(row, "event", "expire");
		rte_tel_data_add_dict_string(row, "limit", event->hard ? "hard" : "soft");
		add_id(row, &event->id);
		break;
	case CYGNET_EVENT_MAPPING:
		rte_tel_data_add_dict_string(row, "event", "mapping");
		add_id(row, &event->id);
		add_addr(row, "new_addr", event->id.af, &event->new_addr);
		rte_tel_data_add_dict_u64(row, "new_port", ntohs(event->new_port));
		break;
	}
}

int telemetry_events(const char *cmd, const char *params, struct rte_tel_data *table)
{
	struct logged_event logged;
	unsigned int number = begin_of(params), n = 0;

	(void)cmd;
	rte_tel_data_start_dict(table);
	while (n < EVENTS_PER_PAGE && event_log_read(number, &logged)) {
		struct rte_tel_data *row = add_row(table, n);

		if (!row)
			break;
		n++;
		add_event(row, &logged);
		number = logged.number + 1;
	}
	if (n == EVENTS_PER_PAGE)
		rte_tel_data_add_dict_u64(table, "next", number);
	return 0;
}
