/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file no-tfc.c
 * LD_PRELOAD for charon: its kernel interface reports no support for TFC padding (RFC 4303, 2.7), so that
 * charon tells its peers (ESP_TFC_PADDING_NOT_SUPPORTED, RFC 7296, 1.3.1). All kernel interfaces of
 * Debian's charon report support.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>

#include <daemon.h>

static kernel_feature_t (*own_features)(kernel_interface_t *kernel);

static kernel_feature_t features_but_tfc(kernel_interface_t *kernel)
{
	return own_features(kernel) & ~KERNEL_ESP_V3_TFC;
}

kernel_interface_t *kernel_interface_create(void)
{
	kernel_interface_t *(*create)(void) = dlsym(RTLD_NEXT, "kernel_interface_create");
	kernel_interface_t *kernel = create();

	own_features = kernel->get_features;
	kernel->get_features = features_but_tfc;
	return kernel;
}
