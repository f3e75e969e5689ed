/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/settings.h"

uint32_t settings_word;
uint32_t settings_police[POLICE_CLASSES];
