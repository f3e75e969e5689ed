/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file engine.h
 * The crypto devices, and which one serves which SA. Everything below the name
 * table in engine.c knows them by capability only.
 */
#ifndef CYGNETD_ENGINE_H
#define CYGNETD_ENGINE_H

#include <rte_crypto.h>
#include <rte_cryptodev.h>

#include "conf/conf.h"
#include "cygnet.h"

struct engine_device {
	char name[64];		/* "crypto_aesni_mb0" */
	const char *driver;	/* "crypto_aesni_mb" */
	const char *engine;	/* "cpu", "hardware" or "opencl" */
	char version[896];	/* of what makes it fast: driver, hardware, arguments */
	uint8_t id;		/* cryptodev */
	bool ours;		/* made here, not by EAL's arguments */
	bool at_once;		/* also works without a queue: DPDK's "CPU crypto" */
	bool keeps;		/* a packet completed with an error is unchanged */
	bool refuses;		/* atomic: it failed to create a session of a suite that it supports */
	struct rte_mempool *sessions;
};

/** In order of preference for the engine chosen; fixed after engines_start(). */
extern struct engine_device engine_device[];
extern unsigned int engine_devices;
/** Bit mask of devices taken out after a failure; atomic. */
extern uint32_t engines_lost;

/**
 * Create, configure and start the crypto devices for conf->engine, one queue
 * pair a worker (queue pair number = worker number), and those of the CPU one a crypto core
 * behind them. Those that EAL's arguments have brought are taken as well.
 * @param sessions  capacity of each device
 * @return 0 or -errno, logged; -ENODEV if no device could be had
 */
int engines_start(const struct conf *conf, unsigned int workers, uint32_t sessions);
void engines_stop(void);

/** Packet pools of a device at most. */
#define ENGINE_POOLS_MAX 16u
/** The device that moves packets by itself, without a core copying them, if they are in memory
 * of its own, and leaves those that it does not finish as they were; NULL if there is none. */
const struct engine_device *engine_with_memory(void);
/**
 * A pool of packets in its memory, which goes with the device. Packets come out of it by their
 * place there, round and round.
 * @param n     packets
 * @param room  bytes of each, headroom included
 * @return NULL with rte_errno
 */
struct rte_mempool *engine_pool_create(const char *name, unsigned int n, uint16_t private,
				       uint16_t room);
/** Free such a pool. @return false: it is none, or the device still has packets of it */
bool engine_pool_free(struct rte_mempool *pool);

/** Take a device out of use, because it failed a packet that another one completed. The last device
 * stays. Any thread. */
void engine_take_out(unsigned int device);
/** Log the devices taken out since the last call. Control thread.
 * @return whether there are any; the policy then chooses again */
bool engines_report(void);
/** Whether a device has been taken out. */
static inline bool engine_lost(unsigned int device)
{
	return __atomic_load_n(&engines_lost, __ATOMIC_RELAXED) >> device & 1;
}

#endif
