/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "device.h"

static const struct {
	uint64_t feature;
	const char *name;
} named[] = {
	{IMB_FEATURE_AESNI, "AES-NI"},
	{IMB_FEATURE_PCLMULQDQ, "PCLMULQDQ"},
};

/* Check CPU features, which include AES-NI: without it the library uses tables, whose access time
 * depends on the key. @return 0 or errno */
static int examine(const struct mb_driver *driver, IMB_MGR *mgr)
{
	uint64_t needs = driver->needs | IMB_FEATURE_AESNI;

	for (unsigned int i = 0; i < RTE_DIM(named); i++) {
		if (needs & ~mgr->features & named[i].feature) {
			MB_LOG(driver, ERR, "this CPU has no %s", named[i].name);
			return ENOTSUP;
		}
	}
	if (mgr->features & IMB_FEATURE_SELF_TEST &&
	    !(mgr->features & IMB_FEATURE_SELF_TEST_PASS)) {
		MB_LOG(driver, ERR, "the self-test of ipsec_mb %s fails", imb_get_version_str());
		return EIO;
	}
	/* imb_get_errno() could return the error of another thread's manager. */
	if (mgr->imb_errno) {
		MB_LOG(driver, ERR, "ipsec_mb %s: %s", imb_get_version_str(),
		       imb_get_strerror(mgr->imb_errno));
		return EIO;
	}
	if (!(mgr->features & IMB_FEATURE_SAFE_DATA))
		MB_LOG(driver, WARNING,
		       "ipsec_mb %s is built without SAFE_DATA: keys stay in its "
		       "memory until they are overwritten by others",
		       imb_get_version_str());
	return 0;
}

IMB_MGR *mb_manager_open(const struct mb_driver *driver)
{
	IMB_MGR *mgr = alloc_mb_mgr(0);

	if (mgr == NULL) {
		MB_LOG(driver, ERR, "no memory for a manager of ipsec_mb");
		rte_errno = ENOMEM;
		return NULL;
	}
	init_mb_mgr_auto(mgr, NULL);
	rte_errno = examine(driver, mgr);
	if (!rte_errno)
		return mgr;
	free_mb_mgr(mgr);
	return NULL;
}

void mb_manager_close(IMB_MGR *mgr)
{
	if (mgr == NULL)
		return;
	/* A manager and its working memory are one allocation. */
	explicit_bzero(mgr, imb_get_mb_mgr_size());
	free_mb_mgr(mgr);
}
