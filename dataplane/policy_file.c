/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy_file.h"

#define HEADER "cygnet policies 1"
#define FIELD 96u /* bytes of a field: two addresses of IPv6 */

/* --- fields --- */

/* @return index; n: there is no such name */
static unsigned int find_name(const char *text, const char *const *names, unsigned int n)
{
	unsigned int i = 0;

	while (i < n && strcmp(text, names[i]))
		i++;
	return i;
}

static const char *const dirs[] = {[CYGNET_IN] = "in", [CYGNET_OUT] = "out", [CYGNET_FWD] = "fwd"};

static bool read_dir(const char *text, struct cygnet_policy_params *p)
{
	p->dir = (uint8_t)find_name(text, dirs, CYGNET_DIRS);
	return p->dir < CYGNET_DIRS;
}

static void write_dir(char *text, const struct cygnet_policy_params *p)
{
	snprintf(text, FIELD, "%s", dirs[p->dir]);
}

/* Policies that bypass are not kept: the word is one of two. */
static bool read_action(const char *text, struct cygnet_policy_params *p)
{
	p->action = strcmp(text, "protect") ? CYGNET_DISCARD : CYGNET_PROTECT;
	return true; /* any other word is refused by the comparison with the text as written again */
}

static void write_action(char *text, const struct cygnet_policy_params *p)
{
	snprintf(text, FIELD, "%s", p->action == CYGNET_PROTECT ? "protect" : "discard");
}

static bool read_priority(const char *text, struct cygnet_policy_params *p)
{
	return sscanf(text, "%10u", &p->priority) == 1;
}

static void write_priority(char *text, const struct cygnet_policy_params *p)
{
	snprintf(text, FIELD, "%u", p->priority);
}

/* @param[in,out] af  of the selector; 0: not known yet */
static bool read_addrs(const char *text, uint8_t *af, struct cygnet_addr *lo, struct cygnet_addr *hi)
{
	uint8_t family = strchr(text, ':') ? AF_INET6 : AF_INET;
	const char *dash = strchr(text, '-');
	char first[INET6_ADDRSTRLEN];

	if (!dash || (size_t)(dash - text) >= sizeof(first) || (*af && *af != family))
		return false;
	memcpy(first, text, (size_t)(dash - text));
	first[dash - text] = '\0';
	*af = family;
	return inet_pton(family, first, lo->bytes) == 1 && inet_pton(family, dash + 1, hi->bytes) == 1 &&
	       memcmp(lo, hi, sizeof(*lo)) <= 0;
}

static void write_addrs(char *text, uint8_t af, const struct cygnet_addr *lo, const struct cygnet_addr *hi)
{
	char first[INET6_ADDRSTRLEN] = "?", last[INET6_ADDRSTRLEN] = "?";

	inet_ntop(af, lo->bytes, first, sizeof(first));
	inet_ntop(af, hi->bytes, last, sizeof(last));
	snprintf(text, FIELD, "%s-%s", first, last);
}

static bool read_source(const char *text, struct cygnet_policy_params *p)
{
	return read_addrs(text, &p->sel.af, &p->sel.src_lo, &p->sel.src_hi);
}

static void write_source(char *text, const struct cygnet_policy_params *p)
{
	write_addrs(text, p->sel.af, &p->sel.src_lo, &p->sel.src_hi);
}

static bool read_destination(const char *text, struct cygnet_policy_params *p)
{
	return read_addrs(text, &p->sel.af, &p->sel.dst_lo, &p->sel.dst_hi);
}

static void write_destination(char *text, const struct cygnet_policy_params *p)
{
	write_addrs(text, p->sel.af, &p->sel.dst_lo, &p->sel.dst_hi);
}

static bool read_protocol(const char *text, struct cygnet_policy_params *p)
{
	return sscanf(text, "%3hhu", &p->sel.proto) == 1;
}

static void write_protocol(char *text, const struct cygnet_policy_params *p)
{
	snprintf(text, FIELD, "%u", p->sel.proto);
}

static bool read_ports(const char *text, uint16_t *lo, uint16_t *hi)
{
	return sscanf(text, "%5hu-%5hu", lo, hi) == 2 && *lo <= *hi;
}

static bool read_sports(const char *text, struct cygnet_policy_params *p)
{
	return read_ports(text, &p->sel.sport_lo, &p->sel.sport_hi);
}

static void write_sports(char *text, const struct cygnet_policy_params *p)
{
	snprintf(text, FIELD, "%u-%u", p->sel.sport_lo, p->sel.sport_hi);
}

static bool read_dports(const char *text, struct cygnet_policy_params *p)
{
	return read_ports(text, &p->sel.dport_lo, &p->sel.dport_hi);
}

static void write_dports(char *text, const struct cygnet_policy_params *p)
{
	snprintf(text, FIELD, "%u-%u", p->sel.dport_lo, p->sel.dport_hi);
}

static bool read_interface(const char *text, struct cygnet_policy_params *p)
{
	return sscanf(text, "%8x", &p->sel.interface) == 1;
}

static void write_interface(char *text, const struct cygnet_policy_params *p)
{
	snprintf(text, FIELD, "%x", p->sel.interface);
}

/* In the order of a line. */
static const struct field {
	const char *name;
	bool (*read)(const char *text, struct cygnet_policy_params *p);
	void (*write)(char *text, const struct cygnet_policy_params *p);
} fields[] = {
	{"direction", read_dir, write_dir},
	{"action", read_action, write_action},
	{"priority", read_priority, write_priority},
	{"source", read_source, write_source},
	{"destination", read_destination, write_destination},
	{"protocol", read_protocol, write_protocol},
	{"source ports", read_sports, write_sports},
	{"destination ports", read_dports, write_dports},
	{"interface", read_interface, write_interface},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* --- parsing --- */

/* Cut off the next part of a text. @return the part; NULL: the text was at its end */
static char *next_part(char **text, char separator)
{
	char *part = *text, *end = part ? strchr(part, separator) : NULL;

	*text = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return part;
}

/* @return NULL, or the name of the first field that is wrong */
static const char *parse_line(char *line, struct cygnet_policy_params *p)
{
	char again[FIELD];

	*p = (struct cygnet_policy_params){
		.rank = UINT32_MAX, /* of policies with equal priority those of charon apply */
		.proto = IPPROTO_ESP,
	};
	for (size_t i = 0; i < FIELDS; i++) {
		const char *text = next_part(&line, ' ');

		if (!text || !fields[i].read(text, p))
			return fields[i].name;
		fields[i].write(again, p);
		if (strcmp(again, text))
			return fields[i].name;
	}
	return line ? "end" : NULL;
}

static int parse_head(char **text, const char *sadb, char *why, size_t size)
{
	const char *line = next_part(text, '\n');

	if (!line || strcmp(line, HEADER)) {
		snprintf(why, size, "line 1: not \"" HEADER "\"");
		return -EINVAL;
	}
	line = next_part(text, '\n');
	if (!line || strncmp(line, "sadb ", 5) || !*text) {
		snprintf(why, size, "line 2: sadb is missing");
		return -EINVAL;
	}
	if (strcmp(line + 5, sadb)) {
		snprintf(why, size, "line 2: of another sadb, %.200s", line + 5);
		return -ESTALE;
	}
	return 0;
}

static int parse_policies(char *text, uint32_t most, struct policy_list *list, char *why, size_t size)
{
	/* The part behind the last newline is empty. */
	for (char *line; (line = next_part(&text, '\n')) && (*line || text);) {
		const char *wrong;

		if (list->n == most) {
			snprintf(why, size, "line %u: more than %u policies", list->n + 3, most);
			return -ENOSPC;
		}
		wrong = text ? parse_line(line, &list->policy[list->n]) : "end";
		if (wrong) {
			snprintf(why, size, "line %u: %s is wrong", list->n + 3, wrong);
			return -EINVAL;
		}
		list->n++;
	}
	return 0;
}

static uint32_t count_lines(const char *text)
{
	uint32_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

int policy_list_parse(char *text, const char *sadb, uint32_t most, struct policy_list *list, char *why,
		      size_t size)
{
	uint32_t lines = count_lines(text);
	int err;

	*list = (struct policy_list){0};
	err = parse_head(&text, sadb, why, size);
	if (err)
		return err;
	list->policy = calloc(lines < most ? lines : most, sizeof(list->policy[0]));
	if (!list->policy) {
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	err = parse_policies(text, most, list, why, size);
	if (err)
		policy_list_free(list);
	return err;
}

/* --- writing --- */

static void add(struct policy_list *list, const struct cygnet_policy *policy)
{
	struct cygnet_policy_params *p = &list->policy[list->n++];

	*p = (struct cygnet_policy_params){
		.sel = policy->sel,
		.priority = policy->priority,
		.dir = policy->dir,
		.action = policy->action,
	};
	memset(p->sel.reserved, 0, sizeof(p->sel.reserved));
}

static int compare_selectors(const struct cygnet_policy_params *a, const struct cygnet_policy_params *b)
{
	return a->dir != b->dir ? a->dir - b->dir : memcmp(&a->sel, &b->sel, sizeof(a->sel));
}

static int compare(const void *left, const void *right)
{
	const struct cygnet_policy_params *a = left, *b = right;
	int order = compare_selectors(a, b);

	if (order)
		return order;
	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	return a->action - b->action;
}

static void remove_equal_selectors(struct policy_list *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (!n || compare_selectors(&list->policy[n - 1], &list->policy[i]))
			list->policy[n++] = list->policy[i];
	list->n = n;
}

static bool is_kept(const struct cygnet_policy *policy)
{
	return policy->dir < CYGNET_DIRS && (policy->sel.af == AF_INET || policy->sel.af == AF_INET6) &&
	       (policy->action == CYGNET_PROTECT || policy->action == CYGNET_DISCARD);
}

int policy_list_read(struct cygnet_db *db, struct policy_list *list)
{
	struct cygnet_policy policy;
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	/* Not calloc(): locked memory that is never touched costs nothing. */
	*list = (struct policy_list){
		reallocarray(NULL, info.geometry.policies, sizeof(list->policy[0])), 0};
	if (!list->policy)
		return -ENOMEM;
	for (uint32_t i = 0; i < info.geometry.policies; i++)
		if (cygnet_policy_snapshot(db, i, &policy) && is_kept(&policy))
			add(list, &policy);
	qsort(list->policy, list->n, sizeof(list->policy[0]), compare);
	remove_equal_selectors(list);
	return 0;
}

char *policy_list_text(const struct policy_list *list, const char *sadb, size_t *len)
{
	char *text = NULL, field[FIELD];
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	fprintf(out, HEADER "\nsadb %s\n", sadb);
	for (uint32_t i = 0; i < list->n; i++) {
		for (size_t f = 0; f < FIELDS; f++) {
			fields[f].write(field, &list->policy[i]);
			fprintf(out, "%s%s", field, f + 1 < FIELDS ? " " : "\n");
		}
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

void policy_list_free(struct policy_list *list)
{
	free(list->policy);
	*list = (struct policy_list){0};
}
