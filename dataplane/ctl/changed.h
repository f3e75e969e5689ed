/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file changed.h
 * Events that cygnetctl watch finds by comparing the states of SAs, ports and crypto devices at two times.
 */
#ifndef CYGNETCTL_CHANGED_H
#define CYGNETCTL_CHANGED_H

#include <jansson.h>

#include "cygnet.h"

/** State of an SA at the last look. */
struct sa_seen {
	bool live;
	uint8_t proto, inbound;
	uint32_t generation;
	uint32_t spi, reqid; /* spi in network byte order */
	struct cygnet_path path;
};

/** The live SAs of the last look, by slot. Begin with {0}. */
struct sad_seen {
	uint32_t n;
	struct sa_seen *sa;
};

/**
 * Look at the SAD again and add an event to `events` for each SA that was added ("sa-add"), deleted
 * ("sa-delete") or got another path ("sa-update"). The first look adds none.
 * @return 0 or -ENOMEM
 */
int changed_sas(struct cygnet_db *db, struct sad_seen *seen, json_t *events);
void sad_seen_free(struct sad_seen *seen);
/**
 * Add an event for each row whose field has changed.
 * @param event   name of the event
 * @param id      field that identifies a row; the event has it and the fields `field` and `also` (may be NULL)
 */
void changed_rows(const json_t *before, const json_t *after, const char *event, const char *id,
		  const char *field, const char *also, json_t *events);

#endif
