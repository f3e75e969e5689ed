/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_pause.h>

#include "base/log.h"
#include "host/local_addr.h"

#define FAMILY 8     /* shift of the address family in a tag; the interface is below */
#define BITS   16    /* shift of the prefix length */
#define TRIES  1000u /* of a reader while the writer changes the table */

/* Whole words, so that each is read atomically. */
struct entry {
	uint64_t addr[2];
	uint64_t tag; /* family, interface and prefix length; 0: free */
};

/* A sequence lock. The only writer is the control thread, and count is odd while it writes. A reader
 * compares the count before and after. */
static struct entry entries[LOCAL_ADDRS_MAX];
static uint32_t count;
static bool stale[LOCAL_ADDRS_MAX]; /* control thread only */
static bool full_logged;

static struct entry entry_of(const struct local_addr *addr)
{
	return (struct entry){
		.addr = {addr->addr.words[0], addr->addr.words[1]},
		.tag = (uint64_t)addr->bits << BITS | (uint64_t)addr->af << FAMILY |
		       addr->interface,
	};
}

static struct entry load(const struct entry *from)
{
	return (struct entry){
		.addr = {__atomic_load_n(&from->addr[0], __ATOMIC_RELAXED),
			 __atomic_load_n(&from->addr[1], __ATOMIC_RELAXED)},
		.tag = __atomic_load_n(&from->tag, __ATOMIC_RELAXED),
	};
}

/* Read an entry consistently. After TRIES attempts the entry counts as free: the writer may have
 * been preempted in the middle of a change. */
static struct entry read_entry(unsigned int i)
{
	for (unsigned int try = 0; try < TRIES; try++) {
		uint32_t before = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
		struct entry found = load(&entries[i]);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(&count, __ATOMIC_RELAXED) == before)
			return found;
		rte_pause();
	}
	return (struct entry){0};
}

static void write_entry(unsigned int i, const struct entry *e)
{
	__atomic_store_n(&count, count + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&entries[i].addr[0], e->addr[0], __ATOMIC_RELAXED);
	__atomic_store_n(&entries[i].addr[1], e->addr[1], __ATOMIC_RELAXED);
	__atomic_store_n(&entries[i].tag, e->tag, __ATOMIC_RELAXED);
	__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
}

bool local_addr_next(unsigned int *cursor, struct local_addr *addr)
{
	while (*cursor < LOCAL_ADDRS_MAX) {
		struct entry e = read_entry((*cursor)++);

		if (!e.tag)
			continue;
		*addr = (struct local_addr){
			.addr.words = {e.addr[0], e.addr[1]},
			.af = (uint8_t)(e.tag >> FAMILY),
			.interface = (uint8_t)e.tag,
			.bits = (uint8_t)(e.tag >> BITS),
		};
		return true;
	}
	return false;
}

struct cygnet_addr local_addr_of(uint8_t af, unsigned int interface)
{
	struct local_addr own;

	for (unsigned int i = 0; local_addr_next(&i, &own);)
		if (own.af == af && own.interface == interface)
			return own.addr;
	return (struct cygnet_addr){0};
}

bool local_addr_is_of(uint8_t af, unsigned int interface, const struct cygnet_addr *addr)
{
	struct local_addr own;

	for (unsigned int i = 0; local_addr_next(&i, &own);)
		if (own.af == af && own.interface == interface &&
		    !memcmp(&own.addr, addr, sizeof(*addr)))
			return true;
	return false;
}

/* Whether two addresses have the same first bits. */
static bool same_prefix(const struct cygnet_addr *a, const struct cygnet_addr *b, unsigned int bits)
{
	unsigned int whole = bits / 8, rest = bits % 8;

	if (memcmp(a, b, whole))
		return false;
	return !rest || !((a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest));
}

bool local_addr_attaches(uint8_t af, unsigned int interface, const struct cygnet_addr *lo,
			 const struct cygnet_addr *hi)
{
	struct local_addr own;

	for (unsigned int i = 0; local_addr_next(&i, &own);)
		if (own.af == af && own.interface == interface && own.bits &&
		    same_prefix(&own.addr, lo, own.bits) && same_prefix(&own.addr, hi, own.bits))
			return true;
	return false;
}

/* @return index of an entry; LOCAL_ADDRS_MAX: not found */
static unsigned int find(const struct entry *e)
{
	unsigned int i;

	for (i = 0; i < LOCAL_ADDRS_MAX; i++)
		if (entries[i].tag == e->tag && entries[i].addr[0] == e->addr[0] &&
		    entries[i].addr[1] == e->addr[1])
			break;
	return i;
}

void local_addr_add(const struct local_addr *addr)
{
	static const struct entry none;
	struct entry e = entry_of(addr);
	unsigned int i = find(&e);

	if (i == LOCAL_ADDRS_MAX) {
		/* Append, to keep the kernel's order of addresses. */
		for (i = LOCAL_ADDRS_MAX; i && !entries[i - 1].tag;)
			i--;
		if (i == LOCAL_ADDRS_MAX)
			i = find(&none);
	}
	if (i < LOCAL_ADDRS_MAX) {
		write_entry(i, &e);
		stale[i] = false;
	} else if (!full_logged) {
		full_logged = true;
		log_warn("more than %u addresses of this host: ICMP errors come from none of the others",
			 LOCAL_ADDRS_MAX);
	}
}

void local_addr_forget(const struct local_addr *addr)
{
	static const struct entry none;
	struct entry e = entry_of(addr);
	unsigned int i = find(&e);

	if (i < LOCAL_ADDRS_MAX)
		write_entry(i, &none);
}

void local_addrs_mark(void)
{
	for (unsigned int i = 0; i < LOCAL_ADDRS_MAX; i++)
		stale[i] = true;
}

void local_addrs_sweep(void)
{
	static const struct entry none;

	for (unsigned int i = 0; i < LOCAL_ADDRS_MAX; i++)
		if (stale[i] && entries[i].tag)
			write_entry(i, &none);
}
