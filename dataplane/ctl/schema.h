/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file schema.h
 * JSON Schemas (draft 2020-12) of what the commands print with --json. Fields may be added, as the schemas allow.
 */
#ifndef CYGNETCTL_SCHEMA_H
#define CYGNETCTL_SCHEMA_H

#include <jansson.h>

/** Names of all schemas, ended by NULL: of a thing of `show`, of a command, or "error". */
const char *const *schema_names(void);
/** @return NULL: there is none of this name, or no memory */
json_t *schema_make(const char *name);

#endif
