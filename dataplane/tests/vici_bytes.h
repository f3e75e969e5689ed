/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file vici_bytes.h
 * Messages and packets of vici, for tests: as charon makes them, and damaged ones.
 */
#ifndef CYGNETD_TESTS_VICI_BYTES_H
#define CYGNETD_TESTS_VICI_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t data[4096];
	size_t len;
};

/** A type and a name, of an element or a packet. */
void put_name(struct bytes *bytes, unsigned int type, const char *name);
/** Elements of a message as text, ended by NULL: "name{", "}", "name[", "]", "=item" in a list, "key=value". */
void put_elements(struct bytes *bytes, const char *const *elements);
/** A packet's length, and the packet. */
void put_packet(struct bytes *bytes, const struct bytes *packet);
/** A packet of a type, such as 1 (response) or 5 (confirmation), with nothing in it. */
struct bytes packet_of(unsigned int type);
/** The answer to list-sas: an event "list-sa" with these elements, and the response. */
struct bytes list_of(const char *const *elements);

#endif
