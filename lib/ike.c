/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The UDP ports that charon has registered for IKE. A port and its flags are one word of the file.
 * So a reader never sees half of an update, and a writer that dies leaves nothing to repair.
 */
#include <errno.h>

#include "ike.h"
#include "lock.h"

#define PORT   0xffffu
#define PLAIN4 (1u << 16)
#define PLAIN6 (1u << 17)
#define ENCAP4 (1u << 18)
#define ENCAP6 (1u << 19)
#define ALL    (PORT | PLAIN4 | PLAIN6 | ENCAP4 | ENCAP6)

#define IKE	 500u
#define IKE_NATT 4500u

static uint32_t plain(uint8_t af)
{
	return af == AF_INET6 ? PLAIN6 : PLAIN4;
}

static uint32_t encap(uint8_t af)
{
	return af == AF_INET6 ? ENCAP6 : ENCAP4;
}

/* The use of a port while none is registered (RFC 7296, 2.23; RFC 3948, 2). */
static enum cygnet_ike default_use(uint16_t port)
{
	return port == IKE_NATT ? CYGNET_IKE_ENCAP
	       : port == IKE	? CYGNET_IKE_PLAIN
				: CYGNET_IKE_NONE;
}

/* Whether cygnet_ike_open() can have written a word: 0 and damaged words are not valid. */
static bool word_valid(uint32_t word)
{
	uint32_t port = word & PORT;

	return port && !(word & ~ALL) && word & (PLAIN4 | PLAIN6) &&
	       (word & PLAIN4 || !(word & ENCAP4)) && (word & PLAIN6 || !(word & ENCAP6)) &&
	       (port != IKE || !(word & (ENCAP4 | ENCAP6)));
}

/* Damaged words do not count as registered, so that they do not disable 500 and 4500. */
static bool any_registered(const struct header *h)
{
	for (unsigned int i = 0; i < CYGNET_IKE_PORTS; i++)
		if (word_valid(load_relaxed(&h->ike_port[i])))
			return true;
	return false;
}

EXPORT enum cygnet_ike cygnet_ike_port(const struct cygnet_db *db, uint8_t af, uint16_t port)
{
	const struct header *h = db->header;

	/* Called per packet: look for a registered port first. */
	for (unsigned int i = 0; i < CYGNET_IKE_PORTS; i++) {
		uint32_t word = load_relaxed(&h->ike_port[i]);

		if ((word & (PORT | plain(af))) == (port | plain(af)) && word_valid(word))
			return word & encap(af) ? CYGNET_IKE_ENCAP : CYGNET_IKE_PLAIN;
	}
	if (default_use(port) == CYGNET_IKE_NONE || any_registered(h))
		return CYGNET_IKE_NONE;
	return default_use(port);
}

EXPORT bool cygnet_ike_exempt(const struct cygnet_db *db, uint8_t af, uint16_t port, bool charon)
{
	return (charon ? cygnet_ike_port(db, af, port) : default_use(port)) != CYGNET_IKE_NONE;
}

/* Insert a port into an ascending list unless it is there.
 * @param n  number of ports in the list. @return number of ports now */
static unsigned int insert(uint16_t *ports, unsigned int n, uint16_t port)
{
	unsigned int index = n;

	for (unsigned int i = 0; i < n; i++)
		if (ports[i] == port)
			return n;
	for (; index && ports[index - 1] > port; index--)
		ports[index] = ports[index - 1];
	ports[index] = port;
	return n + 1;
}

EXPORT unsigned int cygnet_ike_ports(const struct cygnet_db *db,
				     uint16_t ports[CYGNET_IKE_PORTS + 2])
{
	unsigned int n = insert(ports, insert(ports, 0, IKE), IKE_NATT);

	for (unsigned int i = 0; i < CYGNET_IKE_PORTS; i++) {
		uint32_t word = load_relaxed(&db->header->ike_port[i]);

		if (word_valid(word))
			n = insert(ports, n, (uint16_t)(word & PORT));
	}
	return n;
}

static int open_locked(struct header *h, uint16_t port, uint32_t flags)
{
	uint32_t *room = NULL, *word;

	for (word = h->ike_port; word < h->ike_port + CYGNET_IKE_PORTS; word++) {
		uint32_t now = load_relaxed(word);

		if (!word_valid(now)) {
			room = room ? room : word;
		} else if ((now & PORT) == port) {
			store_relaxed(word, now | flags);
			return 0;
		}
	}
	if (!room)
		return -ENOSPC;
	store_relaxed(room, port | flags);
	return 0;
}

EXPORT int cygnet_ike_open(struct cygnet_db *db, uint8_t af, uint16_t port, bool natt)
{
	int err;

	/* On port 500 IKE packets have no non-ESP marker, so ESP could not be told from IKE
	 * (RFC 7296, 2.23). */
	if ((af != AF_INET && af != AF_INET6) || !port || (natt && port == IKE))
		return -EINVAL;
	lock_take(db);
	err = open_locked(db->header, port, plain(af) | (natt ? encap(af) : 0));
	lock_release(db);
	return err;
}

void ike_forget(struct header *h)
{
	for (unsigned int i = 0; i < CYGNET_IKE_PORTS; i++)
		store_relaxed(&h->ike_port[i], 0);
}

bool ike_valid(const struct header *h)
{
	for (unsigned int i = 0; i < CYGNET_IKE_PORTS; i++) {
		uint32_t word = load_relaxed(&h->ike_port[i]);

		if (!word)
			continue;
		if (!word_valid(word))
			return false;
		for (unsigned int j = 0; j < i; j++)
			if ((load_relaxed(&h->ike_port[j]) & PORT) == (word & PORT))
				return false;
	}
	return true;
}
