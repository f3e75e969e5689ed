/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file configure.h
 * The configuration of this process: read at the start, and again by SIGHUP. Control thread only.
 */
#ifndef CYGNETD_CONFIGURE_H
#define CYGNETD_CONFIGURE_H

#include "conf/conf.h"

/** Read the configuration. @return 0 or -errno; each error is logged */
int configuration_read(struct conf *conf, const char *path);
/** Put the keys that a reload can change in force. */
void configuration_apply(const struct conf *conf);
/** Warn of a valid configuration by which packets are dropped unexpectedly. Control thread only. */
void configuration_warn(const struct conf *conf);
/**
 * Read the file of a running configuration again and apply what can change while cygnetd runs. Each applied
 * key is logged, and each key that needs a restart. If the file has an error, nothing changes. Returns when
 * every worker has seen the changes. Under control_lock().
 * @param conf  the configuration in force; receives what has been applied
 */
void configuration_reload(struct conf *conf);

#endif
