/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file bundle.h
 * cygnetctl bundle: an archive with the state of a gateway for support, without keys.
 */
#ifndef CYGNETCTL_BUNDLE_H
#define CYGNETCTL_BUNDLE_H

#include "options.h"

/** @return exit status, or COMMAND_USAGE */
int bundle(const struct options *options, int argc, char **argv);

#endif
