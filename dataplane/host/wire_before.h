/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire_before.h
 * The settings of wires as they were before cygnetd, in a file beside the shared one: the process that has changed them
 * puts them back when it ends, or after kill -9 its successor or cygnetd --put-back does.
 *
 * Each cygnetd that has wires holds a shared lock on the file. Nothing is put back while another process holds one: not by
 * a process that fails to take over, and not under one that has just been started. A file of another boot is empty.
 * Control thread only.
 */
#ifndef CYGNETD_WIRE_BEFORE_H
#define CYGNETD_WIRE_BEFORE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/wire_setting.h"

/**
 * Open the file, which is made if it is missing, and wait until no process puts back. Without it the other functions do
 * nothing.
 * @param sadb   path of the shared file
 * @param alone  fail with -EBUSY if another process has wires, and keep others from having some
 * @return 0 or -errno
 */
int wire_before_open(const char *sadb, bool alone);
/** Give up the shared lock, so that another process may put back when it ends, or take it again.
 * @param has  whether this process has wires */
void wire_before_hold(bool has);
/** Note the settings of an interface, unless they are noted. */
void wire_before_note(uint32_t ifindex);
/** Another program has changed a setting of a wire: that is what is put back. */
void wire_before_set(uint32_t ifindex, enum wire_setting setting, int64_t value);
/**
 * Put back all that is noted but for some interfaces, and forget it. What fails is logged, and stays noted. If another
 * process has wires, nothing is done.
 * @param kept  indices of these interfaces
 * @return 0 or the first -errno
 */
int wire_before_put_back(const uint32_t *kept, unsigned int nkept);

#endif
