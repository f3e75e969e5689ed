/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/changes.h"
#include "base/log.h"
#include "host/device.h"
#include "host/macvlan.h"

struct macvlans macvlans[CONF_MAX_INTERFACES];
static bool full_logged;
static bool refused; /* a macvlan got no place while some were quarantined */

/* @return place in macvlans[interface]; MACVLANS_MAX: it is not there */
static unsigned int place_of(unsigned int interface, uint32_t ifindex)
{
	unsigned int i = 0;

	while (i < MACVLANS_MAX && macvlans[interface].ifindex[i] != ifindex)
		i++;
	return i;
}

/* @return a place that is free and not quarantined; MACVLANS_MAX: there is none */
static unsigned int free_place(unsigned int interface)
{
	const struct macvlans *of = &macvlans[interface];
	unsigned int i = 0;

	while (i < MACVLANS_MAX && (of->ifindex[i] || of->quarantined[i]))
		i++;
	return i;
}

/* @return whether a place of a port is quarantined */
static bool any_quarantined(unsigned int interface)
{
	for (unsigned int i = 0; i < MACVLANS_MAX; i++)
		if (macvlans[interface].quarantined[i])
			return true;
	return false;
}

struct macvlan_link macvlan_find(uint32_t ifindex)
{
	int interface = interface_by_ifindex(ifindex);

	if (interface >= 0 || !ifindex)
		return (struct macvlan_link){interface, MACVLAN_NONE};
	for (unsigned int i = 0; i < ninterfaces; i++) {
		unsigned int place = place_of(i, ifindex);

		if (place < MACVLANS_MAX && !interfaces[i].removed)
			return (struct macvlan_link){(int)i, (uint8_t)(place + 1)};
	}
	return (struct macvlan_link){-1, MACVLAN_NONE};
}

uint32_t macvlan_ifindex(unsigned int interface, unsigned int macvlan)
{
	return macvlan == MACVLAN_NONE ? interfaces[interface].tap.ifindex
				       : macvlans[interface].ifindex[macvlan - 1];
}

static void store(unsigned int interface, unsigned int place, uint64_t mac)
{
	struct macvlans *of = &macvlans[interface];
	uint32_t used = MACVLANS_MAX;

	__atomic_store_n(&of->mac[place], mac, __ATOMIC_RELAXED);
	while (used && !of->mac[used - 1])
		used--;
	__atomic_store_n(&of->used, used, __ATOMIC_RELEASE);
	changes_note();
}

static void to_mac(uint64_t word, struct rte_ether_addr *mac)
{
	memcpy(mac, &word, sizeof(*mac));
}

static void log_mac(unsigned int interface, const struct rte_ether_addr *mac, bool takes)
{
	char text[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(text, sizeof(text), mac);
	log_port(RTE_LOG_INFO, interfaces[interface].name, "%s frames to %s, a macvlan's on %s",
		 takes ? "takes" : "no longer takes", text, interfaces[interface].tap.name);
}

static void remove_place(unsigned int interface, unsigned int place)
{
	struct macvlans *of = &macvlans[interface];
	struct rte_ether_addr mac;

	to_mac(of->mac[place], &mac);
	of->ifindex[place] = 0;
	of->quarantined[place] = true;
	store(interface, place, 0);
	/* The device of a removed port is closed. */
	if (interface >= ninterfaces || interfaces[interface].removed)
		return;
	if (interface_device(&interfaces[interface]))
		device_leave_mac(interface_device(&interfaces[interface]), &mac);
	log_mac(interface, &mac, false);
}

static void take(unsigned int interface, const struct rte_ether_addr *mac)
{
	struct device *device = interface_device(&interfaces[interface]);
	int err = device ? device_take_mac(device, mac) : 0;

	if (err)
		log_port(RTE_LOG_WARNING, interfaces[interface].name,
			 "its device may not receive frames to a macvlan on %s: %s",
			 interfaces[interface].tap.name, strerror(-err));
	log_mac(interface, mac, true);
}

void macvlans_take_again(unsigned int interface)
{
	const struct macvlans *of = &macvlans[interface];
	struct rte_ether_addr mac;

	for (unsigned int i = 0; i < of->used; i++) {
		to_mac(of->mac[i], &mac);
		if (of->mac[i])
			take(interface, &mac);
	}
}

void macvlans_leave(unsigned int interface, struct device *device)
{
	const struct macvlans *of = &macvlans[interface];
	struct rte_ether_addr mac;

	for (unsigned int i = 0; i < of->used; i++) {
		to_mac(of->mac[i], &mac);
		if (of->mac[i])
			device_leave_mac(device, &mac);
	}
}

bool macvlan_set(unsigned int interface, uint32_t ifindex, const struct rte_ether_addr *mac)
{
	struct macvlan_link old = macvlan_find(ifindex);
	struct macvlans *of = &macvlans[interface];
	uint64_t word = 0;
	unsigned int place;

	memcpy(&word, mac, sizeof(*mac));
	word |= MACVLAN_VALID;
	if (old.macvlan != MACVLAN_NONE && old.interface == (int)interface &&
	    of->mac[old.macvlan - 1] == word) {
		of->stale[old.macvlan - 1] = false;
		return false;
	}
	macvlan_forget(ifindex);
	place = free_place(interface);
	if (place == MACVLANS_MAX && any_quarantined(interface)) {
		refused = true;
		return true;
	}
	if (place == MACVLANS_MAX) {
		if (!full_logged)
			log_port(RTE_LOG_WARNING, interfaces[interface].name,
				 "more than %u macvlans on %s: frames to the others are dropped",
				 MACVLANS_MAX, interfaces[interface].tap.name);
		full_logged = true;
		return false;
	}
	of->ifindex[place] = ifindex;
	of->stale[place] = false;
	store(interface, place, word);
	take(interface, mac);
	return true;
}

bool macvlan_forget(uint32_t ifindex)
{
	bool was = false;

	for (unsigned int i = 0; i < CONF_MAX_INTERFACES && ifindex; i++) {
		unsigned int place = place_of(i, ifindex);

		if (place == MACVLANS_MAX)
			continue;
		remove_place(i, place);
		was = true;
	}
	return was;
}

void macvlans_mark(void)
{
	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++)
		memset(macvlans[i].stale, true, sizeof(macvlans[i].stale));
}

void macvlans_sweep(void)
{
	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++)
		for (unsigned int place = 0; place < MACVLANS_MAX; place++)
			if (macvlans[i].stale[place] && macvlans[i].ifindex[place])
				remove_place(i, place);
}

bool macvlans_end_quarantine(void)
{
	bool was = refused;

	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++)
		memset(macvlans[i].quarantined, false, sizeof(macvlans[i].quarantined));
	refused = false;
	return was;
}
