/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/state_file.h"
#include "crypto/auto/measured.h"
#include "crypto/device/engine.h"

#define FORMAT 4	  /* incremented when the meaning of measurements changes */
#define MOST   (1u << 20) /* bytes, twice the size with all devices and algorithms */
#define KEY    (ALGORITHM_NAME + 32)

struct measured measured[STATS_MAX_DEVICES][ALGORITHMS_MAX][LENGTH_CLASSES];
unsigned int measured_algorithms;

/* How the line of a result begins. @return its length */
static size_t key_of(unsigned int device, unsigned int algorithm, unsigned int length,
		     char key[KEY])
{
	char name[ALGORITHM_NAME];

	algorithm_name(algorithm, name);
	return (size_t)snprintf(key, KEY, "%u|%s|%u|", device, name, length_class_bytes[length]);
}

/* --- writing --- */

/* These lines are the same in a file that fits. */
static void write_head(FILE *out)
{
	fprintf(out, "cygnet engines %d %u\n", FORMAT, engine_devices);
	for (const struct engine_device *e = engine_device; e < engine_device + engine_devices; e++)
		fprintf(out, "device %s|%s|%s\n", e->name, e->driver, e->version);
}

static void write_results(FILE *out)
{
	char key[KEY];

	if (measured_algorithms < algorithm_count) {
		algorithm_name(measured_algorithms, key);
		fprintf(out, "next %s\n", key);
	}
	for (unsigned int d = 0; d < engine_devices; d++)
		for (unsigned int i = 0; i < algorithm_count * LENGTH_CLASSES; i++) {
			unsigned int a = i / LENGTH_CLASSES, l = i % LENGTH_CLASSES;
			const struct measured *m = &measured[d][a][l];

			if (!(m->gbps > 0))
				continue;
			key_of(d, a, l, key);
			fprintf(out, "%s%.6g|%.6g|%.6g\n", key, (double)m->latency_us,
				(double)m->gbps, (double)m->cost_ns);
		}
}

/* @return for free(), or NULL */
static char *make_text(bool with_results, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	write_head(out);
	if (with_results)
		write_results(out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

int measured_write(const char *path)
{
	size_t len;
	char *text = make_text(true, &len);
	int err = text ? state_file_write(path, text, len, 0644) : -ENOMEM;

	free(text);
	return err;
}

/* --- reading --- */

static bool is_plausible(const struct measured *m)
{
	return isfinite(m->latency_us) && m->latency_us > 0 && isfinite(m->gbps) && m->gbps > 0 &&
	       isfinite(m->cost_ns) && m->cost_ns > 0;
}

static bool read_result(const char *text, struct measured *m)
{
	int end = 0;

	return sscanf(text, "%f|%f|%f%n", &m->latency_us, &m->gbps, &m->cost_ns, &end) == 3 &&
	       !text[end] && is_plausible(m);
}

/* @return the line after that with the algorithm to continue with, or the line itself if all are measured */
static char *read_next(char *line, char **save)
{
	char name[ALGORITHM_NAME];

	measured_algorithms = algorithm_count;
	for (unsigned int a = 0; a < algorithm_count && line; a++) {
		algorithm_name(a, name);
		if (strncmp(line, "next ", 5) || strcmp(line + 5, name))
			continue;
		measured_algorithms = a;
		return strtok_r(NULL, "\n", save);
	}
	return line;
}

static int read_results(char *text)
{
	char *save, key[KEY], *line = read_next(strtok_r(text, "\n", &save), &save);

	/* Devices of which none serves any algorithm are measured again at each start. */
	if (!line && measured_algorithms == algorithm_count)
		return -EINVAL;
	for (unsigned int d = 0; d < engine_devices; d++)
		for (unsigned int i = 0; i < algorithm_count * LENGTH_CLASSES && line; i++) {
			unsigned int a = i / LENGTH_CLASSES, l = i % LENGTH_CLASSES;
			size_t len = key_of(d, a, l, key);

			if (strncmp(line, key, len))
				continue;
			if (!read_result(line + len, &measured[d][a][l]))
				return -EINVAL;
			line = strtok_r(NULL, "\n", &save);
		}
	return line ? -EINVAL : 0;
}

static int read_text(char *text)
{
	size_t len;
	char *head = make_text(false, &len);
	int err = !head ? -ENOMEM : strncmp(text, head, len) ? -ESTALE : read_results(text + len);

	free(head);
	return err;
}

int measured_read(const char *path)
{
	int err;
	char *text = state_file_read(path, MOST, &err);

	memset(measured, 0, sizeof(measured));
	measured_algorithms = 0;
	if (!text)
		return err;
	err = read_text(text);
	free(text);
	if (err) {
		memset(measured, 0, sizeof(measured));
		measured_algorithms = 0;
	}
	return err;
}
