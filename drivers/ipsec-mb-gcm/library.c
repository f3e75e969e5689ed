/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "library.h"
#include "log.h"

#define NEEDS (IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ)

#define FUNCTIONS(mgr, bits)                                                                       \
	((struct gcm_library){                                                                     \
		.expand = (mgr)->gcm##bits##_pre,                                                  \
		.once = {(mgr)->gcm##bits##_enc, (mgr)->gcm##bits##_dec},                          \
		.begin = (mgr)->gcm##bits##_init,                                                  \
		.go_on = {(mgr)->gcm##bits##_enc_update, (mgr)->gcm##bits##_dec_update},           \
		.end = {(mgr)->gcm##bits##_enc_finalize, (mgr)->gcm##bits##_dec_finalize},         \
	})

/* Without AES-NI the library computes with tables, and not in constant time. */
static int examine(IMB_MGR *mgr)
{
	if ((mgr->features & NEEDS) != NEEDS) {
		GCM_LOG(ERR, "this CPU has no %s",
			mgr->features & IMB_FEATURE_AESNI ? "PCLMULQDQ" : "AES-NI");
		return -ENOTSUP;
	}
	if (mgr->features & IMB_FEATURE_SELF_TEST &&
	    !(mgr->features & IMB_FEATURE_SELF_TEST_PASS)) {
		GCM_LOG(ERR, "ipsec_mb %s fails its own test", imb_get_version_str());
		return -EIO;
	}
	if (imb_get_errno(mgr)) {
		GCM_LOG(ERR, "ipsec_mb %s: %s", imb_get_version_str(),
			imb_get_strerror(imb_get_errno(mgr)));
		return -EIO;
	}
	return 0;
}

int gcm_library_open(struct gcm_library library[GCM_KEY_SIZES])
{
	IMB_MGR *mgr = alloc_mb_mgr(0);
	int err;

	if (mgr == NULL) {
		GCM_LOG(ERR, "no memory for ipsec_mb");
		return -ENOMEM;
	}
	init_mb_mgr_auto(mgr, NULL);
	err = examine(mgr);
	if (!err) {
		library[0] = FUNCTIONS(mgr, 128);
		library[1] = FUNCTIONS(mgr, 192);
		library[2] = FUNCTIONS(mgr, 256);
	}
	free_mb_mgr(mgr);
	return err;
}
