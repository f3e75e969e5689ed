/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "text.h"

struct findings {
	enum judgement worst;
	char text[HEALTH_UNKNOWN][1024]; /* by judgement */
};

static void __attribute__((format(printf, 3, 4)))
find(struct findings *findings, enum judgement judgement, const char *format, ...)
{
	char *text = findings->text[judgement];
	size_t used = strlen(text);
	va_list args;

	if (used)
		used += (size_t)snprintf(text + used, sizeof(findings->text[0]) - used, "; ");
	if (used < sizeof(findings->text[0])) {
		va_start(args, format);
		vsnprintf(text + used, sizeof(findings->text[0]) - used, format, args);
		va_end(args);
	}
	if (judgement > findings->worst)
		findings->worst = judgement;
}

static json_int_t number_of(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static bool has_turned(const struct answers *answers, size_t worker)
{
	return number_of(json_array_get(answers->stats_later, worker), "turns") !=
	       number_of(json_array_get(answers->stats, worker), "turns");
}

bool judge_workers_turn(const struct answers *answers)
{
	for (size_t i = 0; i < json_array_size(answers->stats); i++)
		if (!has_turned(answers, i))
			return false;
	return true;
}

static void judge_workers(struct findings *findings, const struct answers *answers)
{
	for (size_t i = 0; i < json_array_size(answers->stats); i++)
		if (!has_turned(answers, i))
			find(findings, HEALTH_CRITICAL, "worker %zu makes no progress", i);
}

/* A port without link or with its TAP down is a warning. No usable port is critical: tunnels do not count. */
static void judge_ports(struct findings *findings, const json_t *ports)
{
	size_t i, up = 0;
	json_t *port;

	json_array_foreach(ports, i, port) up += strcmp(text_of(port, "kind", "?"), "tunnel") &&
						 !strcmp(text_of(port, "link", "?"), "up") &&
						 !strcmp(text_of(port, "state", "?"), "up");
	if (!up)
		find(findings, HEALTH_CRITICAL, "no port is up");
	json_array_foreach(ports, i, port)
	{
		if (strcmp(text_of(port, "link", "?"), "up"))
			find(findings, HEALTH_WARNING, "port %s has no link",
			     text_of(port, "name", "?"));
		else if (strcmp(text_of(port, "state", "?"), "up"))
			find(findings, HEALTH_WARNING, "port %s: interface %s is down",
			     text_of(port, "name", "?"), text_of(port, "tap", "?"));
	}
}

static void judge_engines(struct findings *findings, const json_t *engines)
{
	json_t *engine;
	size_t i, up = 0;

	json_array_foreach(engines, i, engine) up += !strcmp(text_of(engine, "state", "?"), "up");
	if (!up)
		find(findings, HEALTH_CRITICAL, "no crypto device works");
	json_array_foreach(engines, i, engine) if (strcmp(text_of(engine, "state", "?"), "up"))
		find(findings, HEALTH_WARNING, "crypto device %s has failed",
		     text_of(engine, "device", "?"));
}

static void judge_capacity(struct findings *findings, const json_t *info, const char *what,
			   const char *used_key, const char *max_key)
{
	json_int_t used = number_of(info, used_key), max = number_of(info, max_key);

	if (max && used >= max)
		find(findings, HEALTH_CRITICAL, "the %s is full (%" JSON_INTEGER_FORMAT ")", what,
		     max);
	else if (max && used * 100 >= max * JUDGE_NEARLY_FULL)
		find(findings, HEALTH_WARNING,
		     "the %s has %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " entries",
		     what, used, max);
}

static void judge_charon(struct findings *findings, const json_t *info)
{
	bool long_gone = number_of(info, "charon_down_s") >= JUDGE_CHARON_DOWN_S;

	if (!number_of(info, "charon_pid"))
		find(findings, long_gone ? HEALTH_CRITICAL : HEALTH_WARNING,
		     "charon does not run, no SA is rekeyed");
}

enum judgement judge(const struct answers *answers, char *reason, size_t size)
{
	const json_t *info = json_array_get(answers->info, 0);
	struct findings findings = {0};

	judge_workers(&findings, answers);
	judge_ports(&findings, answers->ports);
	judge_engines(&findings, answers->engines);
	judge_capacity(&findings, info, "SAD", "sas", "sas_max");
	judge_capacity(&findings, info, "SPD", "policies", "policies_max");
	judge_charon(&findings, info);
	if (number_of(info, "policies_held"))
		find(&findings, HEALTH_WARNING,
		     "%" JSON_INTEGER_FORMAT " held policies drop packets: "
		     "charon has not installed its own yet",
		     number_of(info, "policies_held"));
	if (findings.worst == HEALTH_OK)
		snprintf(reason, size,
			 "cygnetd %s, %zu workers, %zu ports, %zu crypto devices, %" JSON_INTEGER_FORMAT
			 " SAs, %" JSON_INTEGER_FORMAT " policies",
			 text_of(info, "version", "?"), json_array_size(answers->stats),
			 json_array_size(answers->ports), json_array_size(answers->engines),
			 number_of(info, "sas"), number_of(info, "policies"));
	else
		snprintf(reason, size, "%s%s%s", findings.text[HEALTH_CRITICAL],
			 findings.text[HEALTH_CRITICAL][0] && findings.text[HEALTH_WARNING][0]
				 ? "; "
				 : "",
			 findings.text[HEALTH_WARNING]);
	return findings.worst;
}
