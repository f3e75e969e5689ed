/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file library_build.h
 * Identifies the build of a loaded library, by the size and the modification time of its file.
 */
#ifndef CYGNETD_LIBRARY_BUILD_H
#define CYGNETD_LIBRARY_BUILD_H

/** Bytes of the text, with its terminator. */
#define LIBRARY_BUILD 48u

/** The build of the library that contains an address.
 * @param[out] text  of LIBRARY_BUILD bytes; empty: unknown */
void library_build_at(const void *address, char *text);
/** The build of the first loaded library whose file name begins with a text, such as "libcrypto.so". */
void library_build_of(const char *library, char *text);

#endif
