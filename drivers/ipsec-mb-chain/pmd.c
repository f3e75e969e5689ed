/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver for AES-CBC and AES-CTR with HMAC. It uses ipsec_mb's burst functions for ciphers and for
 * hashes. DPDK's crypto_aesni_mb uses the library's job queue for each packet. */
#include "batch.h"
#include "call.h"
#include "capabilities.h"
#include "device.h"
#include "operation.h"

static struct rte_cryptodev_ops ops = {
	MB_DEVICE_OPS,
	.sym_session_get_size = chain_session_size,
	.sym_session_configure = chain_session_configure,
	.sym_session_clear = chain_session_clear,
	.sym_cpu_process = chain_call,
};

RTE_LOG_REGISTER(chain_logtype, pmd.crypto.ipsec_mb_chain, NOTICE);

static uint8_t driver_id;

static const struct mb_driver driver;

static int open_scratch(void *scratch)
{
	return chain_batch_open(scratch, &driver);
}

static void close_scratch(void *scratch)
{
	chain_batch_close(scratch);
}

static void work(void *scratch, struct rte_crypto_op **operations, uint16_t n)
{
	chain_operations(scratch, operations, n);
}

static const struct mb_driver driver = {
	.name = "crypto_ipsec_mb_chain",
	.id = &driver_id,
	.logtype = &chain_logtype,
	.capabilities = chain_capabilities,
	.ops = &ops,
	.device_size = sizeof(struct mb_device),
	.scratch_size = sizeof(struct chain_batch),
	.scratch_open = open_scratch,
	.scratch_close = close_scratch,
	.work = work,
};

MB_DRIVER_REGISTER(crypto_ipsec_mb_chain, driver, driver_id);
