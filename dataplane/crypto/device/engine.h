/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file engine.h
 * The crypto devices. Only the table in engine.c has their names; all other code distinguishes them by
 * their capabilities.
 */
#ifndef CYGNETD_ENGINE_H
#define CYGNETD_ENGINE_H

#include <rte_crypto.h>
#include <rte_cryptodev.h>

#include "conf/conf.h"
#include "cygnet.h"

struct engine_device {
	char name[64];	    /* "crypto_aesni_mb0" */
	const char *driver; /* "crypto_aesni_mb" */
	const char *engine; /* "cpu", "hardware" or "opencl" */
	char version[896];  /* driver, hardware and arguments, on which its speed depends */
	uint8_t id;	    /* of the cryptodev */
	bool ours;	    /* created by cygnetd, not by EAL's arguments */
	bool at_once;	    /* also processes packets without a queue: DPDK's "CPU crypto" */
	bool keeps;	    /* a packet completed with an error is unchanged */
	uint16_t measure_queue,
		measure_queues; /* queue pairs for measuring: the first one, and how many */
	bool refuses; /* atomic: it failed to create a session of a suite that it supports */
	uint8_t denied[CYGNET_CIPHERS]; /* bit masks by enum cygnet_auth: the self-test could not
					 * set them up */
	struct rte_mempool *sessions;
};

/** In order of preference for the configured engine; constant after engines_start(). */
extern struct engine_device engine_device[];
extern unsigned int engine_devices;
/** Bit mask of devices taken out after a failure; atomic. */
extern uint32_t engines_lost;

/**
 * Create, configure and start the crypto devices for conf->engine. Each has a queue pair for each worker
 * (queue pair number = worker number). CPU devices have more queue pairs behind these, one for each
 * crypto core. Where devices are to be measured they have as many queue pairs as there are workers behind all these, if
 * their drivers offer so many. Devices created by EAL's arguments are used as well.
 * @param sessions  capacity of each device
 * Each device has to pass its self-test (selftest.h), or it is in engines_lost from the start.
 * @return 0 or -errno, logged; -ENODEV: no device could be started; -EIO: none passed its self-test
 */
int engines_start(const struct conf *conf, unsigned int workers, uint32_t sessions);
void engines_stop(void);
/** Whether all devices are the CPU's. */
bool engines_only_cpu(void);
/** Whether there is a device other than the CPU, and those of PoCL and NVIDIA: its driver or a library of its vendor may make
 * any system call at any time, to compile and execute programs for example. After engines_start(). */
bool engines_foreign(void);

/** Maximum number of mempools of a device. */
#define ENGINE_POOLS_MAX 16u
/** The device with its own memory: it transfers packets of mempools there without copies by a core. It
 * leaves packets that it does not complete unchanged. @return NULL: none */
const struct engine_device *engine_with_memory(void);
/**
 * Create a mempool of packets in the memory of engine_with_memory(). It must be freed before the device is
 * stopped. Packets are allocated in the order of their addresses, cyclically.
 * @param n     packets
 * @param room  bytes of each packet, with headroom
 * @return NULL with rte_errno
 */
struct rte_mempool *engine_pool_create(const char *name, unsigned int n, uint16_t private,
				       uint16_t room);
/** Free a mempool of engine_pool_create(). @return false: it is another one, or the device still has
 * packets of it */
bool engine_pool_free(struct rte_mempool *pool);

/** Take a device out of use after it failed a packet that another device completed. The last device
 * stays in use. Any thread. */
void engine_take_out(unsigned int device);
/** Log the devices taken out since the last call. Control thread.
 * @return whether a device was taken out; offload_choose_all() then has to choose again */
bool engines_report(void);
/** Whether a device has been taken out. */
static inline bool engine_lost(unsigned int device)
{
	return __atomic_load_n(&engines_lost, __ATOMIC_RELAXED) >> device & 1;
}

#endif
