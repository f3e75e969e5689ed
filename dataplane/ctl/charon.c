/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "charon.h"
#include "text.h"
#include "vici.h"

#define KEY_SIZE (16 + INET6_ADDRSTRLEN)

static void make_key(char key[KEY_SIZE], bool inbound, uint32_t spi, const char *dst)
{
	snprintf(key, KEY_SIZE, "%s%08x%s", inbound ? "in" : "out", spi, inbound ? "" : dst);
}

static json_t *number_of(const json_t *section, const char *key)
{
	return json_integer(strtol(text_of(section, key, ""), NULL, 10));
}

static int add_sa(json_t *index, json_t *child, bool inbound, const char *spi, const char *dst)
{
	char key[KEY_SIZE];

	if (!*spi)
		return 0;
	make_key(key, inbound, (uint32_t)strtoul(spi, NULL, 16), dst);
	return json_object_set(index, key, child);
}

/* @param ike  section of the IKE_SA, without its name */
static int add_child(json_t *index, const char *name, const json_t *ike, const json_t *section)
{
	json_t *child = json_pack("{s:s, s:s, s:o, s:o, s:s}", "ike", name, "child",
				  text_of(section, "name", ""), "ike_id",
				  number_of(ike, "uniqueid"), "child_id",
				  number_of(section, "uniqueid"), "remote_id",
				  text_of(ike, "remote-id", ""));
	int err = !child || add_sa(index, child, true, text_of(section, "spi-in", ""), "") ||
		  add_sa(index, child, false, text_of(section, "spi-out", ""),
			 text_of(ike, "remote-host", ""));

	json_decref(child);
	return err;
}

/* A message has one section, named as the connection, with the IKE_SA; its section child-sas has a section each. */
int charon_add(void *index, json_t *message)
{
	json_t *ike, *section;
	const char *name, *ignored;

	json_object_foreach(message, name, ike)
	{
		json_object_foreach(json_object_get(ike, "child-sas"), ignored, section)
		{
			if (add_child(index, name, ike, section))
				return -1;
		}
	}
	return 0;
}

json_t *charon_children(const char *socket, bool wait, char *error, size_t size)
{
	int fd = vici_connect(socket, error, size);
	json_t *index;

	if (fd < 0)
		return NULL;
	index = json_object();
	if (vici_list(fd, "list-sas", wait ? NULL : "noblock", "list-sa", charon_add, index, error,
		      size)) {
		json_decref(index);
		index = NULL;
	}
	close(fd);
	return index;
}

json_t *charon_child(const json_t *children, bool inbound, uint32_t spi, uint8_t af,
		     const struct cygnet_addr *dst)
{
	char key[KEY_SIZE], text[INET6_ADDRSTRLEN] = "";

	if (!children)
		return NULL;
	if (!inbound)
		inet_ntop(af, dst, text, sizeof(text));
	make_key(key, inbound, ntohl(spi), text);
	return json_object_get(children, key);
}
