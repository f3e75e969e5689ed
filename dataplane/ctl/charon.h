/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file charon.h
 * What charon knows of the SAs in the SAD: the names of their connections and CHILD_SAs.
 */
#ifndef CYGNETCTL_CHARON_H
#define CYGNETCTL_CHARON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cygnet.h"

/**
 * The CHILD_SAs that have SAs, by direction, SPI and, of outbound SAs, whose SPI the peer has chosen, destination.
 * @param socket  of vici
 * @param wait    for an IKE_SA that charon is working on; else the CHILD_SAs of such ones are left out
 * @return an object for charon_child(), whose values have "ike" and "child" (names in swanctl.conf), "ike_id" and
 *	   "child_id" (numbers, as swanctl --list-sas has them) and "remote_id"; NULL with the reason in error
 */
json_t *charon_children(const char *socket, bool wait, char *error, size_t size);
/** Add those of a message of list-sas to such an object. @return 0, or what is not 0: no memory */
int charon_add(void *index, json_t *message);
/** The CHILD_SA of an SA. @param children  may be NULL. @return NULL: charon did not have it */
json_t *charon_child(const json_t *children, bool inbound, uint32_t spi, uint8_t af,
		     const struct cygnet_addr *dst);

#endif
