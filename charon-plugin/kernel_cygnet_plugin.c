/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_plugin.h"
#include "kernel_cygnet_closed.h"
#include "kernel_cygnet_compat.h"
#include "kernel_cygnet_critical.h"
#include "kernel_cygnet_db.h"
#include "kernel_cygnet_ipsec.h"
#include "kernel_cygnet_sender.h"
#include "kernel_cygnet_version.h"

#include <stdio.h>
#include <unistd.h>

#include <daemon.h>

/** All other symbols are hidden */
#define EXPORTED __attribute__((visibility("default")))

typedef struct private_kernel_cygnet_plugin_t private_kernel_cygnet_plugin_t;

struct private_kernel_cygnet_plugin_t {

	/**
	 * Implements plugin interface
	 */
	kernel_cygnet_plugin_t public;

	/**
	 * Whether SAs and policies are the dataplane's
	 */
	bool used;
};

METHOD(plugin_t, get_name, char*,
	private_kernel_cygnet_plugin_t *this)
{
	return "kernel-cygnet";
}

/**
 * Sender that notes where charon sends IKE
 */
static bool sender_cb(private_kernel_cygnet_plugin_t *this,
					  plugin_feature_t *feature, bool reg, void *data)
{
	if (!reg)
	{
		kernel_cygnet_sender_end();
		return TRUE;
	}
	return kernel_cygnet_db_get() &&
		   kernel_cygnet_sender_begin(kernel_cygnet_db_get());
}

METHOD(plugin_t, get_features, int,
	private_kernel_cygnet_plugin_t *this, plugin_feature_t *features[])
{
	static plugin_feature_t f[] = {
		PLUGIN_CALLBACK(kernel_ipsec_register, kernel_cygnet_ipsec_create),
			PLUGIN_PROVIDE(CUSTOM, "kernel-ipsec"),
		PLUGIN_CALLBACK((plugin_feature_callback_t)sender_cb, NULL),
			PLUGIN_PROVIDE(CUSTOM, "kernel-cygnet-sender"),
				PLUGIN_DEPENDS(CUSTOM, "kernel-ipsec"),
				PLUGIN_DEPENDS(CUSTOM, "libcharon-receiver"),
	};
	*features = f;
	return this->used ? countof(f) : 0;
}

METHOD(plugin_t, destroy, void,
	private_kernel_cygnet_plugin_t *this)
{
	free(this);
}

/**
 * Whether the daemon is of the release that the plugin was compiled for. The
 * layout of objects changes between releases, so a plugin for another release
 * would corrupt memory.
 */
static bool check_version(void)
{
	chunk_t version;

	if (!kernel_cygnet_version_of_daemon(&version))
	{
		DBG1(DBG_KNL, "kernel-cygnet was built for strongSwan %s, but the "
			 "version of this program is unknown: not loading", VERSION);
		return FALSE;
	}
	if (!chunk_equals(version, chunk_from_str(VERSION)))
	{
		DBG1(DBG_KNL, "kernel-cygnet was built for strongSwan %s, but this is "
			 "strongSwan %.*s: not loading", VERSION, (int)version.len,
			 version.ptr);
		return FALSE;
	}
	return TRUE;
}

/**
 * End charon if the plugin is not critical. Otherwise charon would run without
 * the plugin when it cannot be loaded, for instance after an upgrade of
 * strongSwan. Returning NULL would have the same effect now. exit() is not used
 * because its handlers unload plugins, which are still being loaded.
 */
static void require_critical(void)
{
	if (!kernel_cygnet_critical())
	{
		DBG1(DBG_KNL, "kernel-cygnet is not a critical plugin: if it could not be "
			 "loaded, packets would leave as plaintext; write 'kernel-cygnet!' as "
			 "kernel-cygnet.conf has it: charon ends");
		fflush(NULL);
		_exit(SS_RC_INITIALIZATION_FAILED);
	}
}

/**
 * Whether this host is a gateway of Cygnet's, or the kernel protects its packets
 * as before: only_with names a file without which it is none, the dataplane's
 * configuration. Where there is a shared file one runs or has run.
 */
static bool is_used(void)
{
	const char *file, *path = kernel_cygnet_db_path();

	file = lib->settings->get_str(lib->settings,
								  "%s.plugins.kernel-cygnet.only_with", "",
								  lib->ns);
	if (!*file || access(file, F_OK) == 0 || access(path, F_OK) == 0)
	{
		return TRUE;
	}
	kernel_cygnet_closed_remove();
	DBG1(DBG_KNL, "kernel-cygnet leaves SAs and policies to the kernel: there is "
		 "neither %s nor %s", file, path);
	return FALSE;
}

#if COMPAT_LOADER_CHECKS_VERSION
EXPORTED extern const char *kernel_cygnet_plugin_version;
const char *kernel_cygnet_plugin_version = VERSION;
#endif

EXPORTED plugin_t *kernel_cygnet_plugin_create(void);

/*
 * Called by the plugin loader.
 */
plugin_t *kernel_cygnet_plugin_create(void)
{
	private_kernel_cygnet_plugin_t *this;

	require_critical();
	if (!check_version())
	{
		return NULL;
	}

	INIT(this,
		.public = {
			.plugin = {
				.get_name = _get_name,
				.get_features = _get_features,
				.destroy = _destroy,
			},
		},
		.used = is_used(),
	);
	return &this->public.plugin;
}
