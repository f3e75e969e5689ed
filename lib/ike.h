/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ike.h
 * The registered IKE ports, for the rest of the library.
 */
#ifndef CYGNET_IKE_H
#define CYGNET_IKE_H

#include "layout.h"

/** Whether all registered ports are valid and none is registered twice. */
bool ike_valid(const struct header *header);
/** Unregister all ports, so that 500 and 4500 are IKE ports again. The caller holds the mutex or has
 * just taken CYGNET_ROLE_CHARON. */
void ike_forget(struct header *header);

#endif
