/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "conf/conf.h"
#include "conf/conf_keys.h"
#include "conf/driver_folder.h"
#include "cygnet.h"

#define IN_MAIN(field) \
	.section = CONF_MAIN, .offset = offsetof(struct conf, field), \
	.size = sizeof(((struct conf *)0)->field)
#define IN_PORT(field) \
	.section = CONF_PORT, .offset = offsetof(struct conf_port, field), \
	.size = sizeof(((struct conf_port *)0)->field)
#define IN_TUNNEL(field) \
	.section = CONF_TUNNEL, .offset = offsetof(struct conf_port, field), \
	.size = sizeof(((struct conf_port *)0)->field)
#define NUMBER(least, most) .type = CONF_NUMBER, .min = least, .max = most
#define POLICE		    NUMBER(0, 10000000)
#define LEVELS		    "error, warning, notice, info, debug"
#define CHOICE(names)	    .type = CONF_CHOICE, .choices = names

const struct conf_key conf_keys[] = {
	{"sadb", IN_MAIN(sadb), .type = CONF_ABSOLUTE, .def = CYGNET_SADB_PATH,
	 .help = "the file shared with charon"},
	{"sadb_on_disk", IN_MAIN(sadb_on_disk), CHOICE("no, yes"), .def = "no",
	 .help = "whether the shared file may be on a file system that is not in memory"},
	{"state", IN_MAIN(state), .type = CONF_ABSOLUTE, .def = "/var/lib/cygnet",
	 .help = "folder of what is kept from one start to the next"},
	{"keep_policies", IN_MAIN(keep_policies), CHOICE("no, yes"), .def = "yes",
	 .help = "hold the policies of the last run after a boot, until charon installs its own"},
	{"hold_unknown", IN_MAIN(hold_unknown), CHOICE("no, yes"), .def = "yes",
	 .help = "hold everything but IKE after a boot if the policies of the last run cannot be read"},
	{"user", IN_MAIN(user), .type = CONF_TEXT, .def = "cygnet",
	 .help = "the user that cygnetd becomes before the first packet"},
	{"telemetry_group", IN_MAIN(telemetry_group), .type = CONF_TEXT, .def = "cygnet-telemetry",
	 .help = "the group that may read telemetry"},
	{"lock_memory", IN_MAIN(lock_memory), CHOICE("no, yes"), .def = "yes",
	 .help = "keep keys out of swap"},
	{"seccomp", IN_MAIN(seccomp), CHOICE("auto, enforce, log, no"), .def = "auto",
	 .help = "what happens to system calls that are not needed while packets flow"},
	{"paths", IN_MAIN(paths), .type = CONF_PATHS,
	 .help = "further files and folders that may be read and written"},
	{"sas", IN_MAIN(sas), NUMBER(1, CYGNET_MAX_ENTRIES), .def = "65536",
	 .help = "room for SAs in a new sadb"},
	{"policies", IN_MAIN(policies), NUMBER(1, CYGNET_MAX_ENTRIES), .def = "65536",
	 .help = "room for policies in a new sadb"},
	{"routes", IN_MAIN(routes), NUMBER(64, 1u << 22), .def = "65536",
	 .help = "room for IPv4 prefixes, and a quarter as many IPv6 prefixes"},
	{"engine", IN_MAIN(engine), CHOICE("auto, cpu, opencl"), .def = "auto",
	 .help = "crypto devices to use"},
	{"approved", IN_MAIN(approved), CHOICE("no, yes"), .def = "no",
	 .help = "serve SAs of algorithms that FIPS 140-3 approves only"},
	{"audit", IN_MAIN(audit), CHOICE("no, yes"), .def = "yes", .live = true,
	 .help = "record packets that are auditable events"},
	{"sessions", IN_MAIN(sessions), NUMBER(64, CYGNET_MAX_ENTRIES), .def = "8192",
	 .help = "SAs that have crypto sessions at a time"},
	{"flows", IN_MAIN(flows), NUMBER(0, 1u << 24), .def = "65536",
	 .help = "entries of each worker's flow cache"},
	{"workers", IN_MAIN(workers), NUMBER(1, CONF_MAX_WORKERS), .def = "1",
	 .help = "threads that carry packets"},
	{"cores", IN_MAIN(cores), .type = CONF_CPUS, .help = "CPUs of the workers"},
	{"crypto_cores", IN_MAIN(crypto_cores), .type = CONF_CPUS, .max = CONF_MAX_CRYPTO_CORES,
	 .help = "CPUs that do crypto for all workers"},
	{"idle", IN_MAIN(idle_sleep), CHOICE("poll, sleep"), .def = "poll", .live = true,
	 .help = "what a worker without packets does"},
	{"balance", IN_MAIN(balance), CHOICE("no, yes"), .def = "yes", .live = true,
	 .help = "move SAs from an overloaded worker to others"},
	{"no_policy", IN_MAIN(no_policy), CHOICE("inside, pass, drop"), .def = "inside",
	 .live = true, .help = "plaintext that matches no policy"},
	{"hairpin", IN_MAIN(pass_hairpin), CHOICE("drop, pass"), .def = "drop", .live = true,
	 .help = "decrypted packets that would leave by the port of their ESP, or another outside port"},
	{"dhcp", IN_MAIN(dhcp), CHOICE("no, yes"), .def = "yes", .live = true,
	 .help = "DHCP of this host's client or server passes the policies"},
	{"kernel_side", IN_MAIN(kernel_side), CHOICE("outside, inside"), .def = "outside",
	 .live = true, .help = "what the kernel's other interfaces lead to"},
	{"police_peer", IN_MAIN(police[POLICE_PEER]), POLICE, .def = "10000", .live = true,
	 .help = "IKE of each peer's address, packets a second"},
	{"police_ike", IN_MAIN(police[POLICE_IKE]), POLICE, .def = "5000", .live = true,
	 .help = "IKE of addresses that are no peer's, packets a second and port"},
	{"police_arp", IN_MAIN(police[POLICE_ARP]), POLICE, .def = "5000", .live = true,
	 .help = "ARP, ND and link control, packets a second and port"},
	{"police_icmp", IN_MAIN(police[POLICE_ICMP]), POLICE, .def = "5000", .live = true,
	 .help = "ICMP to this host, packets a second and port"},
	{"police_other", IN_MAIN(police[POLICE_OTHER]), POLICE, .def = "100000", .live = true,
	 .help = "other plaintext to the kernel, packets a second and port"},
	{"police_fragments", IN_MAIN(police[POLICE_FRAGMENTS]), POLICE, .def = "10000",
	 .live = true,
	 .help = "fragments to this host of addresses that are no peer's, packets a second and port"},
	{"police_sa", IN_MAIN(police[POLICE_SA]), POLICE, .def = "100000", .live = true,
	 .help = "decrypted packets of each SA to the kernel, packets a second"},
	{"driver_path", IN_MAIN(driver_path), .type = CONF_ABSOLUTE, .def = driver_folder,
	 .help = "folder of Cygnet's DPDK drivers"},
	{"opencl", IN_MAIN(opencl_args), .type = CONF_TEXT, .help = "arguments of crypto_opencl"},
	{"log", IN_MAIN(log), CHOICE(LEVELS), .def = "info", .live = true,
	 .help = "messages of cygnetd, up to that level"},
	{"dpdk_log", IN_MAIN(dpdk_log), CHOICE(LEVELS), .def = "notice", .live = true,
	 .help = "messages of DPDK, up to that level"},
	{"eal", IN_MAIN(eal), .type = CONF_EAL, .help = "arguments of DPDK's EAL"},
	{"device", IN_PORT(device), .type = CONF_TEXT, .help = "DPDK's device"},
	{"vlan", IN_PORT(vlan), .type = CONF_VLAN,
	 .help = "instead of a device: VLAN ID, or those of two tags, on the port before the dot of NAME"},
	{"vlan_type", IN_PORT(vlan_type), CHOICE("auto, 802.1q, 802.1ad"), .def = "auto",
	 .help = "type of the outermost tag; auto: 802.1q for one tag, 802.1ad for the outer one of two"},
	{"priority", IN_PORT(priority), CHOICE("0, 1, 2, 3, 4, 5, 6, 7, dscp"), .def = "0",
	 .live = true, .help = "of a VLAN's frames that leave, or that of their packet's DSCP"},
	{"dscp", IN_PORT(dscp_of_priority), CHOICE("keep, priority"), .def = "keep", .live = true,
	 .help = "of packets that come in by a VLAN, or that of their frame's priority"},
	{"tap", IN_PORT(tap), .type = CONF_INTERFACE, .help = "name of the TAP"},
	{"mtu", IN_PORT(mtu), NUMBER(CONF_MIN_MTU, CONF_MAX_MTU), .live = true,
	 .help = "longest IP packet, bytes"},
	{"side", IN_PORT(side), CHOICE("outside, inside"), .live = true,
	 .help = "what the port leads to; outside if only another port says"},
	{"if_id", IN_TUNNEL(if_id), NUMBER(1, UINT32_MAX),
	 .help = "interface ID of the CHILD_SAs that packets go to and come from"},
	{"tap", IN_TUNNEL(tap), .type = CONF_INTERFACE, .help = "name of the TAP"},
	{"mtu", IN_TUNNEL(mtu), NUMBER(CONF_MIN_MTU, CONF_MAX_MTU), .live = true,
	 .help = "longest IP packet, bytes; 1500 without the key"},
};

const char *const conf_section_names[] = {
	[CONF_MAIN] = "cygnetd",
	[CONF_PORT] = "port ",
	[CONF_TUNNEL] = "tunnel ",
};

_Static_assert(sizeof(conf_keys) / sizeof(conf_keys[0]) == CONF_KEYS, "one row per key");

const struct conf_key *conf_key_find(enum conf_section section, const char *name)
{
	for (unsigned int i = 0; i < CONF_KEYS; i++)
		if (conf_keys[i].section == section && strcmp(conf_keys[i].name, name) == 0)
			return &conf_keys[i];
	return NULL;
}

bool conf_is_given(const struct conf *conf, const char *name)
{
	return conf->given[conf_key_find(CONF_MAIN, name) - conf_keys].line;
}

unsigned int conf_number(const struct conf_key *key, const void *owner)
{
	const void *field = (const char *)owner + key->offset;
	uint32_t word;
	uint16_t half;

	switch (key->size) {
	case sizeof(word):
		memcpy(&word, field, sizeof(word));
		return word;
	case sizeof(half):
		memcpy(&half, field, sizeof(half));
		return half;
	default:
		return *(const bool *)field;
	}
}

void conf_set_number(const struct conf_key *key, void *owner, unsigned int number)
{
	char *field = (char *)owner + key->offset;
	uint16_t half = (uint16_t)number;

	if (key->size == sizeof(number))
		memcpy(field, &number, sizeof(number));
	else if (key->size == sizeof(half))
		memcpy(field, &half, sizeof(half));
	else
		*(bool *)field = number != 0;
}

bool conf_same(const struct conf_key *key, const void *a, const void *b)
{
	if (key->type == CONF_NUMBER || key->type == CONF_CHOICE || key->type == CONF_VLAN)
		return conf_number(key, a) == conf_number(key, b);
	return strcmp((const char *)a + key->offset, (const char *)b + key->offset) == 0;
}

/* One of the names in "a, b, c". @return its length; 0: there are not so many */
static size_t choice(const char *choices, unsigned int index, const char **name)
{
	for (*name = choices; index && **name; index--)
		*name += strcspn(*name, ",") + strspn(*name + strcspn(*name, ","), ", ");
	return strcspn(*name, ",");
}

int conf_choice(const struct conf_key *key, const char *value)
{
	const char *name;
	size_t len;

	for (unsigned int i = 0; (len = choice(key->choices, i, &name)); i++)
		if (strlen(value) == len && strncmp(value, name, len) == 0)
			return (int)i;
	return -1;
}

void conf_value(const struct conf_key *key, const void *owner, char *out, size_t size)
{
	const char *name;
	size_t len;

	if (key->type == CONF_NUMBER) {
		snprintf(out, size, "%u", conf_number(key, owner));
	} else if (key->type == CONF_VLAN) {
		conf_vlan_print(conf_number(key, owner), out, size);
	} else if (key->type == CONF_CHOICE) {
		len = choice(key->choices, conf_number(key, owner), &name);
		snprintf(out, size, "%.*s", (int)len, name);
	} else {
		snprintf(out, size, "%s", (const char *)owner + key->offset);
	}
}

void conf_print_keys(FILE *out)
{
	static const char *const what[] = {
		[CONF_TEXT] = "TEXT",	 [CONF_ABSOLUTE] = "PATH",  [CONF_CPUS] = "LIST",
		[CONF_EAL] = "TEXT",	 [CONF_INTERFACE] = "NAME", [CONF_PATHS] = "PATH...",
		[CONF_VLAN] = "ID[.ID]",
	};

	fprintf(out, "section\tkey\tvalues\tdefault\tchanged by\twhat\n");
	for (unsigned int i = 0; i < CONF_KEYS; i++) {
		const struct conf_key *key = &conf_keys[i];

		fprintf(out, "[%s%s]\t%s\t", conf_section_names[key->section],
			key->section == CONF_MAIN ? "" : "NAME", key->name);
		if (key->type == CONF_NUMBER)
			fprintf(out, "%u to %u", key->min, key->max);
		else
			fprintf(out, "%s", key->choices ? key->choices : what[key->type]);
		fprintf(out, "\t%s\t%s\t%s\n", key->def ? key->def : "-",
			key->live ? "reload" : "restart", key->help);
	}
}
