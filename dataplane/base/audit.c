/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/event_log.h"
#include "base/log.h"
#include "base/stats.h"

#define RECORDS	   1024u
#define FIELD_SIZE 80u

static struct rte_ring *records;
static uint64_t last_report; /* clock_seconds() of the last report of packets without a record */
static uint64_t reported[DROP_REASON_COUNT];

_Static_assert(sizeof(struct audit_record) % 4 == 0,
	       "rte_ring elements are multiples of four bytes");

bool audit_raise(const struct audit_record *record)
{
	return records &&
	       rte_ring_mp_enqueue_elem(records, (void *)(uintptr_t)record, sizeof(*record)) == 0;
}

/* Fields of the journal. */
struct fields {
	const char *field[LOG_FIELDS + 1]; /* NULL at the end */
	char text[LOG_FIELDS][FIELD_SIZE];
	unsigned int n;
};

__attribute__((format(printf, 2, 3))) static void add(struct fields *f, const char *format, ...)
{
	va_list args;

	if (f->n == LOG_FIELDS)
		return;
	va_start(args, format);
	vsnprintf(f->text[f->n], FIELD_SIZE, format, args);
	va_end(args);
	f->field[f->n] = f->text[f->n];
	f->n++;
}

static const char *addr_text(uint8_t af, const struct cygnet_addr *addr, char *text)
{
	return inet_ntop(af, addr, text, INET6_ADDRSTRLEN) ? text : "?";
}

static void add_addresses(struct fields *f, const char *of, uint8_t af,
			  const struct cygnet_addr *src, const struct cygnet_addr *dst)
{
	char text[INET6_ADDRSTRLEN];

	add(f, "CYGNET_%sSRC=%s", of, addr_text(af, src, text));
	add(f, "CYGNET_%sDST=%s", of, addr_text(af, dst, text));
}

static void add_record(struct fields *f, const struct audit_record *r)
{
	add_addresses(f, "", r->flow.af, &r->flow.src, &r->flow.dst);
	add(f, "CYGNET_PROTO=%u", r->flow.proto);
	if (r->flow.has_ports) {
		add(f, "CYGNET_SPORT=%u", r->flow.sport);
		add(f, "CYGNET_DPORT=%u", r->flow.dport);
	}
	if (r->flow.af == AF_INET6)
		add(f, "CYGNET_FLOW_LABEL=0x%05x", r->flow_label);
	if (r->has_seq)
		add(f, "CYGNET_SEQ=%ju", (uintmax_t)r->seq);
	if (r->has_sa)
		add(f, "CYGNET_SA=%u", r->sa);
	if (r->has_path)
		add_addresses(f, "OUTER_", r->path.af, &r->path.src, &r->path.dst);
	add(f, "CYGNET_WORKER=%u", r->worker);
}

static void log_packet(const struct audit_record *r)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], spi[24] = "", seq[32] = "",
							   ports[24] = "";
	struct fields f = {0};

	add(&f, "CYGNET_AUDIT=%s", drop_name[r->reason]);
	add_record(&f, r);
	if (r->spi)
		snprintf(spi, sizeof(spi), ", SPI %08x", ntohl(r->spi));
	if (r->has_seq)
		snprintf(seq, sizeof(seq), ", number %ju", (uintmax_t)r->seq);
	if (r->flow.has_ports)
		snprintf(ports, sizeof(ports), ", ports %u and %u", r->flow.sport, r->flow.dport);
	log_say(NULL, RTE_LOG_NOTICE, "cygnetd",
		(struct log_about){.spi = r->spi,
				   .reqid = r->reqid,
				   .port = r->port,
				   .fields = f.field},
		"audit: %s: %s to %s, protocol %u%s%s%s", drop_name[r->reason],
		addr_text(r->flow.af, &r->flow.src, src), addr_text(r->flow.af, &r->flow.dst, dst),
		r->flow.proto, ports, spi, seq);
}

static void log_left_out(const struct audit_record *r)
{
	struct fields f = {0};

	add(&f, "CYGNET_AUDIT=%s", drop_name[r->reason]);
	add(&f, "CYGNET_LEFT_OUT=%ju", (uintmax_t)r->left_out);
	log_say(NULL, RTE_LOG_NOTICE, "cygnetd", (struct log_about){.fields = f.field},
		"audit: %s: %ju more packets", drop_name[r->reason], (uintmax_t)r->left_out);
}

static void report_left_out(void)
{
	for (unsigned int reason = 0; reason < DROP_REASON_COUNT; reason++) {
		struct audit_record record = {.reason = (enum drop_reason)reason};
		uint64_t sum = 0;

		for (unsigned int w = 0; w < CONF_MAX_WORKERS; w++)
			sum += __atomic_load_n(&stats[w].unaudited[reason], __ATOMIC_RELAXED);
		record.left_out = sum - reported[reason];
		reported[reason] = sum;
		if (!record.left_out)
			continue;
		event_log_add_audit(&record);
		log_left_out(&record);
	}
}

void audit_post(void)
{
	struct audit_record record;

	while (rte_ring_sc_dequeue_elem(records, &record, sizeof(record)) == 0) {
		event_log_add_audit(&record);
		log_packet(&record);
	}
	if (clock_seconds() - last_report < AUDIT_SECONDS)
		return;
	last_report = clock_seconds();
	report_left_out();
}

int audit_init(void)
{
	records = rte_ring_create_elem("audit", sizeof(struct audit_record), RECORDS, SOCKET_ID_ANY,
				       RING_F_SC_DEQ);
	if (!records) {
		log_error("no memory for audit records");
		return -ENOMEM;
	}
	return 0;
}

void audit_free(void)
{
	rte_ring_free(records);
	records = NULL;
}
