/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/state_file.h"
#include "crypto/auto/measured.h"
#include "crypto/auto/measured_file.h"
#include "crypto/device/engine.h"

#define HEADER "cygnet engines 3" /* the number is incremented when the meaning of measurements changes */
#define SIZE_MAX_BYTES (1u << 20) /* twice the size with all devices and algorithms */
#define LINE_BYTES 1024u

static void device_line(unsigned int device, char *line)
{
	const struct engine_device *e = &engine_device[device];

	snprintf(line, LINE_BYTES, "device %s|%s|%s", e->name, e->driver, e->version);
}

/* --- reading --- */

static bool find_algorithm(const char *name, unsigned int *algorithm)
{
	for (unsigned int a = 0; a < algorithm_count; a++) {
		char known[ALGORITHM_NAME];

		algorithm_name(a, known);
		*algorithm = a;
		if (strcmp(known, name) == 0)
			return true;
	}
	return false;
}

static bool find_length(unsigned int bytes, unsigned int *length)
{
	for (unsigned int l = 0; l < LENGTH_CLASSES; l++) {
		*length = l;
		if (length_class_bytes[l] == bytes)
			return true;
	}
	return false;
}

static bool plausible(const struct measured *m)
{
	bool good = isfinite(m->latency_us) && m->latency_us > 0 && isfinite(m->cost_ns) &&
		    m->cost_ns > 0 && m->gbps[0] > 0;

	for (unsigned int i = 0; i < MEASURED_STEPS; i++)
		good &= isfinite(m->gbps[i]) && m->gbps[i] >= 0;
	return good;
}

static bool read_result(const char *line)
{
	unsigned int device, bytes, algorithm, length;
	char name[ALGORITHM_NAME];
	struct measured m;
	int end = -1;

	if (sscanf(line, "%2u|%47[^|]|%4u|%f|%f,%f,%f|%f%n", &device, name, &bytes, &m.latency_us,
		   &m.gbps[0], &m.gbps[1], &m.gbps[2], &m.cost_ns, &end) != 8 || line[end])
		return false;
	if (device >= engine_devices || !find_algorithm(name, &algorithm) ||
	    !find_length(bytes, &length) || !plausible(&m))
		return false;
	measured[device][algorithm][length] = m;
	return true;
}

static int read_text(char *text, char *why, size_t size)
{
	char *save, *line, want[LINE_BYTES];

	snprintf(why, size, "damaged");
	line = strtok_r(text, "\n", &save);
	if (!line || strcmp(line, HEADER))
		return -EINVAL;
	line = strtok_r(NULL, "\n", &save);
	for (unsigned int d = 0; d < engine_devices; d++) {
		device_line(d, want);
		if (!line || strcmp(line, want)) {
			snprintf(why, size, "of other devices or versions");
			return -ESTALE;
		}
		line = strtok_r(NULL, "\n", &save);
	}
	if (line && strncmp(line, "device ", 7) == 0) {
		snprintf(why, size, "of more devices");
		return -ESTALE;
	}
	measured_algorithms = algorithm_count;
	if (line && strncmp(line, "next ", 5) == 0) {
		if (!find_algorithm(line + 5, &measured_algorithms))
			return -EINVAL;
		line = strtok_r(NULL, "\n", &save);
	}
	for (; line; line = strtok_r(NULL, "\n", &save))
		if (!read_result(line))
			return -EINVAL;
	return 0;
}

static void forget(void)
{
	memset(measured, 0, sizeof(measured));
	measured_algorithms = 0;
}

int measured_read(const char *path, char *why, size_t size)
{
	int err;
	char *text = state_file_read(path, SIZE_MAX_BYTES, &err);

	forget();
	if (!text) {
		snprintf(why, size, "%s", err == -EINVAL ? "damaged" : strerror(-err));
		return err;
	}
	err = read_text(text, why, size);
	free(text);
	if (err)
		forget();
	return err;
}

/* --- writing --- */

static void write_results(FILE *out, unsigned int device)
{
	for (unsigned int a = 0; a < algorithm_count; a++) {
		char name[ALGORITHM_NAME];

		algorithm_name(a, name);
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++) {
			const struct measured *m = &measured[device][a][l];

			if (m->gbps[0] > 0)
				fprintf(out, "%u|%s|%u|%.3f|%.4f,%.4f,%.4f|%.1f\n", device, name,
					length_class_bytes[l], (double)m->latency_us,
					(double)m->gbps[0], (double)m->gbps[1], (double)m->gbps[2],
					(double)m->cost_ns);
		}
	}
}

static char *make_text(size_t *len)
{
	char *text = NULL, line[LINE_BYTES];
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	fprintf(out, "%s\n", HEADER);
	for (unsigned int d = 0; d < engine_devices; d++) {
		device_line(d, line);
		fprintf(out, "%s\n", line);
	}
	if (measured_algorithms < algorithm_count) {
		algorithm_name(measured_algorithms, line);
		fprintf(out, "next %s\n", line);
	}
	for (unsigned int d = 0; d < engine_devices; d++)
		write_results(out, d);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

int measured_write(const char *path)
{
	size_t len;
	char *text = make_text(&len);
	int err = text ? state_file_write(path, text, len, 0644) : -ENOMEM;

	free(text);
	return err;
}
