/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file metrics.h
 * The metrics of a cygnetd, from its answers on the telemetry socket.
 */
#ifndef CYGNET_EXPORTER_METRICS_H
#define CYGNET_EXPORTER_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

struct metrics {
	struct options options; /* whom to ask; without vici, charon is not asked */
	unsigned int sas;	/* SAs that have metrics of their own, at most; 0: none */
	unsigned int tunnels;	/* tunnels that have metrics of their own, at most; 0: none */
	unsigned int policies;	/* the same of policies that have had packets */
	bool stages;		/* have the workers count stages */
};

/**
 * Ask cygnetd for everything and write it as text. If cygnetd does not answer, the text says that, and
 * what is not cygnetd's. A table for which it has no memory is left out. Both count as a scrape error, and standard error
 * says why, once.
 * @param[out] length  of the text, bytes
 * @return the text, to be freed; NULL: no memory
 */
char *metrics_text(const struct metrics *metrics, bool openmetrics, size_t *length);
/** Ask for the stages, so that the workers go on counting them. */
void metrics_keep_stages(const struct metrics *metrics);

/** Workers stop counting stages some seconds after the last request; ask this often, ms. */
#define METRICS_STAGES_MS 2000u

#endif
