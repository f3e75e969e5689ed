/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file boot.h
 * Whether a file was created in the running boot of the machine. After a power failure a file on a disk may have
 * older sequence numbers than those sent to the peers, and a mutex whose owner no longer exists.
 */
#ifndef CYGNET_BOOT_H
#define CYGNET_BOOT_H

#include "layout.h"

/**
 * Read the id of the running boot from the kernel.
 * @param[out] id  neither word is 0, because the id is a UUID (RFC 9562)
 * @return         0, -EBADMSG (no UUID), or another -errno
 */
int boot_read(uint64_t id[2]);
/**
 * Whether a file is of the running boot. A library that does not know the field leaves it 0. Such a file is of this
 * boot if it is in memory; its field is then set to the id.
 * @param id      of the running boot
 * @param memory  whether the file is on a file system in memory
 */
bool boot_same(struct header *header, const uint64_t id[2], bool memory);

#endif
