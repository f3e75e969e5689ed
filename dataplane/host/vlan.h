/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file vlan.h
 * VLANs on devices (IEEE 802.1Q): which interface a tagged frame comes in by. Tags are read and
 * written here and in link.h, never by the device, whose filter of VLANs stays off.
 */
#ifndef CYGNETD_VLAN_H
#define CYGNETD_VLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "conf/conf.h"

/** Bytes of a tag, and of those of an interface at most. */
#define VLAN_TAG      4u
#define VLAN_TAGS_MAX (2 * VLAN_TAG)
/** Type of an outer tag before IEEE 802.1ad. */
#define VLAN_TYPE_OLD 0x9100

/** The tags of an interface, as they stand between MAC addresses and EtherType. */
struct vlan_tags {
	uint32_t ids; /* as conf_port.vlan, by which frames that come in are told apart; 0: none */
	uint8_t len;  /* bytes */
	uint8_t bytes[VLAN_TAGS_MAX];
};

/** A word of a frame. */
static inline uint16_t vlan_word(const uint8_t *at)
{
	rte_be16_t word;

	memcpy(&word, at, sizeof(word));
	return rte_be_to_cpu_16(word);
}

/** Whether a tag stands where an EtherType could. Its type does not tell VLANs apart: drivers do not always pass it on. */
static inline bool vlan_is_tag(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ || type == VLAN_TYPE_OLD;
}

/** How many VLANs there are on each device; atomic. */
extern uint16_t vlans_on[CONF_MAX_DEVICES];

/**
 * Find out which interfaces the frames of a burst have come in by, from their tags: mbuf.port receives it. Those of an
 * interface come together, in their order. Lcores.
 * @param device     index in devices[]
 * @param interface  of frames without a tag, and of those with tags that no interface has; receives that of the first frame
 * @return whether all have come in by the same one
 */
bool vlan_sort(unsigned int device, struct rte_mbuf **m, unsigned int n, unsigned int *interface);

/* ------------------------------------------------ control thread only -- */

/** The tags of a section. */
struct vlan_tags vlan_tags_of(const struct conf_port *section);
/** How many bytes of an interface's tags are more than what a link of some MTU takes besides: cards and Linux take one tag of
 * 802.1Q. */
unsigned int vlan_beyond(const struct vlan_tags *tags);
/** Frames with these IDs (vlan_tags.ids) come in by an interface from now on. */
void vlan_add(unsigned int device, uint32_t ids, unsigned int interface);
/** No frames do any more; those of a burst that is being processed may. */
void vlan_remove(unsigned int device, uint32_t ids);
/** A device that is about to be started has no VLANs. */
void vlans_reset(unsigned int device);

#endif
