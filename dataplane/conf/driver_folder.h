/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file driver_folder.h
 * Where Cygnet's DPDK drivers are installed.
 */
#ifndef CYGNETD_DRIVER_FOLDER_H
#define CYGNETD_DRIVER_FOLDER_H

/** Absolute; not DPDK's own folder, from which every program that uses DPDK would load them. */
extern const char driver_folder[];

#endif
