/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file neigh_asked.h
 * Neighbours that the kernel has asked for lately, by ARP or neighbour discovery: those in use, which it confirms
 * about once a minute. A host that only sends is none. Workers; lock-free.
 */
#ifndef CYGNETD_NEIGH_ASKED_H
#define CYGNETD_NEIGH_ASKED_H

#include "host/neigh.h"

/** Places for neighbours, by a keyed hash. A neighbour replaces another one that has its place. */
#define NEIGH_ASKED 1024u

/** The kernel asks for a neighbour. @param n  macvlan is 0 */
void neigh_asked_note(const struct neigh *n);
/** Whether the kernel has asked for a neighbour in the last two minutes. @param place  receives its place */
bool neigh_asked(const struct neigh *n, unsigned int *place);

#endif
