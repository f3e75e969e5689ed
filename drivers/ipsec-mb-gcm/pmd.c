/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver for AES-GCM. It calls ipsec_mb once per packet, with the function for a whole text, or does the packet itself
 * where that is faster. DPDK's crypto_aesni_gcm makes three calls per packet: init, update, finalize. */
#include "call.h"
#include "operation.h"
#include "pmd.h"
#include "session.h"

static int open_library(struct mb_device *device)
{
	struct gcm_pmd *pmd = (struct gcm_pmd *)device;

	pmd->library[0] = GCM_LIBRARY(device->mgr, 128);
	pmd->library[1] = GCM_LIBRARY(device->mgr, 192);
	pmd->library[2] = GCM_LIBRARY(device->mgr, 256);
	if (vaes_is_there(device->mgr))
		pmd->own_below = vaes_faster_below(pmd->library[0].expand, pmd->library[0].once);
	if (!pmd->own_below)
		MB_LOG(device->driver, INFO, "ipsec_mb processes all texts");
	else
		MB_LOG(device->driver, INFO,
		       "ipsec_mb processes texts of %" PRIu32 " bytes and more", pmd->own_below);
	return 0;
}

static void work(void *none __rte_unused, struct rte_crypto_op **ops, uint16_t n)
{
	struct gcm_scratch scratch;

	for (uint16_t i = 0; i < n; i++)
		gcm_operation(ops[i], &scratch);
	gcm_scratch_wipe(&scratch);
}

static struct rte_cryptodev_ops ops = {
	MB_DEVICE_OPS,
	.sym_session_get_size = gcm_session_size,
	.sym_session_configure = gcm_session_configure,
	.sym_session_clear = gcm_session_clear,
	.sym_cpu_process = gcm_call,
};

RTE_LOG_REGISTER(gcm_logtype, pmd.crypto.ipsec_mb_gcm, NOTICE);

static uint8_t driver_id;

static const struct mb_driver driver = {
	.name = "crypto_ipsec_mb_gcm",
	.id = &driver_id,
	.logtype = &gcm_logtype,
	.capabilities = gcm_capabilities,
	.ops = &ops,
	.features = RTE_CRYPTODEV_FF_IN_PLACE_SGL | RTE_CRYPTODEV_FF_OOP_LB_IN_LB_OUT |
		    RTE_CRYPTODEV_FF_OOP_LB_IN_SGL_OUT | RTE_CRYPTODEV_FF_OOP_SGL_IN_LB_OUT |
		    RTE_CRYPTODEV_FF_OOP_SGL_IN_SGL_OUT,
	.needs = IMB_FEATURE_PCLMULQDQ,
	.device_size = sizeof(struct gcm_pmd),
	.open = open_library,
	.work = work,
};

MB_DRIVER_REGISTER(crypto_ipsec_mb_gcm, driver, driver_id);
