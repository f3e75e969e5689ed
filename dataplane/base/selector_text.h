/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file selector_text.h
 * Policies, their selectors and the parts of these, and SPIs, as text. What cygnetctl shows and what cygnetd says have it from
 * here.
 */
#ifndef CYGNETD_SELECTOR_TEXT_H
#define CYGNETD_SELECTOR_TEXT_H

#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>

#include "cygnet.h"

/** Room for two addresses, bytes. */
#define RANGE_TEXT (2 * INET6_ADDRSTRLEN + 2)
/** Room for a selector, bytes. */
#define SELECTOR_TEXT 320
/** Room for an SPI, bytes. */
#define SPI_TEXT 11

/** "in", "out" or "fwd"; "?" if it is none. @param dir  enum cygnet_dir */
const char *policy_dir_text(uint8_t dir);
/** "protect", "bypass" or "discard"; "?" if it is none. @param action  enum cygnet_action */
const char *policy_action_text(uint8_t action);
/** "0xc0000001". @param spi  network byte order. @param text  receives it, SPI_TEXT bytes. @return text */
const char *spi_text(uint32_t spi, char *text);
/** @param text  receives it, INET6_ADDRSTRLEN bytes. @return text */
const char *addr_text(uint8_t af, const struct cygnet_addr *addr, char *text);
/** A name, or a number, which text receives. */
const char *proto_text(uint8_t proto, char *text, size_t size);
/** "10.1.0.0/16", or "10.1.0.1-10.1.0.9". @param text  receives it, RANGE_TEXT bytes. @return text */
const char *range_text(uint8_t af, const struct cygnet_addr *lo, const struct cygnet_addr *hi,
		       char *text);
/** "any", "80" or "1-1023". */
const char *ports_text(uint16_t lo, uint16_t hi, char *text, size_t size);
#define INTERFACE_TEXT 24
/** Name of the interface that a policy is bound to, or "any"; its number in hexadecimal if there is none; "if_id 42".
 * @param all  the interfaces of this host; NULL: not known */
const char *interface_text(const struct if_nameindex *all, const struct cygnet_selector *sel,
			   char text[INTERFACE_TEXT]);
/** "10.1.0.0/16 === 10.2.0.0/16 tcp any 80 dev wan". @param interfaces  as above */
void selector_text(const struct cygnet_policy *policy, const struct if_nameindex *interfaces,
		   char *text, size_t size);

#endif
