/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/ingress.h"
#include "host/netdev.h"
#include "host/wire.h"
#include "host/wire_before.h"

#define WATCH_MS 1000u
#define LOOSE	 2 /* rp_filter that accepts what any interface has a route for */

static struct wire {
	char iface[IFNAMSIZ]; /* "": free */
	uint32_t ifindex;     /* of the interface that is isolated, or was tried to be */
	bool failed;	      /* a setting could not be set again, which is logged once */
	bool anew;	      /* made anew: its device runs on one that is gone */
} wires[WIRE_NONE];

/* Strict reverse path filtering drops all unicast received on the interface: routes use the TAP, none uses the
 * interface. */
static const struct setting {
	enum wire_setting setting;
	int value;
} settings[] = {
	{WIRE_RP_FILTER, 1},
	{WIRE_FORWARDING, 0},
	{WIRE_ARP_IGNORE, 8},
	{WIRE_DISABLE_IPV6, 1},
};

/* The kernel uses the larger of the setting for all interfaces and that of the interface. */
static bool is_loose(void)
{
	return wire_setting_read("all", WIRE_RP_FILTER) == LOOSE;
}

/* @return 0: it has its value, or the kernel has no IPv6; 1: it was set; or -errno */
static int apply(const char *iface, const struct setting *setting, int64_t *was)
{
	int err;

	*was = wire_setting_read(iface, setting->setting);
	if (*was == setting->value || (*was == -ENOENT && setting->setting == WIRE_DISABLE_IPV6))
		return 0;
	err = wire_setting_write(iface, setting->setting, setting->value);
	return err ? err : 1;
}

/* @param watch  others have changed what is not as it was set
 * @return 0 or -errno, logged */
static int apply_all(struct wire *wire, bool watch)
{
	char path[WIRE_SETTING_PATH];
	int64_t was;
	int ret, err = 0;

	for (unsigned int i = 0; i < RTE_DIM(settings); i++) {
		const struct setting *setting = &settings[i];

		wire_setting_path(wire->iface, setting->setting, path);
		ret = apply(wire->iface, setting, &was);
		if (ret < 0 && !wire->failed)
			log_error("%s: cannot be set to %d: %s; the kernel would take packets of "
				  "%s past the policies if cygnetd were killed",
				  path, setting->value, strerror(-ret), wire->iface);
		if (ret < 0)
			err = ret;
		if (ret > 0 && watch) {
			wire_before_set(wire->ifindex, setting->setting, was);
			log_warn("%s was changed to %d: set back to %d until cygnetd ends, or the "
				 "kernel would take packets of %s past the policies if it were killed",
				 path, (int)was, setting->value, wire->iface);
		}
	}
	wire->failed = err != 0;
	return err;
}

static int isolate(struct wire *wire)
{
	int err;

	wire_before_note(wire->ifindex);
	err = ingress_close(wire->iface, wire->ifindex);
	if (err) {
		log_error("interface %s: the kernel's copies of its frames cannot be dropped: %s; "
			  "it takes Linux 5.12 with nf_tables (NF_TABLES_NETDEV)",
			  wire->iface, strerror(-err));
		return err;
	}
	err = apply_all(wire, false);
	if (err)
		return err;
	err = netdev_set_up(wire->iface);
	if (err)
		log_error("interface %s: cannot be brought up: %s", wire->iface, strerror(-err));
	return err;
}

/* The kernel takes no packet for it there. */
static void warn_of_address(const char *iface, const struct sockaddr *addr)
{
	char text[NI_MAXHOST];
	socklen_t size = addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						     : sizeof(struct sockaddr_in);

	if (addr->sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)addr)->sin6_addr))
		return;
	if (!getnameinfo(addr, size, text, sizeof(text), NULL, 0, NI_NUMERICHOST))
		log_warn("interface %s: it has the address %s, by which nobody reaches this host while it is a port: "
			 "remove it, and give it to the port's TAP",
			 iface, text);
}

static void warn_of_addresses(const char *iface)
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next)
		if (!strcmp(one->ifa_name, iface) && one->ifa_addr &&
		    (one->ifa_addr->sa_family == AF_INET || one->ifa_addr->sa_family == AF_INET6))
			warn_of_address(iface, one->ifa_addr);
	freeifaddrs(all);
}

static struct wire *find_free(void)
{
	for (unsigned int i = 0; i < WIRE_NONE; i++)
		if (!wires[i].iface[0])
			return &wires[i];
	return NULL; /* not with as many devices as there are wires */
}

int wire_take(const char *iface, uint8_t *number)
{
	struct wire *wire = find_free();
	uint8_t place;
	int err;

	if (!wire)
		return -ENOSPC;
	place = (uint8_t)(wire - wires);
	if (is_loose()) {
		log_error("net.ipv4.conf.all.rp_filter is 2, so the kernel takes packets of %s "
			  "past the policies if cygnetd is killed: set it to 0 or 1",
			  iface);
		return -EPERM;
	}
	rte_strscpy(wire->iface, iface, sizeof(wire->iface));
	wire->ifindex = if_nametoindex(iface);
	warn_of_addresses(iface);
	err = wire->ifindex ? isolate(wire) : -ENODEV;
	if (err)
		wire_leave(place);
	else
		*number = place;
	return err;
}

void wire_leave(uint8_t number)
{
	struct wire *wire;

	if (number >= WIRE_NONE)
		return;
	wire = &wires[number];
	ingress_open(wire->iface, wire->ifindex);
	*wire = (struct wire){0};
}

int wires_put_back(void)
{
	uint32_t kept[WIRE_NONE];
	unsigned int n = 0;

	for (unsigned int i = 0; i < WIRE_NONE; i++)
		if (wires[i].ifindex)
			kept[n++] = wires[i].ifindex;
	return wire_before_put_back(kept, n);
}

static void take_anew(struct wire *wire, uint32_t ifindex)
{
	wire->ifindex = ifindex;
	wire->anew = true;
	log_warn("interface %s was made anew: it is isolated from the kernel again", wire->iface);
	isolate(wire);
}

bool wire_is_anew(uint8_t number)
{
	return number < WIRE_NONE && wires[number].anew;
}

bool wire_has_link(uint8_t number)
{
	return number >= WIRE_NONE || netdev_is_running(wires[number].iface);
}

void wire_seen(const char *iface, uint32_t ifindex)
{
	for (unsigned int i = 0; i < WIRE_NONE; i++)
		if (wires[i].ifindex && wires[i].ifindex != ifindex &&
		    !strcmp(wires[i].iface, iface))
			take_anew(&wires[i], ifindex);
}

static void watch_loose(void)
{
	static bool logged;
	bool loose = is_loose();

	if (loose && !logged)
		log_warn(
			"net.ipv4.conf.all.rp_filter has become 2: the kernel takes packets of "
			"ports' interfaces past the policies if cygnetd is killed: set it to 0 or 1");
	logged = loose;
}

void wires_watch(void)
{
	static uint64_t next;

	if (clock_now_ms < next)
		return;
	next = clock_now_ms + WATCH_MS;
	watch_loose();
	for (unsigned int i = 0; i < WIRE_NONE; i++)
		/* An interface that is gone has no settings; wire_seen() comes with the next one. */
		if (wires[i].iface[0] && if_nametoindex(wires[i].iface) == wires[i].ifindex)
			apply_all(&wires[i], true);
}
