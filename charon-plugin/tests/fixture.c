/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fixture.h"

void fixture_sa_init(fixture_sa_t *this)
{
	memset(this, 0, sizeof(*this));
	memset(this->enc_key, 0xe1, sizeof(this->enc_key));
	memset(this->int_key, 0xa2, sizeof(this->int_key));
	this->lifetime.time.rekey = 3300;
	this->lifetime.time.life = 3960;
	this->lifetime.bytes.rekey = 1000;
	this->lifetime.bytes.life = 2000;
	this->lifetime.packets.rekey = 10;
	this->lifetime.packets.life = 20;
	this->id.src = host_create_from_string(MOON, 4500);
	this->id.dst = host_create_from_string(SUN, 1024);
	this->id.spi = htonl(0xc0000123);
	this->id.proto = IPPROTO_ESP;
	this->data.reqid = 7;
	this->data.mode = MODE_TUNNEL;
	this->data.src_ts = linked_list_create_with_items(
			traffic_selector_create_from_cidr(MOON_NET, 0, 0, 65535), NULL);
	this->data.dst_ts = linked_list_create_with_items(
			traffic_selector_create_from_cidr(SUN_NET, 0, 0, 65535), NULL);
	this->data.lifetime = &this->lifetime;
	this->data.enc_alg = ENCR_AES_CBC;
	this->data.enc_key = chunk_create(this->enc_key, 16);
	this->data.int_alg = AUTH_HMAC_SHA2_256_128;
	this->data.int_key = chunk_create(this->int_key, 32);
	this->data.replay_window = 32;
#if STRONGSWAN_RELEASE >= 60002
	this->data.cpu = CPU_ID_MAX;
#endif
}

void fixture_sa_deinit(fixture_sa_t *this)
{
	size_t offset = offsetof(traffic_selector_t, destroy);

	DESTROY_IF(this->id.src);
	DESTROY_IF(this->id.dst);
	this->data.src_ts->destroy_offset(this->data.src_ts, offset);
	this->data.dst_ts->destroy_offset(this->data.dst_ts, offset);
}

void fixture_policy_init(fixture_policy_t *this)
{
	memset(this, 0, sizeof(*this));
	this->sa.mode = MODE_TUNNEL;
	this->sa.reqid = 7;
	this->sa.esp.use = TRUE;
	this->sa.esp.spi = htonl(0xc0000123);
	this->id.dir = POLICY_OUT;
	this->data.type = POLICY_IPSEC;
	this->data.prio = POLICY_PRIORITY_DEFAULT;
	this->data.src = host_create_from_string(MOON, 500);
	this->data.dst = host_create_from_string(SUN, 500);
	this->data.sa = &this->sa;
	fixture_policy_select(this, MOON_NET, SUN_NET, 0, 0, 65535);
}

void fixture_policy_select(fixture_policy_t *this, char *src, char *dst,
						   uint8_t proto, uint16_t from, uint16_t to)
{
	DESTROY_IF(this->id.src_ts);
	DESTROY_IF(this->id.dst_ts);
	this->id.src_ts = traffic_selector_create_from_cidr(src, proto, 0, 65535);
	this->id.dst_ts = traffic_selector_create_from_cidr(dst, proto, from, to);
	assert_non_null(this->id.src_ts);
	assert_non_null(this->id.dst_ts);
}

void fixture_policy_deinit(fixture_policy_t *this)
{
	DESTROY_IF(this->id.src_ts);
	DESTROY_IF(this->id.dst_ts);
	DESTROY_IF(this->data.src);
	DESTROY_IF(this->data.dst);
}
