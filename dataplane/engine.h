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

#include "conf.h"
#include "cygnet.h"

struct engine_device {
	char name[64];		/* "crypto_aesni_mb0" */
	const char *driver;	/* "crypto_aesni_mb" */
	const char *engine;	/* "cpu" or "opencl" */
	uint8_t id;		/* cryptodev */
	struct rte_mempool *sessions;
};

/** In order of preference for the engine chosen; fixed after engines_start(). */
extern struct engine_device engine_device[];
extern unsigned int engine_devices;

/**
 * Create, configure and start the crypto devices for conf->engine, one queue
 * pair a worker (queue pair number = worker number).
 * @param nsas  sessions that must fit
 * @return 0 or -errno, logged; -ENODEV if no device could be had
 */
int engines_start(const struct conf *conf, unsigned int workers, uint32_t nsas);
void engines_stop(void);

#endif
