/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ike.h
 * What the rest of the library needs of IKE's ports.
 */
#ifndef CYGNET_IKE_H
#define CYGNET_IKE_H

#include "layout.h"

/** Whether what the file says of its ports can have been said. */
bool ike_valid(const struct header *header);
/** Forget all ports: those of RFC 7296 are IKE's again. */
void ike_forget(struct header *header);

#endif
