/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path/worker/worker.h"

struct worker workers[CONF_MAX_WORKERS];
