/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "report.h"
#include "schema.h"
#include "words.h"

#define SCHEMA "https://json-schema.org/draft/2020-12/schema"
#define NAME   48

/*
 * Fields as "name:type", with blanks between. A type is s (string), i (integer), n (number), b (boolean), a (array of
 * strings), [x] (array of objects of the schema x) or {x} (object of the schema x); behind it ? (or null) and ~ (the
 * field may be missing). "=x": the fields of the schema x, too.
 */
static const struct schema {
	const char *name;
	const char *what; /* NULL: a part of other schemas */
	bool array;	  /* an array of such objects */
	const char *fields;
} schemas[] = {
	{"info", "cygnetctl show info", true,
	 "=process uptime:i cygnetctl:s cygnetctl_abi:i strongswan:s? configuration:[key]"},
	{"process", NULL, false,
	 "version:s pid:i started:i taken_over:i charon_pid:i charon_down_s:i workers:i sas:i sas_max:i policies:i"
	 " policies_held:i policies_max:i deleted:i repairs:i events:i routes_due:i sadb:s abi:i"
	 " dpdk:s"},
	{"key", NULL, false, "section:s key:s value:s default:s given:s"},
	{"sad", "cygnetctl show sad", true,
	 "spi:s dir:s state:s src:s dst:s peer:s proto:s mode:s encap:s sport:i dport:i cipher:s"
	 " key_bits:i auth:s icv:i reqid:i esn:b seq:i packets:i bytes:i last_used:i? window:i"
	 " replay_drops:i auth_drops:i path_mtu:i? cpu:i? if_id:i age:i? rekey_in:i? expires_in:i? soft_bytes:i?"
	 " hard_bytes:i? soft_packets:i? hard_packets:i? ike:s? ike_id:i? child:s? child_id:i?"
	 " remote_id:s?"},
	{"tunnels", "cygnetctl show tunnels", true,
	 "ike:s? ike_id:i? child:s? child_id:i? remote_id:s? reqid:i local:s peer:s state:s proto:s"
	 " mode:s encap:s selectors:a sas_in:i sas_out:i spi_in:s? spi_out:s? age:i rekey_in:i?"
	 " expires_in:i? packets_in:i bytes_in:i packets_out:i bytes_out:i last_used:i?"},
	{"spd", "cygnetctl show spd", true,
	 "dir:s selector:s src:s dst:s proto:s sport:s dport:s interface:s action:s held:b priority:i"
	 " reqid:i spi:s? sa_proto:s? mode:s? refs:i last_used:i? slot:i generation:i passed:i?"
	 " dropped:i?"},
	{"ports", "cygnetctl show ports", true,
	 "name:s tap:s kind:s on:s vlan:s if_id:i device:s driver:s mac:s address:s ifindex:i mtu:i state:s link:s queues:i"
	 " rx_packets:i rx_bytes:i tx_packets:i tx_bytes:i to_kernel:i from_kernel:i rx_missed:i"
	 " rx_errors:i tx_errors:i"},
	{"routes", "cygnetctl show routes", true,
	 "prefix:s kind:s gateway:s port:s weight:i table:i metric:i mtu:i"},
	{"ike", "cygnetctl show ike", true, "family:s port:i passes:s"},
	{"engines", "cygnetctl show engines", true, "=device measured:[measured]"},
	{"device", NULL, false,
	 "device:s driver:s engine:s state:s packets_in:s sas:i packets:i encrypted:i decrypted:i"
	 " bytes:i failed:i"},
	{"measured", NULL, false,
	 "algorithm:s length:i gbps:n packet_ns:n core_ns:n latency_us:n chosen:s pays_from_gbps:n~"},
	{"stats", "cygnetctl show stats", true,
	 "worker:i forwarded:i encapsulated:i decapsulated:i dummies:i keepalives:i waited_for_sa:i"
	 " came_early:i reassembled:i too_big_learned:i too_big_ignored:i handed_off:i sas_moved:i"
	 " sas_shared:i order_gaps:i crypto_cores:i"
	 " shortcut:i turns:i busy_cycles:i dropped:i buffers:i buffers_max:i cycles:i cycles_per_second:i"},
	{"drops", "cygnetctl show drops", true, "reason:s packets:i help:s"},
	{"stages", "cygnetctl show stages", true,
	 "stage:s packets:i vectors:i packets_per_vector:i? cycles_per_packet:i? help:s"},
	{"check", "cygnetctl check", false, "sadb:s sas:i policies:i deleted:i"},
	{"doctor", "cygnetctl doctor", true, "check:s state:s text:s todo:s?"},
	{"health", "cygnetctl health", false, "state:s status:i reason:s perfdata:[perfdata]"},
	{"perfdata", NULL, false, "label:s value:i unit:s warn:i? crit:i? max:i?"},
	{"top", "cygnetctl top, a line for each interval", false,
	 "seconds:n info:{process} workers:[busy] ports:[port-rates] engines:[device-rates]"
	 " sas:[sa-rates] drops:[drops]"},
	{"busy", NULL, false, "=stats busy:n"},
	{"port-rates", NULL, false, "=ports rx_mbit:n tx_mbit:n"},
	{"device-rates", NULL, false, "=device mbit:n"},
	{"sa-rates", NULL, false, "=sad mbit:n"},
	{"watch", "cygnetctl watch, a line for each event", false,
	 "time:s event:s version:s~ pid:i~ sas:i~ policies:i~ reqid:i~ src:s~ dst:s~ proto:si~"
	 " sport:i~ dport:i~ limit:s~ spi:s~ new_addr:s~ new_port:i~ dir:s~ device:s~ state:s~"
	 " engine:s~ name:s~ link:s~ tap:s~ reason:s~ worker:i~ port:s~ seq:i~ flow_label:i~ sa:i~"
	 " outer_src:s~ outer_dst:s~ packets:i~ events:i~"},
	{"trace", "cygnetctl trace", true, "stage:s decision:s detail:s reason:s~ port:s~"},
	{"capture", "cygnetctl capture, on standard error", false, "packets:i missed:i"},
	{"bundle", "cygnetctl bundle", false, "archive:s"},
	{"error", "any command that fails, on standard error", false,
	 "error:s status:i nearest:s~"},
};
#define SCHEMAS (sizeof(schemas) / sizeof(schemas[0]))

static json_t *object_schema(const struct schema *schema);

static const struct schema *find(const char *name, size_t len)
{
	for (size_t i = 0; i < SCHEMAS; i++)
		if (strlen(schemas[i].name) == len && !strncmp(schemas[i].name, name, len))
			return &schemas[i];
	return NULL;
}

const char *const *schema_names(void)
{
	static const char *names[SCHEMAS + 1];
	size_t n = 0;

	for (size_t i = 0; i < SCHEMAS; i++)
		if (schemas[i].what)
			names[n++] = schemas[i].name;
	return names;
}

static const char *type_name(char type)
{
	switch (type) {
	case 's':
		return "string";
	case 'i':
		return "integer";
	case 'n':
		return "number";
	case 'b':
		return "boolean";
	default:
		return NULL;
	}
}

/* @param type  as above, of some letters. @return schema of the field */
static json_t *type_schema(const char *type, size_t len)
{
	json_t *names = json_array();

	if (*type == 'a') {
		json_decref(names);
		return json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
	}
	if (*type == '[' || *type == '{') {
		const struct schema *of = find(type + 1, strcspn(type + 1, "]}"));

		json_decref(names);
		return *type == '{' ? object_schema(of)
				    : json_pack("{s:s, s:o}", "type", "array", "items",
						object_schema(of));
	}
	for (size_t i = 0; i < len && type_name(type[i]); i++)
		json_array_append_new(names, json_string(type_name(type[i])));
	if (memchr(type, '?', len))
		json_array_append_new(names, json_string("null"));
	return json_pack("{s:o}", "type", names);
}

/* Add the fields of a schema to "properties" and "required". */
static void add_fields(const struct schema *schema, json_t *properties, json_t *required)
{
	for (const char *field = schema->fields; *field; field += strspn(field, " ")) {
		size_t len = strcspn(field, " "), name_len = strcspn(field, ":");
		char name[NAME];

		if (*field == '=') {
			add_fields(find(field + 1, len - 1), properties, required);
		} else {
			snprintf(name, sizeof(name), "%.*s", (int)name_len, field);
			json_object_set_new(properties, name,
					    type_schema(field + name_len + 1, len - name_len - 1));
			if (field[len - 1] != '~')
				json_array_append_new(required, json_string(name));
		}
		field += len;
	}
}

static json_t *object_schema(const struct schema *schema)
{
	json_t *properties = json_object(), *required = json_array();

	add_fields(schema, properties, required);
	return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required",
			 required);
}

json_t *schema_make(const char *name)
{
	const struct schema *schema = find(name, strlen(name));
	json_t *made;

	if (!schema || !schema->what)
		return NULL;
	made = json_pack("{s:s, s:s}", "$schema", SCHEMA, "title", schema->what);
	if (schema->array) {
		json_object_set_new(made, "type", json_string("array"));
		json_object_set_new(made, "items", object_schema(schema));
	} else {
		json_t *object = object_schema(schema);

		json_object_update(made, object);
		json_decref(object);
	}
	return made;
}

/* --- the command --- */

static json_t *all_schemas(void)
{
	json_t *all = json_object();

	for (const char *const *name = schema_names(); *name; name++)
		json_object_set_new(all, *name, schema_make(*name));
	return all;
}

int schema(const struct options *options, int argc, char **argv)
{
	json_t *made;

	if (argc > 2)
		return COMMAND_USAGE;
	if (argc == 2 && !words_have(schema_names(), argv[1]))
		return report_word(options, "schema", argv[1], schema_names());
	made = argc == 2 ? schema_make(argv[1]) : all_schemas();
	json_dumpf(made, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(made);
	return 0;
}

const char *const *schema_next(int argc, char **argv)
{
	(void)argv;
	return argc == 1 ? schema_names() : NULL;
}
