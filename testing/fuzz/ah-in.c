/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inbound AH: the input is the content in front of AH (IPv4 options, or an IPv6 extension header) and behind it;
 * the ICV is valid. Tunnel and transport mode, outer IPv4 and IPv6.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/sadb.h"
#include "esp/ah_mutable.h"
#include "gateway.h"

#define SPI	  0x5000u
#define ICV	  16u
#define HEADER	  (12u + ICV)
#define MOST	  1300u
#define V6	  1u
#define TRANSPORT 2u
#define DAMAGED	  4u

static const uint8_t key[32] = "the key of the peer and its host";
static const uint8_t us6[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};
static const uint8_t them6[16] = {0x20, 1, 0xd, 0xb8, [15] = 2};

static void add_sa(unsigned int kind)
{
	struct cygnet_sa_params p = {
		.id = {.spi = htonl(SPI + kind), .proto = IPPROTO_AH},
		.flags = CYGNET_SA_INBOUND,
		.reqid = 50 + kind,
		.mode = kind & TRANSPORT ? CYGNET_TRANSPORT : CYGNET_TUNNEL,
		.cipher = CYGNET_CIPHER_NULL,
		.auth = CYGNET_AUTH_HMAC_SHA256,
		.icv_len = ICV,
		.auth_key_len = sizeof(key),
		.replay_window = 64,
	};

	if (kind & V6) {
		memcpy(&p.path.src, them6, sizeof(them6));
		memcpy(&p.path.dst, us6, sizeof(us6));
	} else {
		p.path.src = cygnet_addr4(htonl(0xc0000202));
		p.path.dst = cygnet_addr4(htonl(0xc0000201));
	}
	p.path.af = p.id.af = kind & V6 ? AF_INET6 : AF_INET;
	p.id.dst = p.path.dst;
	memcpy(p.auth_key, key, sizeof(key));
	if (cygnet_sa_add(sadb, &p))
		abort();
}

void fuzz_set_up(void)
{
	for (unsigned int kind = 0; kind < 4; kind++)
		add_sa(kind);
	fuzz_policies(FUZZ_AH, fuzz_sa(SPI), NULL);
}

/* The headers in front of AH, with options from the input. @return their length */
static unsigned int front4(struct input *in, uint8_t *ip)
{
	unsigned int words = input_byte(in) % 11;

	peer_ip(ip, input_byte(in), 0, 7, 0, IPPROTO_AH);
	memset(ip + 20, 1, 4 * words);
	input_bytes(in, ip + 20, 4 * words);
	ip[0] = (uint8_t)(0x45 + words);
	return 20 + 4 * words;
}

static unsigned int front6(struct input *in, uint8_t *ip)
{
	unsigned int units = input_byte(in) % 5, len = 40 + 8 * units;

	memset(ip, 0, len);
	ip[0] = 0x60;
	ip[6] = IPPROTO_AH;
	ip[7] = 64;
	memcpy(ip + 8, them6, 16);
	memcpy(ip + 24, us6, 16);
	if (units) {
		ip[6] = input_byte(in);
		ip[40] = IPPROTO_AH;
		ip[41] = (uint8_t)(units - 1);
		input_bytes(in, ip + 42, 8 * units - 2);
	}
	return len;
}

static void finish_lengths(uint8_t *ip, unsigned int front, unsigned int len)
{
	uint16_t total = htons((uint16_t)(len - (ip[0] >> 4 == 6 ? 40 : 0))), sum;

	if (ip[0] >> 4 == 6) {
		memcpy(ip + 4, &total, sizeof(total));
		return;
	}
	memcpy(ip + 2, &total, sizeof(total));
	memset(ip + 10, 0, 2);
	sum = peer_checksum(ip, front);
	memcpy(ip + 10, &sum, sizeof(sum));
}

/* If AH refuses the headers in front of it, no valid ICV can be computed. */
static void write_icv(uint8_t *ip, unsigned int front, unsigned int len)
{
	uint8_t copy[GATEWAY_FRAME], icv[64];
	size_t n;

	memcpy(copy, ip, len);
	if (!ah_mutable_clear(copy, front))
		return;
	if (!EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, sizeof(key), copy, len, icv,
		       sizeof(icv), &n))
		abort();
	memcpy(ip + front + 12, icv, ICV);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t seq;
	struct input in = {data, size};
	uint8_t choice = input_byte(&in), ip[GATEWAY_FRAME];
	unsigned int front = (choice & V6 ? front6 : front4)(&in, ip), len, ah = HEADER;
	const uint32_t ids[2] = {htonl(SPI + (choice & (V6 | TRANSPORT))), htonl(++seq)};

	if (choice & V6)
		ah = (ah + 7) & ~7u;
	memset(ip + front, 0, ah);
	ip[front] = input_byte(&in);
	ip[front + 1] = (uint8_t)(ah / 4 - 2);
	memcpy(ip + front + 4, ids, sizeof(ids));
	len = front + ah;
	len += (unsigned int)input_bytes(&in, ip + len, MOST);
	finish_lengths(ip, front, len);
	write_icv(ip, front, len);
	if (choice & DAMAGED)
		ip[front + 1] ^= choice;
	fuzz_packet(ip, len, GATEWAY_WAN);
	fuzz_settle(FUZZ_AH);
	return 0;
}
