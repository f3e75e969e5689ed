/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @file fixture.h
 * An SA and a policy with the parameters that charon passes to the plugin.
 * Tests change single parameters.
 */

#ifndef FIXTURE_H_
#define FIXTURE_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <library.h>
#include <kernel/kernel_ipsec.h>

#define MOON "192.0.2.1"
#define SUN "192.0.2.2"
#define MOON_NET "10.1.0.0/16"
#define SUN_NET "10.2.0.0/16"

/** A supported SA: AES-CBC-128 with HMAC-SHA2-256-128, tunnel mode */
typedef struct {
	u_char enc_key[64], int_key[64];
	lifetime_cfg_t lifetime;
	kernel_ipsec_sa_id_t id;
	kernel_ipsec_add_sa_t data;
} fixture_sa_t;

/** A supported policy: outbound, for such an SA */
typedef struct {
	ipsec_sa_cfg_t sa;
	kernel_ipsec_policy_id_t id;
	kernel_ipsec_manage_policy_t data;
} fixture_policy_t;

/**
 * Fill in an SA from MOON to SUN
 */
void fixture_sa_init(fixture_sa_t *this);

/**
 * Free the members of an SA
 */
void fixture_sa_deinit(fixture_sa_t *this);

/**
 * Fill in a policy from MOON_NET to SUN_NET
 */
void fixture_policy_init(fixture_policy_t *this);

/**
 * Replace the traffic selectors: networks, protocol and ports
 */
void fixture_policy_select(fixture_policy_t *this, char *src, char *dst,
						   uint8_t proto, uint16_t from, uint16_t to);

/**
 * Free the members of a policy
 */
void fixture_policy_deinit(fixture_policy_t *this);

#endif /** FIXTURE_H_ */
