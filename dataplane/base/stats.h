/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file stats.h
 * Statistics. Each lcore writes its own counters; telemetry adds them up.
 */
#ifndef CYGNETD_STATS_H
#define CYGNETD_STATS_H

#include <stdint.h>
#include <rte_common.h>

#include "base/drop.h"
#include "conf/conf.h"

#define STATS_MAX_DEVICES 16 /* crypto devices */
#define STATS_MAX_STAGES  24

struct stats_interface {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t to_kernel, from_kernel; /* packets through the TAP */
};

struct stats_device {
	uint64_t encrypted, decrypted; /* packets completed successfully */
	uint64_t bytes;		       /* of these packets */
	uint64_t failed;	       /* packets completed with an error */
};

/* Counted only after a request of cygnetctl: stats_stages_asked. */
struct stats_stage {
	uint64_t packets, vectors, cycles;
};

struct stats {
	uint64_t forwarded;	/* plaintext in, plaintext out */
	uint64_t encapsulated;	/* plaintext in, ESP out */
	uint64_t decapsulated;	/* ESP in, plaintext out or to the kernel */
	uint64_t dummies;	/* dummy packets discarded (RFC 4303, 2.6) */
	uint64_t keepalives;	/* NAT keepalives discarded (RFC 3948, 2.3) */
	uint64_t waited_for_sa; /* packets that waited for an SA (path/sa_wait.h) */
	uint64_t came_early;  /* ESP and AH that waited for its SA to be installed (path/early.h) */
	uint64_t reassembled; /* packets to this host reassembled from fragments: ESP, AH, IKE */
	uint64_t too_big_learned; /* ICMP errors that lowered the path MTU of an SA */
	uint64_t too_big_ignored; /* ICMP errors that match no SA or are implausible */
	uint64_t handed_off;	  /* packets and frames handed off to other workers */
	uint64_t sas_moved;	  /* SAs that were given to another worker (balance.h) */
	uint64_t order_gaps; /* sequence numbers that were waited for in vain (path/worker/send_order.h) */
	uint64_t sas_shared; /* SAs that other workers have begun to protect packets with, too (path/worker/share.h) */
	uint64_t crypto_cores; /* packets that crypto cores processed for this worker */
	uint64_t shortcut;     /* packets of known flows (flow.h) */
	uint64_t turns;	       /* turns of the worker's loop */
	uint64_t busy_cycles;  /* TSC cycles of the turns that moved a packet */
	uint64_t drop[DROP_REASON_COUNT];
	uint64_t unaudited[DROP_REASON_COUNT]; /* drops that have no audit record: too many; atomic */
	struct stats_interface interface[CONF_MAX_INTERFACES];
	struct stats_device device[STATS_MAX_DEVICES];
	struct stats_stage stage[STATS_MAX_STAGES];
} __rte_cache_aligned;

/** clock_seconds() until which workers count their stages; atomic. */
extern uint64_t stats_stages_asked;

/** By worker number. */
extern struct stats stats[CONF_MAX_WORKERS];

#endif
