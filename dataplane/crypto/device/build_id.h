/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file build_id.h
 * Which build of a program or library is loaded: what the linker has noted in it
 * (NT_GNU_BUILD_ID), a digest of all of it; else its size and the time of its last change.
 */
#ifndef CYGNETD_BUILD_ID_H
#define CYGNETD_BUILD_ID_H

/** Bytes of the text, with the end. */
#define BUILD_ID 40u

/** That in which an address lies. @param[out] text  of BUILD_ID bytes; empty if there is none */
void build_id_at(const void *address, char *text);
/** The first whose file's name begins so: "libcrypto.so". */
void build_id_of(const char *library, char *text);

#endif
