/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file give_back.h
 * The kernel has the interfaces of ports again, as they were before cygnetd (host/wire.h), once its rules drop what policies
 * protect: by cygnetd when it ends, or by cygnetd --put-back after one that was killed, which the unit also calls
 * after a stop. Control thread only.
 */
#ifndef CYGNETD_GIVE_BACK_H
#define CYGNETD_GIVE_BACK_H

#include "conf/conf.h"

/**
 * Before the interfaces of ports are opened: open the file in which the settings of before are noted. Without it nothing is
 * put back, which is logged.
 */
void give_back_prepare(const struct conf *conf);
/** Give the interfaces back once this process serves no longer, unless the unit does so. Gives up the role. */
void give_back_at_end(void);
/**
 * cygnetd --put-back: what another cygnetd has left.
 * @param conf  may be one with errors: what is right in it, and defaults
 * @return 0, or -errno, logged: -EBUSY: a cygnetd has the interfaces, or charon does not tell the kernel to drop what
 *         policies protect
 */
int give_back_left(const struct conf *conf);

#endif
