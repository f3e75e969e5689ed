/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file settings.h
 * Keys of cygnetd.conf that a reload changes for running lcores, in one word, so that no lcore sees
 * some keys of one configuration and some of another.
 */
#ifndef CYGNETD_SETTINGS_H
#define CYGNETD_SETTINGS_H

#include <stdint.h>

#include "base/changes.h"
#include "conf/conf.h"

#define SETTING_IDLE_SLEEP     1u
#define SETTING_DROP_NO_POLICY 2u
#define SETTING_PASS_HAIRPIN   4u
#define SETTING_APPROVED       8u
#define SETTING_PASS_NO_POLICY 16u
#define SETTING_AUDIT	       32u
#define SETTING_BALANCE	       64u
#define SETTING_DHCP	       128u

extern uint32_t settings_word;
/** Packets a second, by class; atomic. A worker that sees some of one configuration and some of another
 * takes them over again at the change that follows. */
extern uint32_t settings_police[POLICE_CLASSES];

/** The settings. Any thread; an lcore that caches them or decisions made from them reads changes_seen()
 * first, and reads them again when that has changed. */
static inline uint32_t settings_now(void)
{
	return __atomic_load_n(&settings_word, __ATOMIC_RELAXED);
}

/** Publish the settings of a configuration. Control thread only. */
static inline void settings_publish(const struct conf *conf)
{
	uint32_t word = (conf->idle_sleep ? SETTING_IDLE_SLEEP : 0) |
			(conf->no_policy == NO_POLICY_DROP ? SETTING_DROP_NO_POLICY : 0) |
			(conf->no_policy == NO_POLICY_PASS ? SETTING_PASS_NO_POLICY : 0) |
			(conf->pass_hairpin ? SETTING_PASS_HAIRPIN : 0) |
			(conf->approved ? SETTING_APPROVED : 0) |
			(conf->audit ? SETTING_AUDIT : 0) | (conf->balance ? SETTING_BALANCE : 0) |
			(conf->dhcp ? SETTING_DHCP : 0);

	for (unsigned int c = 0; c < POLICE_CLASSES; c++)
		__atomic_store_n(&settings_police[c], conf->police[c], __ATOMIC_RELAXED);
	__atomic_store_n(&settings_word, word, __ATOMIC_RELAXED);
	changes_note();
}

#endif
