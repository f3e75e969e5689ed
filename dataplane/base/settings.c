/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/settings.h"

uint32_t settings_word;
