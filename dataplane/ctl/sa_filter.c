/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "sa_filter.h"
#include "words.h"

const char *const sa_filter_keywords[] = {"peer", "spi", "reqid", "name", NULL};

static bool parse_address(struct sa_filter *filter, const char *text)
{
	filter->af = strchr(text, ':') ? AF_INET6 : AF_INET;
	return inet_pton(filter->af, text, filter->peer.bytes) == 1;
}

static bool parse_number(const char *text, int base, uint32_t *number)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, base);
	*number = (uint32_t)value;
	return !errno && end != text && !*end && *text != '-' && value && value <= UINT32_MAX;
}

/* An SPI is hexadecimal, with or without 0x, as charon and cygnetctl print it. */
static bool parse_pair(struct sa_filter *filter, const char *keyword, const char *value)
{
	if (!strcmp(keyword, "peer"))
		return parse_address(filter, value);
	if (!strcmp(keyword, "reqid"))
		return parse_number(value, 10, &filter->reqid);
	if (!strcmp(keyword, "spi")) {
		if (!parse_number(value, 16, &filter->spi))
			return false;
		filter->spi = htonl(filter->spi);
		return true;
	}
	filter->name = value;
	return true;
}

int sa_filter_parse(struct sa_filter *filter, const struct options *options, int argc, char **argv)
{
	*filter = (struct sa_filter){0};
	for (int i = 0; i < argc; i += 2) {
		if (!words_have(sa_filter_keywords, argv[i]))
			return report_word(options, "filter", argv[i], sa_filter_keywords);
		if (i + 1 == argc)
			return report_error(options, 2, "%s: no value", argv[i]);
		if (!parse_pair(filter, argv[i], argv[i + 1]))
			return report_error(options, 2, "%s: cannot be %s", argv[i], argv[i + 1]);
	}
	return 0;
}

bool sa_filter_takes(const struct sa_filter *filter, const struct cygnet_sa *sa)
{
	if (filter->reqid && filter->reqid != sa->reqid)
		return false;
	return !filter->af || (cygnet_sa_path(sa)->af == filter->af &&
			       !memcmp(sa_peer(sa), &filter->peer, sizeof(filter->peer)));
}

bool sa_filter_takes_name(const struct sa_filter *filter, const char *ike, const char *child)
{
	return !filter->name || (ike && !strcmp(ike, filter->name)) ||
	       (child && !strcmp(child, filter->name));
}
