/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file telemetry_table.h
 * Tables as answers of DPDK's telemetry, and the commands that have a file of their own.
 *
 * An answer has at most 16 KiB and a dictionary 256 entries; DPDK 22.11 puts dictionaries in
 * dictionaries, not in arrays. So a table is a dictionary of rows that are named by their number. A
 * table that may be longer comes in pages: a fixed number of rows, whatever their length. The parameter
 * of a command says where a page begins: nothing, or "next" of the page before.
 *
 * Beside its rows a page has "rows", how many there should be, since DPDK leaves out what it has no memory or room for; and
 * "error", if the page is not what was asked for. After an error in a page that is not the first one the client begins anew,
 * because what is listed may have changed.
 */
#ifndef CYGNETD_TELEMETRY_TABLE_H
#define CYGNETD_TELEMETRY_TABLE_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_telemetry.h>

#include "base/selector_text.h"
#include "cygnet.h"
#include "dpdk_release.h" /* after rte_telemetry.h: a function's other name */

static inline unsigned int begin_of(const char *params)
{
	return params ? (unsigned int)strtoul(params, NULL, 10) : 0;
}

/* One thread of telemetry at a time makes an answer, from table_begin() to table_end(). */

/** Make an empty table. */
void table_begin(struct rte_tel_data *table);
/** Append an empty row to a table. What is added to it later is sent, too.
 * @return NULL if there is no memory or room for it; the answer then has an error */
struct rte_tel_data *add_row(struct rte_tel_data *table, unsigned int number);
/** Give the answer an error. @param reason  stays as it is until table_end(); the first one counts */
void table_fail(const char *reason);
/** Add what describes the page. */
void table_end(struct rte_tel_data *table);

static inline void add_addr(struct rte_tel_data *row, const char *key, uint8_t af,
			    const struct cygnet_addr *addr)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(af, addr, text, sizeof(text)))
		rte_tel_data_add_dict_string(row, key, text);
}

static inline void add_spi(struct rte_tel_data *row, uint32_t spi)
{
	char text[SPI_TEXT];

	rte_tel_data_add_dict_string(row, "spi", spi_text(spi, text));
}

/** What telemetry_info() says of the process. Before the commands are registered. */
void telemetry_info_init(unsigned int workers);

/* Commands: they add rows to an empty table. A telemetry thread, while the databases are open. */
void telemetry_info(const char *params, struct rte_tel_data *table);
void telemetry_conf(const char *params, struct rte_tel_data *table);
void telemetry_sas(const char *params, struct rte_tel_data *table);
void telemetry_tunnels(const char *params, struct rte_tel_data *table);
void telemetry_tunnel_counts(const char *params, struct rte_tel_data *table);
void telemetry_policies(const char *params, struct rte_tel_data *table);
void telemetry_policies_named(const char *params, struct rte_tel_data *table);
void telemetry_event_kinds(const char *params, struct rte_tel_data *table);
void telemetry_events(const char *params, struct rte_tel_data *table);

#endif
