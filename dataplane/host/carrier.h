/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file carrier.h
 * The TAP of a port, and those of its VLANs, have carrier while the port's device has a link: routing daemons and the kernel
 * see that a cable is out, as on an interface of their own. Control thread only.
 */
#ifndef CYGNETD_CARRIER_H
#define CYGNETD_CARRIER_H

/** Give TAPs the carrier of their devices where that has changed, which is logged. Call often; it looks ten times a second. */
void carriers_follow(void);

#endif
