/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file doctor.h
 * Checks of a gateway and its host: each adds rows to a diagnosis, that all is well or what to do.
 */
#ifndef CYGNETCTL_DOCTOR_H
#define CYGNETCTL_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

#include "conf/conf.h"
#include "cygnet.h"

struct diagnosis {
	const char *root;	 /* "", or a folder that stands for "/": of /proc and /sys */
	const struct conf *conf; /* NULL: it cannot be read */
	struct cygnet_db *db;	 /* the shared file; NULL: it cannot be opened */
	int db_errno;		 /* of options_sadb() then, and the reason in words */
	const char *db_error;
	json_t *rows;
};

/** What a check has found. */
enum finding {
	FOUND_WELL,
	FOUND_PROBLEM,
	FOUND_NOTHING, /* it cannot be checked */
};

/**
 * Add a row: "check", "state" ("ok", "problem", "unknown"), "text" and "todo" (null if there is nothing to do).
 * @param todo    what to do; NULL: nothing
 * @param format  what was found
 */
void diagnosis_add(struct diagnosis *d, const char *check, enum finding finding, const char *todo,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Of the host. */
/** Enough for a cygnetd, or, while one serves, for another one that takes over from it.
 * @param pid  of the cygnetd that serves; 0: none does */
void doctor_huge_pages(struct diagnosis *d, int pid);
/** Each port's device, its driver, and the IOMMU that vfio-pci needs. */
void doctor_devices(struct diagnosis *d);
void doctor_clock(struct diagnosis *d);
/** Settings of forwarding, as cygnetd follows them, and the governor. @param ports  rows of cygnetd; NULL: it does not answer */
void doctor_kernel(struct diagnosis *d, const json_t *ports);
void doctor_numa(struct diagnosis *d);

/* Of the gateway. @param info, ports  rows of cygnetd; NULL: it does not answer */
void doctor_links(struct diagnosis *d, const json_t *ports);
/** The shared file, and who serves it. */
void doctor_role(struct diagnosis *d, const json_t *info);
/** @param stats  charon's answer to the command of that name; NULL: none */
void doctor_plugin(struct diagnosis *d, const json_t *stats);
/** The MTU of the ports against what the path to each peer carries. */
void doctor_mtu(struct diagnosis *d, const json_t *ports);

#endif
