/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_stop.h"

#include <daemon.h>

typedef struct private_kernel_cygnet_stop_t private_kernel_cygnet_stop_t;

struct private_kernel_cygnet_stop_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_stop_t public;

	/**
	 * Whether charon ends and policies are held; atomic
	 */
	bool holds;
};

METHOD(listener_t, alert, bool,
	private_kernel_cygnet_stop_t *this, ike_sa_t *ike_sa, alert_t alert,
	va_list args)
{
	if (alert == ALERT_SHUTDOWN_SIGNAL && kernel_cygnet_stop_option())
	{
		__atomic_store_n(&this->holds, TRUE, __ATOMIC_RELEASE);
	}
	return TRUE;
}

METHOD(kernel_cygnet_stop_t, holds, bool,
	private_kernel_cygnet_stop_t *this)
{
	return __atomic_load_n(&this->holds, __ATOMIC_ACQUIRE);
}

METHOD(kernel_cygnet_stop_t, destroy, void,
	private_kernel_cygnet_stop_t *this)
{
	charon->bus->remove_listener(charon->bus, &this->public.listener);
	free(this);
}

/*
 * Described in header.
 */
bool kernel_cygnet_stop_option(void)
{
	return lib->settings->get_bool(lib->settings,
								   "%s.plugins.kernel-cygnet.hold_on_stop",
								   FALSE, lib->ns);
}

/*
 * Described in header.
 */
kernel_cygnet_stop_t *kernel_cygnet_stop_create(void)
{
	private_kernel_cygnet_stop_t *this;

	INIT(this,
		.public = {
			.listener = {
				.alert = _alert,
			},
			.holds = _holds,
			.destroy = _destroy,
		},
	);

	charon->bus->add_listener(charon->bus, &this->public.listener);
	return &this->public;
}
