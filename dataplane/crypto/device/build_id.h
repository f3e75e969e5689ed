/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file build_id.h
 * Identifies the build of a loaded program or library: its build ID (NT_GNU_BUILD_ID), or else its size
 * and modification time.
 */
#ifndef CYGNETD_BUILD_ID_H
#define CYGNETD_BUILD_ID_H

/** Bytes of the text, with its terminator. */
#define BUILD_ID 40u

/** The build ID of the library that contains an address.
 * @param[out] text  of BUILD_ID bytes; empty: none */
void build_id_at(const void *address, char *text);
/** The build ID of the first loaded library whose file name begins with a text, such as "libcrypto.so". */
void build_id_of(const char *library, char *text);

#endif
