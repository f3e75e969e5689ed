/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_prefetch.h>

#include "host/vlan.h"

#define TYPE_AT	     (2 * RTE_ETHER_ADDR_LEN)
#define NO_INTERFACE UINT8_MAX
#define ID(tci)	     ((tci)&0xfffu)

/* The VLANs of a device. Workers read while the control thread changes an entry. */
static struct map {
	uint8_t by_id[1u << CONF_VLAN_BITS]; /* of frames with one tag; NO_INTERFACE: none */
	struct {
		uint32_t ids; /* as conf_port.vlan; 0: none */
		uint8_t interface;
	} stacked[CONF_MAX_INTERFACES]; /* of frames with two */
	unsigned int nstacked;		/* entries that have been used */
} maps[CONF_MAX_DEVICES];

uint16_t vlans_on[CONF_MAX_DEVICES];

static void put_word(uint8_t *at, unsigned int value)
{
	const rte_be16_t word = rte_cpu_to_be_16((uint16_t)value);

	memcpy(at, &word, sizeof(word));
}

/* --- frames that come in --- */

/* Put a tag back that the device has taken out though it was not asked to. A frame that stays without is dropped later.
 * @return false: it stays without */
static bool put_back(struct rte_mbuf *m)
{
	uint8_t *frame;

	if (m->ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED)
		return false;
	frame = (uint8_t *)rte_pktmbuf_prepend(m, VLAN_TAG);
	if (!frame)
		return false;
	memmove(frame, frame + VLAN_TAG, TYPE_AT);
	put_word(frame + TYPE_AT, RTE_ETHER_TYPE_VLAN);
	put_word(frame + TYPE_AT + 2, m->vlan_tci);
	m->ol_flags &= ~(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
	return true;
}

/* @param ids  0: of two priority tags, which are no VLAN, and those of a place that is free */
static uint8_t find_stacked(const struct map *map, unsigned int n, uint32_t ids)
{
	for (unsigned int i = 0; ids && i < n; i++)
		if (__atomic_load_n(&map->stacked[i].ids, __ATOMIC_ACQUIRE) == ids)
			return map->stacked[i].interface;
	return NO_INTERFACE;
}

static uint8_t find_interface(const struct map *map, struct rte_mbuf *m)
{
	unsigned int nstacked = __atomic_load_n(&map->nstacked, __ATOMIC_ACQUIRE);
	uint8_t found = NO_INTERFACE;
	const uint8_t *tag;
	uint32_t id;

	if (unlikely(m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) && !put_back(m))
		return NO_INTERFACE;
	tag = rte_pktmbuf_mtod_offset(m, const uint8_t *, TYPE_AT);
	if (rte_pktmbuf_data_len(m) < RTE_ETHER_HDR_LEN + VLAN_TAG || !vlan_is_tag(vlan_word(tag)))
		return NO_INTERFACE;
	id = ID(vlan_word(tag + 2));
	if (nstacked && rte_pktmbuf_data_len(m) >= RTE_ETHER_HDR_LEN + VLAN_TAGS_MAX &&
	    vlan_is_tag(vlan_word(tag + VLAN_TAG)))
		found = find_stacked(map, nstacked,
				     id << CONF_VLAN_BITS | ID(vlan_word(tag + VLAN_TAG + 2)));
	return found != NO_INTERFACE ? found : __atomic_load_n(&map->by_id[id], __ATOMIC_ACQUIRE);
}

/* Bring the frames behind the first one that have its interface to it. @return how many there are with it */
static unsigned int gather(struct rte_mbuf **m, unsigned int n)
{
	unsigned int together = 1;

	for (unsigned int i = 1; i < n; i++) {
		struct rte_mbuf *found = m[i];

		if (found->port != m[0]->port)
			continue;
		memmove(m + together + 1, m + together, (i - together) * sizeof(*m));
		m[together++] = found;
	}
	return together;
}

bool vlan_sort(unsigned int device, struct rte_mbuf **m, unsigned int n, unsigned int *interface)
{
	const struct map *map = &maps[device];
	const uint16_t untagged = (uint16_t)*interface;
	bool same = true;

	for (unsigned int i = 0; i < n; i++) {
		uint8_t found = find_interface(map, m[i]);

		m[i]->port = found == NO_INTERFACE ? untagged : found;
		same &= m[i]->port == m[0]->port;
	}
	*interface = m[0]->port;
	for (unsigned int from = 0; !same && from < n; from += gather(m + from, n - from))
		;
	return same;
}

/* --- the control thread's --- */

/* @return bytes */
static uint8_t put_tag(uint8_t *at, unsigned int type, unsigned int id)
{
	put_word(at, type);
	put_word(at + 2, id);
	return VLAN_TAG;
}

struct vlan_tags vlan_tags_of(const struct conf_port *section)
{
	struct vlan_tags tags = {.ids = section->vlan};
	const unsigned int outer = tags.ids >> CONF_VLAN_BITS;
	bool provider = section->vlan_type == CONF_VLAN_8021AD ||
			(section->vlan_type == CONF_VLAN_AUTO && outer);

	if (outer)
		tags.len = put_tag(tags.bytes, RTE_ETHER_TYPE_VLAN, outer);
	if (tags.ids)
		tags.len += put_tag(tags.bytes + tags.len, RTE_ETHER_TYPE_VLAN, ID(tags.ids));
	if (tags.len && provider)
		put_word(tags.bytes, RTE_ETHER_TYPE_QINQ);
	return tags;
}

unsigned int vlan_beyond(const struct vlan_tags *tags)
{
	if (!tags->len)
		return 0;
	return vlan_word(tags->bytes) == RTE_ETHER_TYPE_VLAN ? tags->len - VLAN_TAG : tags->len;
}

static bool is_stacked(uint32_t ids)
{
	return ids >> CONF_VLAN_BITS;
}

static void set_stacked(struct map *map, uint32_t ids, unsigned int interface)
{
	unsigned int i = 0;

	/* Nobody asks for a place that is free: the interface that had it has been removed, and workers have been waited for. */
	while (i < map->nstacked && map->stacked[i].ids)
		i++;
	if (i == RTE_DIM(map->stacked))
		return;
	map->stacked[i].interface = (uint8_t)interface;
	__atomic_store_n(&map->stacked[i].ids, ids, __ATOMIC_RELEASE);
	if (i == map->nstacked)
		__atomic_store_n(&map->nstacked, i + 1, __ATOMIC_RELEASE);
}

void vlan_add(unsigned int device, uint32_t ids, unsigned int interface)
{
	struct map *map = &maps[device];

	if (is_stacked(ids))
		set_stacked(map, ids, interface);
	else
		__atomic_store_n(&map->by_id[ids], (uint8_t)interface, __ATOMIC_RELEASE);
	__atomic_fetch_add(&vlans_on[device], 1, __ATOMIC_RELEASE);
}

void vlan_remove(unsigned int device, uint32_t ids)
{
	struct map *map = &maps[device];

	for (unsigned int i = 0; is_stacked(ids) && i < map->nstacked; i++)
		if (map->stacked[i].ids == ids)
			__atomic_store_n(&map->stacked[i].ids, 0, __ATOMIC_RELEASE);
	if (!is_stacked(ids))
		__atomic_store_n(&map->by_id[ids], NO_INTERFACE, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&vlans_on[device], 1, __ATOMIC_RELEASE);
}

void vlans_reset(unsigned int device)
{
	struct map *map = &maps[device];

	memset(map->by_id, NO_INTERFACE, sizeof(map->by_id));
	memset(map->stacked, 0, sizeof(map->stacked));
	map->nstacked = 0;
	vlans_on[device] = 0;
}
