/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_critical.h"

#include <collections/enumerator.h>

/** Name of a critical plugin in the configuration */
#define CRITICAL "kernel-cygnet!"

/**
 * Whether a list of plugins names the plugin as critical
 */
static bool is_listed(char *list)
{
	enumerator_t *enumerator;
	bool found = FALSE;
	char *name;

	enumerator = enumerator_create_token(list, " ", " ");
	while (!found && enumerator->enumerate(enumerator, &name))
	{
		found = streq(name, CRITICAL);
	}
	enumerator->destroy(enumerator);
	return found;
}

/*
 * Described in header.
 */
bool kernel_cygnet_critical(void)
{
	char *load;

	if (lib->settings->get_bool(lib->settings, "%s.load_modular", FALSE,
								lib->ns))
	{
		/* the plugin loader accepts a priority, or yes for priority 1 */
		load = lib->settings->get_str(lib->settings,
									  "%s.plugins." CRITICAL ".load", "no",
									  lib->ns);
		return settings_value_as_int(load, 0) > 0 ||
			   settings_value_as_bool(load, FALSE);
	}
	return is_listed(lib->settings->get_str(lib->settings, "%s.load", "",
											lib->ns));
}
