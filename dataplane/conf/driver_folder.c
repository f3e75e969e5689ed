/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "conf/driver_folder.h"

const char driver_folder[] = CYGNET_DRIVERS;
