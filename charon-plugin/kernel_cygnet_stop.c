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
	 * Whether charon ends, and what becomes of its policies; atomic
	 */
	enum {
		RUNS,
		HOLDS,
		REMOVES,
	} state;
};

/**
 * Read whether policies are held when charon ends
 */
static bool read_option(void)
{
	return lib->settings->get_bool(lib->settings,
								   "%s.plugins.kernel-cygnet.hold_on_stop",
								   FALSE, lib->ns);
}

METHOD(listener_t, alert, bool,
	private_kernel_cygnet_stop_t *this, ike_sa_t *ike_sa, alert_t alert,
	va_list args)
{
	if (alert == ALERT_SHUTDOWN_SIGNAL)
	{
		__atomic_store_n(&this->state, read_option() ? HOLDS : REMOVES,
						 __ATOMIC_RELEASE);
	}
	return TRUE;
}

METHOD(kernel_cygnet_stop_t, holds, bool,
	private_kernel_cygnet_stop_t *this)
{
	return __atomic_load_n(&this->state, __ATOMIC_ACQUIRE) == HOLDS;
}

METHOD(kernel_cygnet_stop_t, end, bool,
	private_kernel_cygnet_stop_t *this)
{
	switch (__atomic_load_n(&this->state, __ATOMIC_ACQUIRE))
	{
		case HOLDS:
			return TRUE;
		case REMOVES:
			return FALSE;
		default:
			return read_option();
	}
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
kernel_cygnet_stop_t *kernel_cygnet_stop_create(void)
{
	private_kernel_cygnet_stop_t *this;

	INIT(this,
		.public = {
			.listener = {
				.alert = _alert,
			},
			.holds = _holds,
			.end = _end,
			.destroy = _destroy,
		},
	);

	charon->bus->add_listener(charon->bus, &this->public.listener);
	return &this->public;
}
