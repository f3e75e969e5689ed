/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stats.h"

struct stats stats[CONF_MAX_WORKERS];
uint64_t stats_stages_asked;
