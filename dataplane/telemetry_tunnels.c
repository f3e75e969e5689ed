/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tunnels, for cygnet-exporter. */
#include "base/clock.h"
#include "base/sadb.h"
#include "base/tunnels.h"
#include "telemetry_table.h"

#define TUNNELS_PER_PAGE 64u
#define FRESH_US	 1000000u

/* The tunnels of the last reading of the SAD, which the pages of one answer have in common. One thread of telemetry
 * at a time is here. */
static struct tunnel_sas sas;
static uint64_t read_at; /* us; 0: never */

/* Whoever asks how often: the SAD is read once a second at most. */
static void read_again(void)
{
	uint64_t now = clock_read_us(CLOCK_MONOTONIC);

	if (read_at && now - read_at < FRESH_US)
		return;
	tunnel_sas_free(&sas);
	tunnel_sas_read(sadb, NULL, NULL, &sas);
	read_at = now;
}

static bool is_up(const struct tunnel_sa *sa, size_t n)
{
	return tunnel_direction(sa, n, true).n && tunnel_direction(sa, n, false).n;
}

static void add_newest_spi(struct rte_tel_data *row, const char *key,
			   const struct tunnel_direction *direction)
{
	char text[SPI_TEXT];

	rte_tel_data_add_dict_string(row, key,
				     direction->n ? spi_text(direction->newest->spi, text) : "");
}

static void add_tunnel(struct rte_tel_data *row, const struct tunnel_sa *sa, size_t n, uint64_t now)
{
	struct tunnel_direction in = tunnel_direction(sa, n, true);
	struct tunnel_direction out = tunnel_direction(sa, n, false);

	rte_tel_data_add_dict_u64(row, "reqid", sa->id.reqid);
	add_addr(row, "local", sa->id.af, &sa->id.local);
	add_addr(row, "peer", sa->id.af, &sa->id.peer);
	add_newest_spi(row, "spi_in", &in);
	add_newest_spi(row, "spi_out", &out);
	rte_tel_data_add_dict_u64(row, "up", in.n && out.n);
	rte_tel_data_add_dict_u64(row, "age", now > sa->install_time ? now - sa->install_time : 0);
}

/* "next" is the index of the next tunnel's first SA. */
void telemetry_tunnels(const char *params, struct rte_tel_data *table)
{
	uint64_t now = clock_read_us(CLOCK_MONOTONIC) / 1000000;
	size_t first = begin_of(params), end;
	unsigned int n = 0;

	if (!first)
		read_again();
	for (; first < sas.n && n < TUNNELS_PER_PAGE; first = end, n++) {
		struct rte_tel_data *row = add_row(table, n);

		if (!row)
			break;
		end = tunnel_sas_end(&sas, first);
		add_tunnel(row, &sas.sa[first], end - first, now);
	}
	if (first < sas.n && n)
		rte_tel_data_add_dict_u64(table, "next", first);
}

void telemetry_tunnel_counts(const char *params, struct rte_tel_data *table)
{
	struct rte_tel_data *row = add_row(table, 0);
	uint64_t tunnels = 0, up = 0;

	(void)params;
	if (!row)
		return;
	read_again();
	for (size_t first = 0, end; first < sas.n; first = end, tunnels++) {
		end = tunnel_sas_end(&sas, first);
		up += is_up(&sas.sa[first], end - first);
	}
	rte_tel_data_add_dict_u64(row, "tunnels", tunnels);
	rte_tel_data_add_dict_u64(row, "up", up);
}
