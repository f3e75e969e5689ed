/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file boot.h
 * Which boot of the machine a file is of. A file on a disk that outlives a power failure may have
 * older sequence numbers than the peers have seen, and its mutex an owner that never returns.
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
 * Whether a file is of the running boot. A library that does not know the field leaves it 0: such a
 * file is of this boot if it is in memory, and gets the id.
 * @param id      of the running boot
 * @param memory  whether the file is on a file system in memory
 */
bool boot_same(struct header *header, const uint64_t id[2], bool memory);

#endif
