/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file waiting.h
 * How long packets wait in a queue pair until they are launched, and how many it takes.
 */
#ifndef WAITING_H
#define WAITING_H

#include <stdbool.h>

/** @param two  whether there is another CPU for the launching thread */
void waiting(bool two);

#endif
