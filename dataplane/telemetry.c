/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <ctype.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_telemetry.h>

#include "base/log.h"
#include "base/sadb.h"
#include "base/stats.h"
#include "control.h"
#include "crypto/auto/measured.h"
#include "crypto/auto/offload.h"
#include "crypto/core.h"
#include "crypto/device/engine.h"
#include "crypto/device/pool.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "host/route.h"
#include "base/clock.h"
#include "path/trace.h"
#include "path/worker/stage.h"
#include "telemetry.h"
#include "telemetry_table.h"

#define ROUTES_PER_PAGE	  64u
#define MEASURED_PER_PAGE 48u
#define STATS_PER_PAGE	  22u

static unsigned int nworkers;

/* DPDK 22.11 cannot unregister a command, and its threads answer until the process ends. Once the
 * workers have ended, commands fail. */
static pthread_mutex_t answering = PTHREAD_MUTEX_INITIALIZER;
static bool serving;

/* The sum of one counter over the workers. */
static uint64_t sum(size_t offset)
{
	uint64_t total = 0;

	for (unsigned int w = 0; w < nworkers; w++)
		total += __atomic_load_n((uint64_t *)((char *)&stats[w] + offset),
					 __ATOMIC_RELAXED);
	return total;
}

#define STAGES_SECONDS 5 /* workers count stages for this long after a request */
#define SUM(field)     sum(offsetof(struct stats, field))

static void add_device(struct rte_tel_data *row, const struct device *device)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";
	struct rte_eth_dev_info info = {0};

	if (device)
		rte_eth_dev_get_name_by_port(device->id, name);
	if (!device || rte_eth_dev_info_get(device->id, &info))
		info.driver_name = NULL;
	rte_tel_data_add_dict_string(row, "device", name);
	rte_tel_data_add_dict_string(row, "driver", info.driver_name ? info.driver_name : "");
}

static void add_kind(struct rte_tel_data *row, const struct interface *interface)
{
	static const char *const kinds[] = {
		[INTERFACE_PORT] = "port",
		[INTERFACE_VLAN] = "vlan",
		[INTERFACE_TUNNEL] = "tunnel",
	};
	bool vlan = interface->kind == INTERFACE_VLAN;
	char text[CONF_VLAN_TEXT];

	conf_vlan_print(interface->tags.ids, text, sizeof(text));
	rte_tel_data_add_dict_string(row, "kind", kinds[interface->kind]);
	rte_tel_data_add_dict_string(row, "on", vlan ? interfaces[interface->port].name : "");
	rte_tel_data_add_dict_string(row, "vlan", text);
	rte_tel_data_add_dict_u64(row, "if_id", interface->if_id);
}

static void add_interface_state(struct rte_tel_data *row, const struct interface *interface)
{
	struct cygnet_addr first = local_addr_of(AF_INET, (unsigned int)(interface - interfaces));
	char mac[RTE_ETHER_ADDR_FMT_SIZE], address[INET_ADDRSTRLEN];
	const struct device *device = interface_device(interface);
	struct rte_ether_addr own = interface_mac(interface);
	/* Whatever lies on no device has no link, but for a tunnel, which needs none. */
	bool link = device ? __atomic_load_n(&interface->link, __ATOMIC_RELAXED) !=
				     INTERFACE_LINK_DOWN
			   : interface->kind == INTERFACE_TUNNEL;

	inet_ntop(AF_INET, &first.v4, address, sizeof(address));
	rte_ether_format_addr(mac, sizeof(mac), &own);
	for (char *c = mac; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	rte_tel_data_add_dict_string(row, "name", interface->name);
	rte_tel_data_add_dict_string(row, "tap", interface->tap.name);
	add_kind(row, interface);
	add_device(row, device);
	rte_tel_data_add_dict_string(row, "mac", mac);
	rte_tel_data_add_dict_string(row, "address", first.v4 ? address : "");
	rte_tel_data_add_dict_u64(row, "ifindex", interface->tap.ifindex);
	rte_tel_data_add_dict_u64(row, "mtu", interface->mtu);
	rte_tel_data_add_dict_string(row, "state", interface->up ? "up" : "down");
	rte_tel_data_add_dict_string(row, "link", link ? "up" : "down");
	rte_tel_data_add_dict_u64(row, "queues", device ? device->queues : 0u);
}

static void add_interface_counters(struct rte_tel_data *row, unsigned int i)
{
	const struct device *on = interface_device(&interfaces[i]);
	struct rte_eth_stats device = {0};

	if (on)
		rte_eth_stats_get(on->id, &device);
	rte_tel_data_add_dict_u64(row, "rx_packets", SUM(interface[i].rx_packets));
	rte_tel_data_add_dict_u64(row, "rx_bytes", SUM(interface[i].rx_bytes));
	rte_tel_data_add_dict_u64(row, "tx_packets", SUM(interface[i].tx_packets));
	rte_tel_data_add_dict_u64(row, "tx_bytes", SUM(interface[i].tx_bytes));
	rte_tel_data_add_dict_u64(row, "to_kernel", SUM(interface[i].to_kernel));
	rte_tel_data_add_dict_u64(row, "from_kernel", SUM(interface[i].from_kernel));
	rte_tel_data_add_dict_u64(row, "rx_missed", device.imissed + device.rx_nombuf);
	rte_tel_data_add_dict_u64(row, "rx_errors", device.ierrors);
	rte_tel_data_add_dict_u64(row, "tx_errors", device.oerrors);
}

static void show_ports(const char *params, struct rte_tel_data *table)
{
	(void)params;
	control_lock();
	for (unsigned int i = 0; i < ninterfaces; i++) {
		struct rte_tel_data *row;

		if (interfaces[i].removed)
			continue;
		row = add_row(table, i);
		if (!row)
			break;
		add_interface_state(row, &interfaces[i]);
		add_interface_counters(row, i);
	}
	control_unlock();
}

static void add_route(struct rte_tel_data *row, const struct route *route)
{
	char addr[INET6_ADDRSTRLEN], prefix[INET6_ADDRSTRLEN + 4];
	bool ours = next_hop_is_ours(&route->hop) && route->hop.interface < ninterfaces;

	inet_ntop(route->af, &route->dst, addr, sizeof(addr));
	snprintf(prefix, sizeof(prefix), "%s/%u", addr, route->bits);
	rte_tel_data_add_dict_string(row, "prefix", prefix);
	rte_tel_data_add_dict_string(row, "kind", route_kind_name(route->hop.kind));
	if (cygnet_addr_is_zero(&route->hop.gateway))
		addr[0] = '\0';
	else
		inet_ntop(route->hop.via6 ? AF_INET6 : route->af, &route->hop.gateway, addr,
			  sizeof(addr));
	rte_tel_data_add_dict_string(row, "gateway", addr);
	rte_tel_data_add_dict_string(row, "port",
				     ours ? interfaces[route->hop.interface].name : "");
	rte_tel_data_add_dict_u64(row, "weight", route->weight);
	rte_tel_data_add_dict_u64(row, "table", route->table);
	rte_tel_data_add_dict_u64(row, "metric", route->metric);
	rte_tel_data_add_dict_u64(row, "mtu", route->hop.mtu);
}

static void show_routes(const char *params, struct rte_tel_data *table)
{
	uint32_t cursor = begin_of(params);
	unsigned int n = 0;
	struct route route;

	control_lock();
	while (n < ROUTES_PER_PAGE && route_next(&cursor, &route)) {
		struct rte_tel_data *row = add_row(table, n++);

		if (!row)
			break;
		add_route(row, &route);
	}
	control_unlock();
	if (n == ROUTES_PER_PAGE)
		rte_tel_data_add_dict_u64(table, "next", cursor);
}

/* Name of the protocol on a local port that is exempt from policies; NULL: none. */
static const char *passes_at(uint8_t af, uint16_t port, bool charon)
{
	bool ike = cygnet_ike_exempt(sadb, af, port, charon);

	if (cygnet_ike_port(sadb, af, port) == CYGNET_IKE_ENCAP)
		return ike ? "ike, esp" : "esp";
	return ike ? "ike" : NULL;
}

static void show_ike(const char *params, struct rte_tel_data *table)
{
	bool charon = __atomic_load_n(&sadb_charon, __ATOMIC_RELAXED) != 0;
	uint16_t ports[CYGNET_IKE_PORTS + 2];
	unsigned int nports = cygnet_ike_ports(sadb, ports), n = 0;

	(void)params;
	for (unsigned int i = 0; i < 2 * nports; i++) {
		uint8_t af = i < nports ? AF_INET : AF_INET6;
		uint16_t port = ports[i % nports];
		const char *passes = passes_at(af, port, charon);
		struct rte_tel_data *row = passes ? add_row(table, n++) : NULL;

		if (!row)
			continue;
		rte_tel_data_add_dict_string(row, "family", af == AF_INET6 ? "ipv6" : "ipv4");
		rte_tel_data_add_dict_u64(row, "port", port);
		rte_tel_data_add_dict_string(row, "passes", passes);
	}
}

static void show_engines(const char *params, struct rte_tel_data *table)
{
	(void)params;
	for (unsigned int i = 0; i < engine_devices && i < STATS_MAX_DEVICES; i++) {
		const struct engine_device *device = &engine_device[i];
		struct rte_tel_data *row = add_row(table, i);
		uint64_t encrypted = SUM(device[i].encrypted);
		uint64_t decrypted = SUM(device[i].decrypted);

		if (!row)
			break;
		rte_tel_data_add_dict_string(row, "device", device->name);
		rte_tel_data_add_dict_string(row, "driver", device->driver);
		rte_tel_data_add_dict_string(row, "engine", device->engine);
		rte_tel_data_add_dict_string(row, "state", engine_lost(i) ? "failed" : "up");
		rte_tel_data_add_dict_string(row, "packets_in",
					     device == packet_pool_device ? "device" : "hugepages");
		rte_tel_data_add_dict_u64(row, "sas", rte_mempool_in_use_count(device->sessions));
		rte_tel_data_add_dict_u64(row, "packets", encrypted + decrypted);
		rte_tel_data_add_dict_u64(row, "encrypted", encrypted);
		rte_tel_data_add_dict_u64(row, "decrypted", decrypted);
		rte_tel_data_add_dict_u64(row, "bytes", SUM(device[i].bytes));
		rte_tel_data_add_dict_u64(row, "failed", SUM(device[i].failed));
	}
}

static const char *role_name(const struct offload_class *class, unsigned int device)
{
	bool light = class->light == device, full = class->full == device;

	return light ? full ? "light, full" : "light" : full ? "full" : "";
}

/* Telemetry has no fractions, so numbers are sent as strings. */
static void add_real(struct rte_tel_data *row, const char *key, float value)
{
	char number[32];

	snprintf(number, sizeof(number), "%.*f", value < 10 ? 3 : 1, (double)value);
	rte_tel_data_add_dict_string(row, key, number);
}

static void add_measured(struct rte_tel_data *row, unsigned int device, unsigned int algorithm,
			 unsigned int length)
{
	const struct measured *m = &measured[device][algorithm][length];
	struct offload_class class;
	char name[ALGORITHM_NAME];

	__atomic_load(&offload_class[algorithm][length], &class, __ATOMIC_RELAXED);
	algorithm_name(algorithm, name);
	rte_tel_data_add_dict_string(row, "algorithm", name);
	rte_tel_data_add_dict_u64(row, "length", length_class_bytes[length]);
	rte_tel_data_add_dict_string(row, "device", engine_device[device].name);
	add_real(row, "gbps", m->gbps);
	add_real(row, "packet_ns", (float)length_class_bytes[length] * 8 / m->gbps);
	add_real(row, "core_ns", m->cost_ns);
	add_real(row, "latency_us", m->latency_us);
	rte_tel_data_add_dict_string(row, "chosen", role_name(&class, device));
	if (class.full == device && class.pays)
		add_real(row, "pays_from_gbps",
			 offload_pays_from(&class, length_class_bytes[length]));
}

/* The measurements of the engines. */
static void show_measured(const char *params, struct rte_tel_data *table)
{
	unsigned int index = begin_of(params), n = 0;
	unsigned int known = __atomic_load_n(&measured_algorithms, __ATOMIC_ACQUIRE);
	unsigned int end = offload_enabled ? known * LENGTH_CLASSES * engine_devices : 0;

	for (; index < end && n < MEASURED_PER_PAGE; index++) {
		unsigned int device = index % engine_devices, cell = index / engine_devices;
		unsigned int algorithm = cell / LENGTH_CLASSES, length = cell % LENGTH_CLASSES;
		struct rte_tel_data *row;

		if (!(measured[device][algorithm][length].gbps > 0))
			continue;
		row = add_row(table, n);
		if (!row)
			break;
		n++;
		add_measured(row, device, algorithm, length);
	}
	if (index < end && n)
		rte_tel_data_add_dict_u64(table, "next", index);
}

static const struct {
	const char *name;
	size_t offset;
} worker_counters[] = {
	{"forwarded", offsetof(struct stats, forwarded)},
	{"encapsulated", offsetof(struct stats, encapsulated)},
	{"decapsulated", offsetof(struct stats, decapsulated)},
	{"dummies", offsetof(struct stats, dummies)},
	{"keepalives", offsetof(struct stats, keepalives)},
	{"waited_for_sa", offsetof(struct stats, waited_for_sa)},
	{"came_early", offsetof(struct stats, came_early)},
	{"reassembled", offsetof(struct stats, reassembled)},
	{"too_big_learned", offsetof(struct stats, too_big_learned)},
	{"too_big_ignored", offsetof(struct stats, too_big_ignored)},
	{"handed_off", offsetof(struct stats, handed_off)},
	{"sas_moved", offsetof(struct stats, sas_moved)},
	{"sas_shared", offsetof(struct stats, sas_shared)},
	{"order_gaps", offsetof(struct stats, order_gaps)},
	{"crypto_cores", offsetof(struct stats, crypto_cores)},
	{"shortcut", offsetof(struct stats, shortcut)},
	{"turns", offsetof(struct stats, turns)},
	{"busy_cycles", offsetof(struct stats, busy_cycles)},
};

/* The time of the answer, to compare busy_cycles with. */
static void add_cycles(struct rte_tel_data *row)
{
	rte_tel_data_add_dict_u64(row, "cycles", rte_rdtsc());
	rte_tel_data_add_dict_u64(row, "cycles_per_second", rte_get_tsc_hz());
}

static void add_worker(struct rte_tel_data *row, unsigned int w)
{
	uint64_t dropped = 0;

	rte_tel_data_add_dict_u64(row, "worker", w);
	for (unsigned int i = 0; i < RTE_DIM(worker_counters); i++) {
		const char *counter = (char *)&stats[w] + worker_counters[i].offset;

		rte_tel_data_add_dict_u64(row, worker_counters[i].name,
					  __atomic_load_n((const uint64_t *)counter,
							  __ATOMIC_RELAXED));
	}
	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		dropped += __atomic_load_n(&stats[w].drop[i], __ATOMIC_RELAXED);
	rte_tel_data_add_dict_u64(row, "dropped", dropped);
	rte_tel_data_add_dict_u64(row, "buffers",
				  packet_pool[w] ? rte_mempool_in_use_count(packet_pool[w]) : 0);
	rte_tel_data_add_dict_u64(row, "buffers_max", packet_pool[w] ? packet_pool[w]->size : 0);
	add_cycles(row);
}

static void show_stats(const char *params, struct rte_tel_data *table)
{
	unsigned int w = begin_of(params), n = 0;

	for (; w < nworkers && n < STATS_PER_PAGE; w++) {
		struct rte_tel_data *row = add_row(table, n);

		if (!row)
			break;
		n++;
		add_worker(row, w);
	}
	if (w < nworkers && n)
		rte_tel_data_add_dict_u64(table, "next", w);
}

static void show_crypto_cores(const char *params, struct rte_tel_data *table)
{
	struct crypto_core_load load;

	(void)params;
	for (unsigned int i = 0; crypto_core_load(i, &load); i++) {
		struct rte_tel_data *row = add_row(table, i);

		if (!row)
			break;
		rte_tel_data_add_dict_u64(row, "core", i);
		rte_tel_data_add_dict_u64(row, "batches", load.batches);
		rte_tel_data_add_dict_u64(row, "busy_cycles", load.busy_cycles);
		add_cycles(row);
	}
}

static void show_drops(const char *params, struct rte_tel_data *table)
{
	(void)params;
	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++) {
		struct rte_tel_data *row = add_row(table, i);

		if (!row)
			break;
		rte_tel_data_add_dict_string(row, "reason", drop_name[i]);
		rte_tel_data_add_dict_u64(row, "packets", SUM(drop[i]));
		rte_tel_data_add_dict_string(row, "help", drop_help[i]);
	}
}

/* Workers count stages for some seconds after a request. A client sends two requests and takes the
 * difference. */
static void show_stages(const char *params, struct rte_tel_data *table)
{
	(void)params;
	__atomic_store_n(&stats_stages_asked, clock_seconds() + STAGES_SECONDS, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < STAGE_COUNTED; i++) {
		struct rte_tel_data *row = add_row(table, i);

		if (!row)
			break;
		rte_tel_data_add_dict_string(row, "stage", stage_name[i]);
		rte_tel_data_add_dict_u64(row, "packets", SUM(stage[i].packets));
		rte_tel_data_add_dict_u64(row, "vectors", SUM(stage[i].vectors));
		rte_tel_data_add_dict_u64(row, "cycles", SUM(stage[i].cycles));
		rte_tel_data_add_dict_string(row, "help", stage_help[i]);
	}
}

static void add_trace(struct rte_tel_data *table, const struct trace *trace)
{
	struct rte_tel_data *row;

	for (unsigned int i = 0; i < trace->n; i++) {
		row = add_row(table, i);
		if (!row)
			return;
		rte_tel_data_add_dict_string(row, "stage", trace->step[i].stage);
		rte_tel_data_add_dict_string(row, "decision", trace->step[i].decision);
		rte_tel_data_add_dict_string(row, "detail", trace->step[i].detail);
	}
	row = add_row(table, trace->n);
	if (!row)
		return;
	rte_tel_data_add_dict_string(row, "stage", "verdict");
	rte_tel_data_add_dict_string(row, "decision", trace->verdict);
	rte_tel_data_add_dict_string(row, "detail", trace->detail);
	rte_tel_data_add_dict_string(row, "reason",
				     trace->reason >= 0 ? drop_name[trace->reason] : "");
	rte_tel_data_add_dict_string(row, "port",
				     trace->interface >= 0 ? interfaces[trace->interface].name
							   : "");
}

/* A wrong question has one row, with the field "error". */
static void show_trace(const char *params, struct rte_tel_data *table)
{
	char error[RTE_TEL_MAX_STRING_LEN];
	struct trace_flow flow;

	control_lock();
	if (trace_flow_parse(&flow, params ? params : "", error, sizeof(error))) {
		struct rte_tel_data *row = add_row(table, 0);

		if (row)
			rte_tel_data_add_dict_string(row, "error", error);
	} else {
		add_trace(table, trace_run(&flow));
	}
	control_unlock();
}

static const struct {
	const char *name;
	void (*show)(const char *params, struct rte_tel_data *table);
	const char *help;
} commands[] = {
	{"/cygnet/info", telemetry_info, "The process, its SAs and policies"},
	{"/cygnet/conf", telemetry_conf,
	 "The configuration in force. Parameter: 'next' of the last page"},
	{"/cygnet/sas", telemetry_sas,
	 "SAs and their counters. Parameter: 'next' of the last page"},
	{"/cygnet/tunnels", telemetry_tunnels,
	 "Tunnels, of a reqid and two addresses. Parameter: 'next' of the last page"},
	{"/cygnet/tunnel_counts", telemetry_tunnel_counts, "Numbers of tunnels, and of those up"},
	{"/cygnet/policies", telemetry_policies,
	 "Packets by policy. Parameter: 'next' of the last page"},
	{"/cygnet/policies_named", telemetry_policies_named,
	 "Packets by policy, with selectors. Parameter: 'next' of the last page"},
	{"/cygnet/events", telemetry_events,
	 "Events for charon. Parameter: the number of the first one wanted"},
	{"/cygnet/event_kinds", telemetry_event_kinds, "Numbers of events by kind"},
	{"/cygnet/crypto_cores", show_crypto_cores, "Crypto cores, and how busy they are"},
	{"/cygnet/trace", show_trace, "Where a packet would go. Parameter: as in cygnetctl(8)"},
	{"/cygnet/ports", show_ports, "Gateway ports and their counters"},
	{"/cygnet/routes", show_routes, "Routes in force. Parameter: 'next' of the last page"},
	{"/cygnet/ike", show_ike, "UDP ports whose IKE, or ESP, no policy is about"},
	{"/cygnet/engines", show_engines, "Crypto devices and what they have done"},
	{"/cygnet/measured", show_measured,
	 "Measured speed of the crypto devices. Parameter: 'next' of the last page"},
	{"/cygnet/stats", show_stats, "Packets by worker. Parameter: 'next' of the last page"},
	{"/cygnet/drops", show_drops, "Dropped packets by reason"},
	{"/cygnet/stages", show_stages,
	 "Packets, vectors and cycles by stage, counted for some seconds after each question"},
};

/* @return -1, answered with null, if cygnetd is not serving */
static int show(const char *cmd, const char *params, struct rte_tel_data *table)
{
	unsigned int i = 0;
	int err = -1;

	while (i < RTE_DIM(commands) && strcmp(commands[i].name, cmd))
		i++;
	pthread_mutex_lock(&answering);
	if (serving && i < RTE_DIM(commands)) {
		table_begin(table);
		commands[i].show(params, table);
		table_end(table);
		err = 0;
	}
	pthread_mutex_unlock(&answering);
	return err;
}

static void serve(bool whether)
{
	pthread_mutex_lock(&answering);
	serving = whether;
	pthread_mutex_unlock(&answering);
}

void telemetry_stop(void)
{
	serve(false);
}

int telemetry_start(unsigned int workers)
{
	nworkers = workers;
	telemetry_info_init(workers);
	for (unsigned int i = 0; i < RTE_DIM(commands); i++) {
		int err = rte_telemetry_register_cmd(commands[i].name, show, commands[i].help);

		if (err) {
			log_error("telemetry: %s: %s", commands[i].name, strerror(-err));
			return err;
		}
	}
	serve(true);
	return 0;
}
