/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "things.h"

static const struct column sad_columns[] = {
	{"spi", "SPI", 0},
	{"dir", "DIR", 0},
	{"src", "SRC", COLUMN_WIDE},
	{"dst", "DST", COLUMN_WIDE},
	{"peer", "PEER", 0},
	{"ike", "IKE", 0},
	{"child", "CHILD", 0},
	{"state", "STATE", COLUMN_WIDE},
	{"proto", "PROTO", COLUMN_WIDE},
	{"mode", "MODE", COLUMN_WIDE},
	{"encap", "ENCAP", COLUMN_WIDE},
	{"cipher", "CIPHER", 0},
	{"key_bits", "BITS", COLUMN_WIDE},
	{"auth", "AUTH", COLUMN_WIDE},
	{"icv", "ICV", COLUMN_WIDE},
	{"reqid", "REQID", 0},
	{"age", "AGE", COLUMN_TIME},
	{"rekey_in", "REKEY-IN", COLUMN_TIME | COLUMN_WIDE},
	{"expires_in", "EXPIRES", COLUMN_TIME},
	{"seq", "SEQ", COLUMN_WIDE},
	{"packets", "PACKETS", COLUMN_COUNT},
	{"bytes", "BYTES", COLUMN_COUNT},
	{"last_used", "USED", COLUMN_TIME},
	{"window", "WINDOW", COLUMN_WIDE},
	{"replay_drops", "REPLAYED", COLUMN_WIDE},
	{"auth_drops", "FORGED", COLUMN_WIDE},
	{"path_mtu", "PATH-MTU", COLUMN_WIDE},
	{"cpu", "CPU", COLUMN_WIDE},
	{"if_id", "IF-ID", COLUMN_WIDE},
	{NULL, NULL, 0},
};

static const struct column tunnels_columns[] = {
	{"ike", "IKE", 0},
	{"child", "CHILD", 0},
	{"reqid", "REQID", 0},
	{"local", "LOCAL", COLUMN_WIDE},
	{"peer", "PEER", 0},
	{"remote_id", "REMOTE-ID", COLUMN_WIDE},
	{"state", "STATE", 0},
	{"proto", "PROTO", COLUMN_WIDE},
	{"mode", "MODE", COLUMN_WIDE},
	{"encap", "ENCAP", COLUMN_WIDE},
	{"spi_in", "SPI-IN", COLUMN_WIDE},
	{"spi_out", "SPI-OUT", COLUMN_WIDE},
	{"age", "AGE", COLUMN_TIME},
	{"rekey_in", "REKEY-IN", COLUMN_TIME | COLUMN_WIDE},
	{"expires_in", "EXPIRES", COLUMN_TIME},
	{"packets_in", "IN", COLUMN_COUNT},
	{"packets_out", "OUT", COLUMN_COUNT},
	{"bytes_in", "BYTES-IN", COLUMN_COUNT | COLUMN_WIDE},
	{"bytes_out", "BYTES-OUT", COLUMN_COUNT | COLUMN_WIDE},
	{"last_used", "USED", COLUMN_TIME},
	{"selectors", "SELECTORS", 0},
	{NULL, NULL, 0},
};

static const struct column spd_columns[] = {
	{"dir", "DIR", 0},
	{"action", "ACTION", 0},
	{"held", "HELD", 0},
	{"priority", "PRIO", 0},
	{"reqid", "REQID", 0},
	{"spi", "SPI", 0},
	{"refs", "REFS", COLUMN_WIDE},
	{"last_used", "USED", COLUMN_TIME},
	{"passed", "PASSED", COLUMN_COUNT},
	{"dropped", "DROPPED", COLUMN_COUNT},
	{"selector", "SELECTOR", 0},
	{NULL, NULL, 0},
};

static const struct column ports_columns[] = {
	{"name", "PORT", 0},
	{"tap", "TAP", COLUMN_WIDE},
	{"on", "ON", COLUMN_WIDE},
	{"vlan", "VLAN", COLUMN_WIDE},
	{"if_id", "IF-ID", COLUMN_WIDE},
	{"device", "DEVICE", COLUMN_WIDE},
	{"driver", "DRIVER", 0},
	{"address", "ADDRESS", 0},
	{"mac", "MAC", COLUMN_WIDE},
	{"mtu", "MTU", 0},
	{"state", "STATE", 0},
	{"link", "LINK", 0},
	{"queues", "QUEUES", COLUMN_WIDE},
	{"rx_packets", "RX", COLUMN_COUNT},
	{"rx_bytes", "RX-BYTES", COLUMN_COUNT},
	{"tx_packets", "TX", COLUMN_COUNT},
	{"tx_bytes", "TX-BYTES", COLUMN_COUNT},
	{"to_kernel", "TO-KERNEL", COLUMN_COUNT | COLUMN_WIDE},
	{"from_kernel", "FROM-KERNEL", COLUMN_COUNT | COLUMN_WIDE},
	{"rx_missed", "MISSED", COLUMN_COUNT},
	{"rx_errors", "RX-ERRORS", COLUMN_WIDE},
	{"tx_errors", "TX-ERRORS", COLUMN_WIDE},
	{NULL, NULL, 0},
};

static const struct column routes_columns[] = {
	{"prefix", "PREFIX", 0}, {"kind", "KIND", 0},	  {"gateway", "GATEWAY", 0},
	{"port", "PORT", 0},	 {"weight", "WEIGHT", 0}, {"table", "TABLE", 0},
	{"metric", "METRIC", 0}, {"mtu", "MTU", 0},	  {NULL, NULL, 0},
};

static const struct column ike_columns[] = {
	{"family", "FAMILY", 0},
	{"port", "PORT", 0},
	{"passes", "PASSES", 0},
	{NULL, NULL, 0},
};

static const struct column engines_columns[] = {
	{"device", "DEVICE", 0},
	{"driver", "DRIVER", COLUMN_WIDE},
	{"engine", "ENGINE", 0},
	{"state", "STATE", 0},
	{"sas", "SAS", 0},
	{"encrypted", "ENCRYPTED", COLUMN_COUNT},
	{"decrypted", "DECRYPTED", COLUMN_COUNT},
	{"bytes", "BYTES", COLUMN_COUNT},
	{"failed", "FAILED", 0},
	{NULL, NULL, 0},
};

const struct column things_measured[] = {
	{"algorithm", "ALGORITHM", 0},
	{"length", "BYTES", 0},
	{"device", "DEVICE", 0},
	{"packet_ns", "PACKET-NS", COLUMN_WIDE},
	{"gbps", "GBPS", 0},
	{"core_ns", "CORE-NS", 0},
	{"latency_us", "LATENCY-US", 0},
	{"chosen", "CHOSEN", 0},
	{"pays_from_gbps", "PAYS-FROM-GBPS", COLUMN_WIDE},
	{NULL, NULL, 0},
};

/* Columns by packet length, as measured by cygnetd; Gbps. */
const struct column things_chosen[] = {
	{"algorithm", "ALGORITHM", 0}, {"64", "64 BYTES", 0},	  {"256", "256 BYTES", 0},
	{"1024", "1024 BYTES", 0},     {"1408", "1408 BYTES", 0}, {NULL, NULL, 0},
};

static const struct column stats_columns[] = {
	{"worker", "WORKER", 0},
	{"forwarded", "FORWARDED", COLUMN_COUNT},
	{"encapsulated", "ENCAPSULATED", COLUMN_COUNT},
	{"decapsulated", "DECAPSULATED", COLUMN_COUNT},
	{"dummies", "DUMMIES", COLUMN_WIDE},
	{"keepalives", "KEEPALIVES", COLUMN_WIDE},
	{"waited_for_sa", "WAITED-FOR-SA", COLUMN_WIDE},
	{"came_early", "CAME-EARLY", COLUMN_WIDE},
	{"reassembled", "REASSEMBLED", COLUMN_WIDE},
	{"too_big_learned", "TOO-BIG-LEARNED", COLUMN_WIDE},
	{"too_big_ignored", "TOO-BIG-IGNORED", COLUMN_WIDE},
	{"handed_off", "HANDED-OFF", COLUMN_COUNT},
	{"sas_moved", "SAS-MOVED", COLUMN_WIDE},
	{"sas_shared", "SAS-SHARED", COLUMN_WIDE},
	{"order_gaps", "ORDER-GAPS", COLUMN_WIDE},
	{"crypto_cores", "CRYPTO-CORES", COLUMN_WIDE},
	{"shortcut", "SHORTCUT", COLUMN_COUNT},
	{"dropped", "DROPPED", COLUMN_COUNT},
	{"buffers", "BUFFERS", 0},
	{"turns", "TURNS", COLUMN_WIDE},
	{NULL, NULL, 0},
};

static const struct column drops_columns[] = {
	{"packets", "PACKETS", COLUMN_COUNT},
	{"reason", "REASON", 0},
	{"help", "WHAT IT MEANS", 0},
	{NULL, NULL, 0},
};

static const struct column stages_columns[] = {
	{"stage", "STAGE", 0},
	{"packets", "PACKETS", COLUMN_COUNT},
	{"vectors", "VECTORS", COLUMN_COUNT},
	{"packets_per_vector", "PER-VECTOR", 0},
	{"cycles_per_packet", "CYCLES", 0},
	{"help", "WHAT IT DOES", 0},
	{NULL, NULL, 0},
};

const struct thing things[THINGS] = {
	[THING_INFO] = {"info", "/cygnet/info", NULL,
			"versions, processes, and the configuration in force"},
	[THING_SAD] = {"sad", NULL, sad_columns,
		       "SAs; FILTER: peer ADDRESS, spi SPI, reqid N, name NAME"},
	[THING_TUNNELS] = {"tunnels", NULL, tunnels_columns,
			   "a row for the SAs of a reqid and a peer; FILTER as with sad"},
	[THING_SPD] = {"spd", NULL, spd_columns, "policies"},
	[THING_PORTS] = {"ports", "/cygnet/ports", ports_columns, "ports of the gateway"},
	[THING_ROUTES] = {"routes", "/cygnet/routes", routes_columns, "routes in force"},
	[THING_IKE] = {"ike", "/cygnet/ike", ike_columns,
		       "UDP ports of charon that are exempt from policies"},
	[THING_ENGINES] =
		{"engines", "/cygnet/engines", engines_columns,
		 "crypto devices; --measurements: what serves which algorithm;\n"
		 "             ALGORITHM: what was measured of those whose names begin so"},
	[THING_STATS] = {"stats", "/cygnet/stats", stats_columns, "packets by worker"},
	[THING_DROPS] = {"drops", "/cygnet/drops", drops_columns, "dropped packets by reason"},
	[THING_STAGES] = {"stages", "/cygnet/stages", stages_columns,
			  "what the workers' stages do in a second"},
};

const char *const *things_names(void)
{
	static const char *names[THINGS + 1];

	for (size_t i = 0; i < THINGS; i++)
		names[i] = things[i].name;
	return names;
}

const struct thing *things_find(const char *name)
{
	for (size_t i = 0; i < THINGS; i++)
		if (!strcmp(name, things[i].name))
			return &things[i];
	return NULL;
}

void things_help(FILE *out)
{
	fprintf(out, "things:\n");
	for (size_t i = 0; i < THINGS; i++)
		fprintf(out, "  %-9s  %s\n", things[i].name, things[i].help);
}
