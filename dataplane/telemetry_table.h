/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file telemetry_table.h
 * Tables as answers of DPDK's telemetry, and the commands that have a file of their own.
 *
 * An answer has at most 16 KiB and a dictionary 256 entries; DPDK 22.11 puts dictionaries in
 * dictionaries, not in arrays. So a table is a dictionary of rows that are named by their number. A
 * table that may be longer comes in pages: a fixed number of rows, whatever their length. The parameter
 * of a command says where a page begins: nothing, or "next" of the page before.
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

/** Append an empty row to a table. What is added to it later is sent, too.
 * @return NULL if there is no memory or room for it */
static inline struct rte_tel_data *add_row(struct rte_tel_data *table, unsigned int number)
{
	struct rte_tel_data *row = rte_tel_data_alloc();
	char name[16];

	if (!row)
		return NULL;
	snprintf(name, sizeof(name), "%u", number);
	rte_tel_data_start_dict(row);
	if (rte_tel_data_add_dict_container(table, name, row, 0)) {
		rte_tel_data_free(row);
		return NULL;
	}
	return row;
}

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
