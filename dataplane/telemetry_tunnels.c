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
static uint32_t reading; /* number of the last one that has succeeded; 0: there has been none */
static uint64_t read_at; /* us; 0: sas is empty, because the last one has failed */

/* Whoever asks how often: the SAD is read once a second at most. @return false: the answer has an error */
static bool read_again(void)
{
	uint64_t now = clock_read_us(CLOCK_MONOTONIC);

	if (read_at && now - read_at < FRESH_US)
		return true;
	tunnel_sas_free(&sas);
	read_at = 0;
	if (tunnel_sas_read(sadb, NULL, NULL, &sas)) {
		table_fail("no memory for the tunnels");
		return false;
	}
	read_at = now;
	reading = (reading + 1) & INT32_MAX;
	return true;
}

/* "next": the index of the next tunnel's first SA in this reading. The next page is not of another one. */
static uint64_t cursor_of(size_t first)
{
	return (uint64_t)reading << 32 | first;
}

/* @param first  receives the index that a page begins at. @return false: the answer has an error */
static bool find_page(const char *params, size_t *first)
{
	uint64_t cursor = params ? strtoull(params, NULL, 10) : 0;

	*first = (uint32_t)cursor;
	if (!cursor)
		return read_again();
	if (read_at && cursor >> 32 == reading)
		return true;
	table_fail("the tunnels have been read again: begin anew");
	return false;
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

void telemetry_tunnels(const char *params, struct rte_tel_data *table)
{
	uint64_t now = clock_read_us(CLOCK_MONOTONIC) / 1000000;
	unsigned int n = 0;
	size_t first, end;

	if (!find_page(params, &first))
		return;
	for (; first < sas.n && n < TUNNELS_PER_PAGE; first = end, n++) {
		struct rte_tel_data *row = add_row(table, n);

		if (!row)
			break;
		end = tunnel_sas_end(&sas, first);
		add_tunnel(row, &sas.sa[first], end - first, now);
	}
	if (first < sas.n && n)
		rte_tel_data_add_dict_u64(table, "next", cursor_of(first));
}

void telemetry_tunnel_counts(const char *params, struct rte_tel_data *table)
{
	struct rte_tel_data *row = add_row(table, 0);
	uint64_t tunnels = 0, up = 0;

	(void)params;
	if (!row || !read_again())
		return;
	for (size_t first = 0, end; first < sas.n; first = end, tunnels++) {
		end = tunnel_sas_end(&sas, first);
		up += is_up(&sas.sa[first], end - first);
	}
	rte_tel_data_add_dict_u64(row, "tunnels", tunnels);
	rte_tel_data_add_dict_u64(row, "up", up);
}
