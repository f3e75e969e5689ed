/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tap.h
 * The TAP of an interface. Packets that Cygnet does not forward go to the kernel through it, and the
 * kernel sends its own packets through it.
 */
#ifndef CYGNETD_TAP_H
#define CYGNETD_TAP_H

#include <net/if.h>
#include <stdint.h>
#include <rte_ether.h>

#include "host/ethdev.h"

/**
 * The Ethernet source address of frames that carry decrypted packets to the kernel, and ICMP errors about what the
 * kernel itself has sent, 02:43:59:47:4e:54: its firewall has nothing else to tell them by. A locally administered
 * address, part of the interface with administrators. Frames from the wire that have it are dropped.
 */
#define TAP_DECRYPTED_MAC ((struct rte_ether_addr){{0x02, 'C', 'Y', 'G', 'N', 'T'}})

/** Whether a frame from the wire claims to come from there: the kernel would take its plaintext for decrypted. */
static inline bool tap_is_forged(const struct rte_ether_hdr *eth)
{
	return rte_is_same_ether_addr(&eth->src_addr, &TAP_DECRYPTED_MAC);
}

struct tap {
	char name[IFNAMSIZ];
	uint16_t id;	  /* ethdev; it has one pair of queues */
	uint32_t ifindex; /* kernel interface index */
};

/**
 * Create, configure and start the TAP of that name. If another process has it open, attach to it; it stays
 * down if it is.
 * @param by  its index makes the ethdev's name unique
 * @return 0 or -errno; -ENODEV: the kernel does not know it
 */
int tap_start(struct tap *tap, const struct rte_ether_addr *mac, uint16_t mtu,
	      const struct ethdev_pollers *by);
void tap_stop(struct tap *tap);
/** @return 0 or -errno */
int tap_set_mtu(const struct tap *tap, uint16_t mtu);

#endif
