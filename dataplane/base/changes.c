/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/changes.h"

uint64_t changes_count, changes_general_count;
