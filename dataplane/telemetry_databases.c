/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SAs and policies without keys, for programs that must not open the shared file, such as
 * cygnet-exporter. */
#include <time.h>
#include <unistd.h>

#include <rte_version.h>

#include "base/clock.h"
#include "base/event_log.h"
#include "base/policy_stats.h"
#include "base/sadb.h"
#include "base/selector_text.h"
#include "config.h"
#include "host/netlink.h"
#include "telemetry.h"
#include "telemetry_table.h"

#define SAS_PER_PAGE	  32u
#define POLICIES_PER_PAGE 120u
#define NAMED_PER_PAGE	  24u

static unsigned int nworkers;
static struct timespec started;
static bool taken_over;

void telemetry_info_init(unsigned int workers)
{
	nworkers = workers;
	clock_gettime(CLOCK_REALTIME, &started);
}

static uint64_t charon_down_s(void)
{
	uint64_t gone = __atomic_load_n(&sadb_charon_gone, __ATOMIC_RELAXED);

	return gone ? clock_read_us(CLOCK_MONOTONIC) / 1000000 - gone : 0;
}

void telemetry_taken_over(bool whether)
{
	taken_over = whether;
}

void telemetry_info(const char *params, struct rte_tel_data *table)
{
	struct cygnet_db_info info;
	struct rte_tel_data *row;

	(void)params;
	row = add_row(table, 0);
	if (!row)
		return;
	cygnet_db_info(sadb, &info);
	rte_tel_data_add_dict_string(row, "version", PACKAGE_VERSION);
	rte_tel_data_add_dict_u64(row, "pid", (uint64_t)getpid());
	rte_tel_data_add_dict_u64(row, "started", (uint64_t)started.tv_sec);
	rte_tel_data_add_dict_u64(row, "taken_over", taken_over);
	rte_tel_data_add_dict_u64(row, "charon_pid", (uint64_t)info.charon_pid);
	rte_tel_data_add_dict_u64(row, "charon_down_s", info.charon_pid ? 0 : charon_down_s());
	rte_tel_data_add_dict_u64(row, "workers", nworkers);
	rte_tel_data_add_dict_u64(row, "sas", info.sas);
	rte_tel_data_add_dict_u64(row, "sas_max", info.geometry.sas);
	rte_tel_data_add_dict_u64(row, "policies", info.policies);
	rte_tel_data_add_dict_u64(row, "policies_held", cygnet_policies_held(sadb));
	rte_tel_data_add_dict_u64(row, "policies_max", info.geometry.policies);
	rte_tel_data_add_dict_u64(row, "deleted", info.sas_waiting + info.policies_waiting);
	rte_tel_data_add_dict_u64(row, "repairs", info.recoveries);
	rte_tel_data_add_dict_u64(row, "events", event_log_next());
	rte_tel_data_add_dict_u64(row, "routes_due", netlink_dump_is_due());
	rte_tel_data_add_dict_string(row, "sadb", info.path);
	rte_tel_data_add_dict_u64(row, "abi", CYGNET_ABI_VERSION);
	rte_tel_data_add_dict_string(row, "dpdk", rte_version());
}

static void add_sa(struct rte_tel_data *row, const struct cygnet_sa *sa, uint64_t now)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);

	add_spi(row, sa->spi);
	rte_tel_data_add_dict_string(row, "dir", sa->flags & CYGNET_SA_INBOUND ? "in" : "out");
	add_addr(row, "src", path->af, &path->src);
	add_addr(row, "dst", path->af, &path->dst);
	rte_tel_data_add_dict_u64(row, "reqid", sa->reqid);
	rte_tel_data_add_dict_u64(row, "packets", sa->packets);
	rte_tel_data_add_dict_u64(row, "bytes", sa->bytes);
	rte_tel_data_add_dict_u64(row, "replay_drops", sa->replay_drops);
	rte_tel_data_add_dict_u64(row, "auth_drops", sa->auth_drops);
	if (cygnet_sa_cpu(sa) != CYGNET_CPU_ANY)
		rte_tel_data_add_dict_u64(row, "cpu", (uint64_t)cygnet_sa_cpu(sa));
	rte_tel_data_add_dict_u64(row, "age", now > sa->install_time ? now - sa->install_time : 0);
}

void telemetry_sas(const char *params, struct rte_tel_data *table)
{
	unsigned int slot = begin_of(params), n = 0;
	struct cygnet_db_info info;
	struct cygnet_sa sa;

	cygnet_db_info(sadb, &info);
	for (; slot < info.geometry.sas && n < SAS_PER_PAGE; slot++) {
		struct rte_tel_data *row;

		/* The copy is without keys. */
		if (!cygnet_sa_snapshot(sadb, slot, &sa) || sa.state != CYGNET_SLOT_LIVE)
			continue;
		row = add_row(table, n);
		if (!row)
			break;
		n++;
		add_sa(row, &sa, clock_read_us(CLOCK_MONOTONIC) / 1000000);
	}
	if (slot < info.geometry.sas && n)
		rte_tel_data_add_dict_u64(table, "next", slot);
}

/* @return whether the slot has a policy with packets */
static bool read_policy(uint32_t slot, struct cygnet_policy *policy, struct policy_stats *sum)
{
	return cygnet_policy_snapshot(sadb, slot, policy) &&
	       policy_stats_read(slot, policy->generation, sum);
}

static void add_named(struct rte_tel_data *row, const struct cygnet_policy *policy)
{
	char selector[SELECTOR_TEXT];

	selector_text(policy, NULL, selector, sizeof(selector));
	rte_tel_data_add_dict_string(row, "dir", policy_dir_text(policy->dir));
	rte_tel_data_add_dict_string(row, "action", policy_action_text(policy->action));
	rte_tel_data_add_dict_string(row, "selector", selector);
	rte_tel_data_add_dict_u64(row, "reqid", policy->reqid);
}

/* @param named  with selectors, else with slots */
static void show_policies(const char *params, struct rte_tel_data *table, bool named)
{
	unsigned int slot = begin_of(params), n = 0;
	unsigned int most = named ? NAMED_PER_PAGE : POLICIES_PER_PAGE;
	struct cygnet_policy policy;
	struct policy_stats sum;
	struct cygnet_db_info info;

	cygnet_db_info(sadb, &info);
	for (; slot < info.geometry.policies && n < most; slot++) {
		struct rte_tel_data *row;

		if (!read_policy(slot, &policy, &sum))
			continue;
		row = add_row(table, n);
		if (!row)
			break;
		n++;
		if (named) {
			add_named(row, &policy);
		} else {
			rte_tel_data_add_dict_u64(row, "slot", slot);
			rte_tel_data_add_dict_u64(row, "generation", policy.generation);
		}
		rte_tel_data_add_dict_u64(row, "passed", sum.passed);
		rte_tel_data_add_dict_u64(row, "dropped", sum.dropped);
	}
	if (slot < info.geometry.policies && n)
		rte_tel_data_add_dict_u64(table, "next", slot);
}

/* Policies without packets are left out. */
void telemetry_policies(const char *params, struct rte_tel_data *table)
{
	show_policies(params, table, false);
}

void telemetry_policies_named(const char *params, struct rte_tel_data *table)
{
	show_policies(params, table, true);
}
