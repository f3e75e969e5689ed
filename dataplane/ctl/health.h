/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file health.h
 * cygnetctl health: the state of the gateway in one line, for load balancers and Nagios.
 */
#ifndef CYGNETCTL_HEALTH_H
#define CYGNETCTL_HEALTH_H

#include "judge.h"
#include "options.h"

/**
 * Ask cygnetd and judge its answers.
 * @param reason  receives one line
 * @param size    of reason, bytes
 */
enum judgement health_ask(const struct options *options, char *reason, size_t size);
/** Print the reason. @return exit status, an enum judgement */
int health(const struct options *options, int argc, char **argv);

#endif
