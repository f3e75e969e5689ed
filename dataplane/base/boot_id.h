/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file boot_id.h
 * The kernel's name of the running boot, a UUID: what is kept from an earlier process is of this boot or not. libcygnet reads it
 * for its own file, as numbers, and does not export that.
 */
#ifndef CYGNETD_BOOT_ID_H
#define CYGNETD_BOOT_ID_H

#define BOOT_ID_LEN 36

/** @param[out] id  text; empty: the kernel does not tell. Any thread, before seccomp's filter or with it. */
void boot_id_read(char id[BOOT_ID_LEN + 1]);

#endif
