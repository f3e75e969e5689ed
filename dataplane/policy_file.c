/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/selector_text.h"
#include "policy_file.h"

#define HEADER "cygnet policies 1"

static void write_line(char line[POLICY_LINE], const struct cygnet_policy_params *p)
{
	const struct cygnet_selector *sel = &p->sel;
	const struct cygnet_addr *addr[] = {&sel->src_lo, &sel->src_hi, &sel->dst_lo, &sel->dst_hi};
	char text[4][INET6_ADDRSTRLEN] = {"?", "?", "?", "?"};

	for (unsigned int i = 0; i < 4; i++)
		inet_ntop(sel->af, addr[i]->bytes, text[i], sizeof(text[i]));
	snprintf(line, POLICY_LINE, "%s %s %u %s-%s %s-%s %u %u-%u %u-%u %x",
		 policy_dir_text(p->dir), policy_action_text(p->action), p->priority, text[0],
		 text[1], text[2], text[3], sel->proto, sel->sport_lo, sel->sport_hi, sel->dport_lo,
		 sel->dport_hi, sel->interface);
}

/* --- parsing --- */

static bool parse_addrs(struct cygnet_selector *sel, const char text[4][INET6_ADDRSTRLEN])
{
	struct cygnet_addr *addr[] = {&sel->src_lo, &sel->src_hi, &sel->dst_lo, &sel->dst_hi};

	sel->af = strchr(text[0], ':') ? AF_INET6 : AF_INET;
	for (unsigned int i = 0; i < 4; i++)
		if (inet_pton(sel->af, text[i], addr[i]->bytes) != 1)
			return false;
	return memcmp(&sel->src_lo, &sel->src_hi, sizeof(sel->src_lo)) <= 0 &&
	       memcmp(&sel->dst_lo, &sel->dst_hi, sizeof(sel->dst_lo)) <= 0;
}

/* What sscanf() lets pass, such as a sign, blanks or a number that is too large, is refused because the policy is
 * written as another line. */
static bool parse_line(const char *line, struct cygnet_policy_params *p)
{
	char dir[4], action[8], addr[4][INET6_ADDRSTRLEN], again[POLICY_LINE];
	struct cygnet_selector *sel = &p->sel;

	*p = (struct cygnet_policy_params){
		.rank = UINT32_MAX, /* of policies with equal priority those of charon apply */
		.proto = IPPROTO_ESP,
	};
	if (sscanf(line, "%3s %7s %10u %45[^-]-%45s %45[^-]-%45s %3hhu %5hu-%5hu %5hu-%5hu %8x",
		   dir, action, &p->priority, addr[0], addr[1], addr[2], addr[3], &sel->proto,
		   &sel->sport_lo, &sel->sport_hi, &sel->dport_lo, &sel->dport_hi,
		   &sel->interface) != 13)
		return false;
	while (p->dir < CYGNET_DIRS && strcmp(dir, policy_dir_text(p->dir)))
		p->dir++;
	p->action = strcmp(action, "protect") ? CYGNET_DISCARD : CYGNET_PROTECT;
	if (p->dir == CYGNET_DIRS || !parse_addrs(sel, addr) || sel->sport_lo > sel->sport_hi ||
	    sel->dport_lo > sel->dport_hi)
		return false;
	write_line(again, p);
	return strcmp(again, line) == 0;
}

static int parse_head(char **text, const char *sadb, char *why, size_t size)
{
	const char *line = strsep(text, "\n");

	if (!line || strcmp(line, HEADER)) {
		snprintf(why, size, "line 1: not \"" HEADER "\"");
		return -EINVAL;
	}
	line = strsep(text, "\n");
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

static int parse_policies(char *text, uint32_t most, struct policy_list *list, char *why,
			  size_t size)
{
	/* The part behind the last newline is empty. */
	for (char *line; (line = strsep(&text, "\n")) && (*line || text);) {
		if (list->n == most) {
			snprintf(why, size, "line %u: more than %u policies", list->n + 3, most);
			return -ENOSPC;
		}
		if (!text || !parse_line(line, &list->policy[list->n])) {
			snprintf(why, size, "line %u is wrong", list->n + 3);
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

int policy_list_parse(char *text, const char *sadb, uint32_t most, struct policy_list *list,
		      char *why, size_t size)
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
	p->sel.reserved = 0;
}

static int compare_selectors(const struct cygnet_policy_params *a,
			     const struct cygnet_policy_params *b)
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
	return policy->dir < CYGNET_DIRS && policy->action <= CYGNET_DISCARD &&
	       (policy->sel.af == AF_INET || policy->sel.af == AF_INET6) &&
	       cygnet_policy_may_be_held(policy->action, &policy->sel);
}

int policy_list_read(struct cygnet_db *db, struct policy_list *list)
{
	struct cygnet_policy policy;
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	/* Not calloc(): locked memory that is never touched costs nothing. */
	*list = (struct policy_list){reallocarray(NULL, info.geometry.policies,
						  sizeof(list->policy[0])),
				     0};
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
	char *text = NULL, line[POLICY_LINE];
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	fprintf(out, HEADER "\nsadb %s\n", sadb);
	for (uint32_t i = 0; i < list->n; i++) {
		write_line(line, &list->policy[i]);
		fprintf(out, "%s\n", line);
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
