/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that charon was told lately, and audit records, for cygnetctl watch. */
#include <arpa/inet.h>

#include "base/drop.h"
#include "base/event_log.h"
#include "telemetry_table.h"

#define EVENTS_PER_PAGE 24u

static void add_flow(struct rte_tel_data *row, const struct cygnet_flow *flow)
{
	add_addr(row, "src", flow->af, &flow->src);
	add_addr(row, "dst", flow->af, &flow->dst);
	rte_tel_data_add_dict_u64(row, "proto", flow->proto);
	rte_tel_data_add_dict_u64(row, "sport", flow->sport);
	rte_tel_data_add_dict_u64(row, "dport", flow->dport);
}

static void add_id(struct rte_tel_data *row, const struct cygnet_sa_id *id)
{
	add_spi(row, id->spi);
	add_addr(row, "dst", id->af, &id->dst);
}

static void add_event(struct rte_tel_data *row, const struct cygnet_event *event)
{
	rte_tel_data_add_dict_u64(row, "reqid", event->reqid);
	switch (event->type) {
	case CYGNET_EVENT_ACQUIRE:
		rte_tel_data_add_dict_string(row, "event", "acquire");
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

static void add_audited_sa(struct rte_tel_data *row, const struct audit_record *record)
{
	if (record->has_sa) {
		rte_tel_data_add_dict_u64(row, "sa", record->sa);
		rte_tel_data_add_dict_u64(row, "reqid", record->reqid);
	}
	if (record->has_path) {
		add_addr(row, "outer_src", record->path.af, &record->path.src);
		add_addr(row, "outer_dst", record->path.af, &record->path.dst);
	}
}

static void add_audited(struct rte_tel_data *row, const struct audit_record *record)
{
	if (record->spi)
		add_spi(row, record->spi);
	add_flow(row, &record->flow);
	if (record->flow.af == AF_INET6)
		rte_tel_data_add_dict_u64(row, "flow_label", record->flow_label);
	if (record->has_seq)
		rte_tel_data_add_dict_u64(row, "seq", record->seq);
	add_audited_sa(row, record);
	rte_tel_data_add_dict_u64(row, "worker", record->worker);
	rte_tel_data_add_dict_string(row, "port", record->port);
}

static void add_audit(struct rte_tel_data *row, const struct audit_record *record)
{
	rte_tel_data_add_dict_string(row, "event", record->left_out ? "audit-left-out" : "audit");
	rte_tel_data_add_dict_string(row, "reason", drop_name[record->reason]);
	if (record->left_out)
		rte_tel_data_add_dict_u64(row, "packets", record->left_out);
	else
		add_audited(row, record);
}

static void add_logged(struct rte_tel_data *row, const struct logged_event *logged)
{
	rte_tel_data_add_dict_u64(row, "number", logged->number);
	rte_tel_data_add_dict_u64(row, "time_ms", logged->time_ms);
	if (logged->is_audit)
		add_audit(row, &logged->audit);
	else
		add_event(row, &logged->event);
}

void telemetry_events(const char *params, struct rte_tel_data *table)
{
	struct logged_event logged;
	unsigned int number = begin_of(params), n = 0;

	while (n < EVENTS_PER_PAGE && event_log_read(number, &logged)) {
		struct rte_tel_data *row = add_row(table, n);

		if (!row)
			break;
		n++;
		add_logged(row, &logged);
		number = logged.number + 1;
	}
	if (n == EVENTS_PER_PAGE)
		rte_tel_data_add_dict_u64(table, "next", number);
}

void telemetry_event_kinds(const char *params, struct rte_tel_data *table)
{
	uint64_t counts[EVENT_KIND_COUNT];

	(void)params;
	event_log_counts(counts);
	for (unsigned int i = 0; i < EVENT_KIND_COUNT; i++) {
		struct rte_tel_data *row = add_row(table, i);

		if (!row)
			break;
		rte_tel_data_add_dict_string(row, "kind", event_kind_name[i]);
		rte_tel_data_add_dict_u64(row, "events", counts[i]);
	}
}
