/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_string_fns.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "host/interface.h"
#include "host/mtu.h"
#include "host/netdev.h"
#include "host/route.h"
#include "host/side.h"

struct interface interfaces[CONF_MAX_INTERFACES];
unsigned int ninterfaces;
unsigned int interfaces_count;
unsigned int interfaces_tunnels;
bool interfaces_forward6;

/* The interface ID of each tunnel that is there, by its index in interfaces[]: for lookups in few cache lines. */
static uint32_t if_ids[CONF_MAX_INTERFACES];

int interface_by_ifindex(uint32_t ifindex)
{
	for (unsigned int i = 0; i < ninterfaces; i++)
		if (!interfaces[i].removed && interfaces[i].tap.ifindex == ifindex)
			return (int)i;
	return -1;
}

int interface_by_if_id(uint32_t if_id)
{
	const unsigned int n = __atomic_load_n(&ninterfaces, __ATOMIC_ACQUIRE);

	for (unsigned int i = 0; if_id && i < n; i++)
		if (__atomic_load_n(&if_ids[i], __ATOMIC_ACQUIRE) == if_id)
			return (int)i;
	return -1;
}

struct interface *interface_named(const char *name)
{
	for (unsigned int i = 0; i < ninterfaces; i++)
		if (!interfaces[i].removed && strcmp(interfaces[i].name, name) == 0)
			return &interfaces[i];
	return NULL;
}

bool interface_is_on(const struct interface *vlan, const struct interface *port)
{
	return vlan->kind == INTERFACE_VLAN && &interfaces[vlan->port] == port && !vlan->removed;
}

/* The largest MTU of a VLAN on a port of some MTU. */
static uint16_t mtu_behind(const struct vlan_tags *tags, uint32_t mtu)
{
	return (uint16_t)(mtu - RTE_MIN(mtu, vlan_beyond(tags)));
}

uint16_t interface_mtu_on(const struct interface *vlan)
{
	return mtu_behind(&vlan->tags, interfaces[vlan->port].mtu);
}

/* As Linux does. A smaller MTU of a VLAN stays when its port's grows again. */
static void shrink_vlans(const struct interface *port, uint32_t mtu)
{
	for (unsigned int i = 0; i < ninterfaces; i++) {
		struct interface *vlan = &interfaces[i];

		if (!interface_is_on(vlan, port) || vlan->mtu <= mtu_behind(&vlan->tags, mtu))
			continue;
		__atomic_store_n(&vlan->mtu, mtu_behind(&vlan->tags, mtu), __ATOMIC_RELAXED);
		tap_set_mtu(&vlan->tap, vlan->mtu);
		log_port(RTE_LOG_INFO, vlan->name, "MTU %u, which is what port %s leaves for it",
			 vlan->mtu, port->name);
	}
}

/* @return 0 or -errno */
static int set_mtu_below(const struct interface *interface, uint32_t mtu)
{
	const struct device *device = interface_device(interface);

	if (interface->kind == INTERFACE_VLAN)
		return mtu > interface_mtu_on(interface) ? -ERANGE : 0;
	if (interface->kind == INTERFACE_TUNNEL)
		return mtu > interface->mtu_most ? -ERANGE : 0;
	return device ? mtu_set(device, mtu) : 0;
}

int interface_set_mtu(struct interface *interface, uint32_t mtu)
{
	int err = set_mtu_below(interface, mtu);

	if (err)
		return err;
	__atomic_store_n(&interface->mtu, (uint16_t)mtu, __ATOMIC_RELAXED);
	if (interface->kind == INTERFACE_PORT)
		shrink_vlans(interface, mtu);
	changes_note();
	return 0;
}

/* Whether a VLAN has another MAC address than its port's, which its device has to receive, too. */
static bool has_own_mac(const struct interface *vlan)
{
	return vlan->kind == INTERFACE_VLAN && vlan->mac != interfaces[vlan->port].mac;
}

static int take_mac(const struct interface *vlan, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr of_port = interface_mac(&interfaces[vlan->port]);
	struct rte_ether_addr before = interface_mac(vlan);
	struct device *device = interface_device(vlan);

	if (!device)
		return 0;
	if (has_own_mac(vlan))
		device_leave_mac(device, &before);
	return rte_is_same_ether_addr(mac, &of_port) ? 0 : device_take_mac(device, mac);
}

/* The VLANs of a port keep the MAC address that it has had, as in Linux. */
static int set_mac_of_port(const struct interface *port, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr before = interface_mac(port), own;
	struct device *device = interface_device(port);
	int err = device ? device_set_mac(device, mac) : 0;

	for (unsigned int i = 0; !err && device && i < ninterfaces; i++) {
		if (!interface_is_on(&interfaces[i], port) || !interface_device(&interfaces[i]))
			continue;
		own = interface_mac(&interfaces[i]);
		if (rte_is_same_ether_addr(&own, &before) && device_take_mac(device, &own))
			log_port(RTE_LOG_WARNING, interfaces[i].name,
				 "its device may not receive frames to the MAC address that %s keeps",
				 interfaces[i].tap.name);
		else if (rte_is_same_ether_addr(&own, mac))
			device_leave_mac(device, &own);
	}
	return err;
}

void interface_follow_mac(struct interface *interface, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr now = interface_mac(interface);
	int err;

	if (!mac || rte_is_same_ether_addr(mac, &now))
		return;
	err = interface->kind == INTERFACE_VLAN ? take_mac(interface, mac)
						: set_mac_of_port(interface, mac);
	if (err)
		log_port(RTE_LOG_WARNING, interface->name,
			 "its device cannot have the MAC address of %s: %s", interface->tap.name,
			 strerror(-err));
	else
		interface_set_mac(interface, mac);
}

bool interface_is_jumbo(const struct conf *conf, const struct conf_port *section)
{
	return mtu_wanted(conf_port_below(conf, section)) > MTU_USUAL;
}

unsigned int interface_queues(const struct conf_port *section, unsigned int workers)
{
	return 1u + (section->device[0] ? device_queues_wanted(section, workers) : 0u);
}

unsigned int interfaces_packets(const struct conf *conf, unsigned int workers, bool jumbo)
{
	unsigned int queues = 0;

	for (unsigned int i = 0; i < conf->nports; i++)
		if (interface_is_jumbo(conf, &conf->port[i]) == jumbo)
			queues += interface_queues(&conf->port[i], workers);
	return queues * ethdev_queue_packets(jumbo);
}

/* Policies name an interface by a hash, which has to be unique. */
static int check_policy_id(const struct interface *interface)
{
	for (const struct interface *other = interfaces; other < interfaces + ninterfaces;
	     other++) {
		if (other->removed || other->policy_id != interface->policy_id)
			continue;
		log_port(RTE_LOG_ERR, interface->name,
			 "TAP %s has the hash of %s, choose another name", interface->tap.name,
			 other->tap.name);
		return -EEXIST;
	}
	return 0;
}

static int start_tap(struct interface *interface, const struct ethdev_pollers *by)
{
	struct rte_ether_addr mac = interface_mac(interface);
	int err = tap_start(&interface->tap, &mac, interface->mtu, by);

	__atomic_store_n(&interface->link, INTERFACE_LINK_UNKNOWN, __ATOMIC_RELAXED);

	/* Behind a tunnel there are no neighbours. */
	if (!err && interface->kind == INTERFACE_TUNNEL) {
		err = netdev_set_noarp(interface->tap.name);
		if (err)
			tap_stop(&interface->tap);
	}
	if (err)
		log_port(RTE_LOG_ERR, interface->name, "TAP %s: %s", interface->tap.name,
			 strerror(-err));
	return err;
}

/* Start a device for an interface whose frames have no tag. @param by  by->index is the interface's */
static int start_device(struct interface *interface, const struct conf *conf,
			const struct conf_port *section, const struct ethdev_pollers *by)
{
	const unsigned int place = device_place();
	struct ethdev_pollers of_device = *by;
	struct device *device = &devices[place];
	struct rte_ether_addr mac;
	uint16_t mtu;
	int err;

	if (place == DEVICE_NONE)
		return -ENOSPC;
	of_device.index = place;
	err = device_start(device, conf, section, &of_device, &mtu);
	if (err)
		return err;
	interface->mtu = mtu;
	interface->device = (uint8_t)place;
	device->interface = (uint8_t)by->index;
	err = device_get_mac(device, &mac);
	if (err) {
		log_port(RTE_LOG_ERR, interface->name, "device %s has no MAC address: %s",
			 section->device, strerror(-err));
		device_stop(device);
	} else {
		interface_set_mac(interface, &mac);
	}
	return err;
}

uint16_t interface_mtu_for(const struct conf_port *section)
{
	const struct interface *port = interface_named(section->on);
	const struct vlan_tags tags = vlan_tags_of(section);

	return port ? mtu_behind(&tags, port->mtu) : 0;
}

/* A VLAN that stays until a restart, or that could not be removed. @return NULL: none has these IDs */
static const struct interface *with_ids(const struct interface *port, uint32_t ids)
{
	for (const struct interface *vlan = interfaces; vlan < interfaces + ninterfaces; vlan++)
		if (interface_is_on(vlan, port) && vlan->tags.ids == ids)
			return vlan;
	return NULL;
}

/* @return 0 or -errno, logged */
static int check_port_below(const struct interface *port, const struct conf *conf,
			    const struct conf_port *section)
{
	const struct interface *other;
	char where[PATH_MAX + NAME_MAX];

	conf_where(conf, section, "vlan", where, sizeof(where));
	if (!port || port->kind != INTERFACE_PORT) {
		log_error("%s: port %s is not there, or is a VLAN until a restart", where,
			  section->on);
		return -ENODEV;
	}
	other = with_ids(port, section->vlan);
	if (!other)
		return 0;
	log_error("%s: port %s still has it", where, other->name);
	return -EEXIST;
}

/* A VLAN lies on the device of its port, which has been started before. */
static int lie_on_port(struct interface *vlan, const struct conf *conf,
		       const struct conf_port *section)
{
	const struct interface *port = interface_named(section->on);
	struct rte_ether_addr mac;
	char where[PATH_MAX + NAME_MAX];
	uint32_t most;
	int err = check_port_below(port, conf, section);

	if (err)
		return err;
	mac = interface_mac(port);
	vlan->tags = vlan_tags_of(section);
	vlan->port = (uint8_t)(port - interfaces);
	vlan->device = port->device;
	interface_set_mac(vlan, &mac);
	most = interface_mtu_on(vlan);
	vlan->mtu = section->mtu ? section->mtu : (uint16_t)most;
	if (vlan->mtu <= most)
		return 0;
	/* The port's may have become smaller since: the gateway starts. */
	conf_where(conf, section, "mtu", where, sizeof(where));
	log_warn("%s: %u is more than the %u that port %s leaves for it, which it has", where,
		 vlan->mtu, most, port->name);
	vlan->mtu = (uint16_t)most;
	return 0;
}

/* The kernel's side of a tunnel is an Ethernet, too. Its address is that of no link, but stays, and those of both ends differ,
 * also where they have the same ID: a part of it is that of a port of this host. */
static struct rte_ether_addr mac_of_tunnel(uint32_t if_id)
{
	struct rte_ether_addr mac = {{0x06}}, port = {{0}};

	for (unsigned int i = ninterfaces; i--;)
		if (!interfaces[i].removed && interfaces[i].kind == INTERFACE_PORT)
			port = interface_mac(&interfaces[i]);
	memcpy(&mac.addr_bytes[1], &port.addr_bytes[3], 3);
	mac.addr_bytes[4] = (uint8_t)(if_id >> 8);
	mac.addr_bytes[5] = (uint8_t)if_id;
	return mac;
}

/* @return 0 or -errno, logged */
static int start_tunnel(struct interface *tunnel, const struct conf *conf,
			const struct conf_port *section)
{
	const struct rte_ether_addr mac = mac_of_tunnel(section->if_id);
	const int other = interface_by_if_id(section->if_id);
	char where[PATH_MAX + NAME_MAX];

	if (other >= 0) {
		conf_where(conf, section, "if_id", where, sizeof(where));
		log_error("%s: tunnel %s still has it", where, interfaces[other].name);
		return -EEXIST;
	}
	interface_set_mac(tunnel, &mac);
	tunnel->device = DEVICE_NONE;
	tunnel->mtu = mtu_wanted(section);
	tunnel->mtu_most = RTE_MAX(tunnel->mtu, (uint16_t)MTU_USUAL);
	return 0;
}

static int start_below(struct interface *interface, const struct conf *conf,
		       const struct conf_port *section, const struct ethdev_pollers *by)
{
	if (interface->kind == INTERFACE_TUNNEL)
		return start_tunnel(interface, conf, section);
	if (interface->kind == INTERFACE_VLAN)
		return lie_on_port(interface, conf, section);
	return interface->opened ? 0 : start_device(interface, conf, section, by);
}

static void log_started(const struct interface *interface, const struct conf_port *section)
{
	const struct device *device = interface_device(interface);
	char text[CONF_VLAN_TEXT];

	if (interface->kind == INTERFACE_TUNNEL) {
		log_port(RTE_LOG_INFO, interface->name, "tunnel with if_id %u, MTU %u, TAP %s",
			 interface->if_id, interface->mtu, interface->tap.name);
		return;
	}
	if (interface->kind == INTERFACE_VLAN) {
		conf_vlan_print(section->vlan, text, sizeof(text));
		log_port(RTE_LOG_INFO, interface->name, "VLAN %s on port %s, MTU %u, TAP %s", text,
			 section->on, interface->mtu, interface->tap.name);
		return;
	}
	log_port(RTE_LOG_INFO, interface->name, "%s, %u queue%s, MTU %u, TAP %s", section->device,
		 device->queues, device->queues == 1 ? "" : "s", interface->mtu,
		 interface->tap.name);
}

void interface_set_priority(struct interface *interface, const struct conf_port *section)
{
	__atomic_store_n(&interface->priority, (uint8_t)section->priority, __ATOMIC_RELAXED);
	__atomic_store_n(&interface->dscp_of_priority, section->dscp_of_priority, __ATOMIC_RELAXED);
}

static enum interface_kind kind_of(const struct conf_port *section)
{
	if (section->tunnel)
		return INTERFACE_TUNNEL;
	return section->vlan ? INTERFACE_VLAN : INTERFACE_PORT;
}

static int start_section(struct interface *interface, const struct conf *conf,
			 const struct conf_port *section, const struct ethdev_pollers *by)
{
	int err;

	interface->kind = (uint8_t)kind_of(section);
	interface->if_id = section->if_id;
	interface_set_priority(interface, section);
	rte_strscpy(interface->name, section->name, sizeof(interface->name));
	rte_strscpy(interface->tap.name, section->tap, sizeof(interface->tap.name));
	interface->policy_id = cygnet_interface(interface->tap.name);
	interface->side = side_said(conf, section->side);
	err = check_policy_id(interface);
	if (!err)
		err = start_below(interface, conf, section, by);
	if (err)
		return err;
	err = start_tap(interface, by);
	if (err && interface->kind == INTERFACE_PORT)
		device_stop(interface_device(interface));
	if (!err)
		log_started(interface, section);
	return err;
}

/* Frames with a VLAN's tags come in by it from now on: workers see the interface. */
static void receive_vlan(struct interface *vlan)
{
	struct device *device = interface_device(vlan);
	struct rte_ether_addr mac = interface_mac(vlan);

	if (!device || vlan->kind != INTERFACE_VLAN)
		return;
	vlan_add(vlan->device, vlan->tags.ids, (unsigned int)(vlan - interfaces));
	if (has_own_mac(vlan))
		device_take_mac(device, &mac);
}

/* None do any more, once workers have been waited for. */
static void leave_vlan(struct interface *vlan)
{
	struct device *device = interface_device(vlan);
	struct rte_ether_addr mac = interface_mac(vlan);

	if (!device || vlan->kind != INTERFACE_VLAN)
		return;
	vlan_remove(vlan->device, vlan->tags.ids);
	if (has_own_mac(vlan))
		device_leave_mac(device, &mac);
}

/* Not for another kind, or another tunnel: packets that wait may have come in by the one that was removed. */
static bool was(const struct interface *old, const struct conf_port *section)
{
	return old->removed && strcmp(old->name, section->name) == 0 &&
	       old->kind == kind_of(section) && old->if_id == section->if_id;
}

int interface_place(const struct conf_port *section)
{
	int place = -ENOSPC;

	for (unsigned int i = 0; i < ninterfaces; i++) {
		const struct interface *old = &interfaces[i];

		if (was(old, section))
			return (int)i;
		if (old->removed && place < 0 &&
		    clock_seconds() - old->removed_at > INTERFACE_REST_S)
			place = (int)i;
	}
	return place < 0 && ninterfaces < CONF_MAX_INTERFACES ? (int)ninterfaces : place;
}

static unsigned int *count_of(const struct interface *interface)
{
	return interface->kind == INTERFACE_TUNNEL ? &interfaces_tunnels : &interfaces_count;
}

/* The counters are those of the port that had the place; no worker writes them now. */
static void forget_counters(unsigned int index)
{
	for (unsigned int w = 0; w < CONF_MAX_WORKERS; w++)
		memset(&stats[w].interface[index], 0, sizeof(stats[w].interface[index]));
}

static void set_removed(struct interface *interface, bool removed)
{
	__atomic_store_n(&if_ids[interface - interfaces], removed ? 0 : interface->if_id,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&interface->removed, removed, __ATOMIC_RELEASE);
	changes_note();
}

int interface_add(const struct conf *conf, const struct conf_port *section,
		  const struct ethdev_pollers *by)
{
	struct interface *place = &interfaces[by->index], interface = {0};
	int err;

	if (place->opened)
		interface = *place;
	place->opened = false;
	err = start_section(&interface, conf, section, by);
	if (err)
		return err;
	if (by->index < ninterfaces && strcmp(place->name, interface.name))
		forget_counters(by->index);
	interface.opened = false;
	interface.removed = true;
	__atomic_fetch_add(count_of(&interface), 1, __ATOMIC_RELAXED);
	*place = interface;
	/* A worker that sees it sees all of it. */
	set_removed(place, false);
	if (by->index == ninterfaces)
		__atomic_store_n(&ninterfaces, ninterfaces + 1, __ATOMIC_RELEASE);
	changes_note();
	receive_vlan(place);
	return 0;
}

/* @return false: a worker hangs, and may use the interface, which stays */
static bool take_from_workers(struct interface *interface)
{
	leave_vlan(interface);
	set_removed(interface, true);
	if (route_readers_wait())
		return true;
	set_removed(interface, false);
	receive_vlan(interface);
	return false;
}

static bool has_vlans(const struct interface *port)
{
	for (unsigned int i = 0; i < ninterfaces; i++)
		if (interface_is_on(&interfaces[i], port))
			return true;
	return false;
}

int interface_remove(struct interface *interface)
{
	/* One that could not be removed lies on its device. */
	if (has_vlans(interface))
		return -EBUSY;
	if (!take_from_workers(interface))
		return -EBUSY;
	__atomic_fetch_sub(count_of(interface), 1, __ATOMIC_RELAXED);
	interface->removed_at = clock_seconds();
	tap_stop(&interface->tap);
	if (interface->kind == INTERFACE_PORT && interface_device(interface))
		device_stop(interface_device(interface));
	interface->device = DEVICE_NONE;
	return 0;
}

/* While a port gets a new device, its VLANs lie on none, and workers drop what is to leave by them. */
static void move_vlans(struct interface *port, uint8_t device)
{
	for (unsigned int i = 0; i < ninterfaces; i++) {
		if (!interface_is_on(&interfaces[i], port))
			continue;
		if (device == DEVICE_NONE)
			leave_vlan(&interfaces[i]);
		__atomic_store_n(&interfaces[i].device, device, __ATOMIC_RELAXED);
		if (device != DEVICE_NONE)
			receive_vlan(&interfaces[i]);
	}
	changes_note();
}

int interface_renew_device(struct interface *interface, const struct conf *conf,
			   const struct conf_port *section, const struct ethdev_pollers *by)
{
	const struct rte_ether_addr mac = interface_mac(interface);
	const uint8_t before = interface->device;
	int err;

	move_vlans(interface, DEVICE_NONE);
	if (!take_from_workers(interface)) {
		move_vlans(interface, before);
		return -EBUSY;
	}
	if (interface_device(interface))
		device_stop(interface_device(interface));
	interface->device = DEVICE_NONE;
	err = start_device(interface, conf, section, by);
	if (err) {
		interface->device = DEVICE_NONE;
	} else {
		interface_follow_mac(interface, &mac);
		tap_set_mtu(&interface->tap, interface->mtu);
		shrink_vlans(interface, interface->mtu);
	}
	set_removed(interface, false);
	move_vlans(interface, interface->device);
	return err;
}

static struct ethdev_pollers pollers(const struct conf *conf, unsigned int port,
				     struct rte_mempool *const *pools, struct rte_mempool *jumbo,
				     unsigned int workers)
{
	return (struct ethdev_pollers){
		.index = port,
		.workers = workers,
		.pools = pools,
		.jumbo = interface_is_jumbo(conf, &conf->port[port]) ? jumbo : NULL,
	};
}

bool interfaces_can_share(const struct conf *conf)
{
	for (unsigned int i = 0; i < conf->ndevices; i++) {
		if (conf_is_shared(conf->port[i].device))
			continue;
		log_port(RTE_LOG_ERR, conf->port[i].name,
			 "device %s cannot be open in two processes: end cygnetd and start it again instead",
			 conf->port[i].device);
		return false;
	}
	return true;
}

int interfaces_open(const struct conf *conf, struct rte_mempool *const *pools,
		    struct rte_mempool *jumbo, unsigned int workers)
{
	int err = 0;

	for (unsigned int i = 0; i < conf->ndevices && !err; i++) {
		const struct ethdev_pollers by = pollers(conf, i, pools, jumbo, workers);

		rte_strscpy(interfaces[i].name, conf->port[i].name, sizeof(interfaces[i].name));
		err = start_device(&interfaces[i], conf, &conf->port[i], &by);
		interfaces[i].opened = !err;
	}
	return err;
}

void interfaces_discard(void)
{
	for (unsigned int i = 0; i < CONF_MAX_DEVICES; i++)
		if (devices[i].started)
			device_discard(&devices[i]);
}

int interfaces_start(const struct conf *conf, struct rte_mempool *const *pools,
		     struct rte_mempool *jumbo, unsigned int workers)
{
	int err = 0;

	sides_set(conf);
	for (unsigned int i = 0; i < conf->nports && !err; i++) {
		const struct ethdev_pollers by = pollers(conf, i, pools, jumbo, workers);

		err = interface_add(conf, &conf->port[i], &by);
	}
	return err;
}

void interfaces_stop(void)
{
	for (unsigned int i = 0; i < ninterfaces; i++)
		if (!interfaces[i].removed)
			tap_stop(&interfaces[i].tap);
	for (unsigned int i = 0; i < CONF_MAX_DEVICES; i++)
		if (devices[i].started)
			device_stop(&devices[i]);
	ninterfaces = interfaces_count = interfaces_tunnels = 0;
}
