/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ICMP errors that quote a packet: to this gateway about what its SAs have sent, and through a tunnel. The
 * input changes a valid quotation.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "gateway.h"

#define QUOTE	  128u
#define V6	  1u
#define IN_TUNNEL 2u
#define FROM_LAN  4u
#define SHORT	  8u

void fuzz_set_up(void)
{
}

static uint16_t checksum6(const uint8_t *ip, unsigned int len)
{
	uint8_t pseudo[40 + 8 + 8 + QUOTE + 2] = {0};

	memcpy(pseudo, ip + 8, 32);
	pseudo[34] = (uint8_t)((len - 40) >> 8);
	pseudo[35] = (uint8_t)(len - 40);
	pseudo[39] = IPPROTO_ICMPV6;
	memcpy(pseudo + 40, ip + 40, len - 40);
	return peer_checksum(pseudo, len + (len & 1));
}

/* The outer packet that an error quotes, with the SA's last number. @return its length */
static unsigned int quote(uint8_t *ip, const struct tunnel *t)
{
	const struct cygnet_path *path = cygnet_sa_path(t->out);
	unsigned int front = t->v6 ? 40 : 20;
	uint32_t ids[] = {t->out->spi, 0};

	if (!t->out->seq)
		t->out->seq = 1;
	ids[1] = htonl((uint32_t)t->out->seq);
	memset(ip, 0, QUOTE);
	if (t->v6) {
		ip[0] = 0x60;
		ip[4] = 5;
		ip[6] = IPPROTO_ESP;
		memcpy(ip + 8, &path->src, 16);
		memcpy(ip + 24, &path->dst, 16);
	} else {
		peer_ip(ip, 0, 1400, 1, 0, IPPROTO_ESP);
		memcpy(ip + 12, &path->src, 4);
		memcpy(ip + 16, &path->dst, 4);
	}
	memcpy(ip + front, ids, sizeof(ids));
	return QUOTE;
}

static unsigned int error(struct input *in, uint8_t choice, uint8_t *ip)
{
	static const uint8_t own4[] = {192, 0, 2, 1}, own6[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};
	bool v6 = choice & V6;
	unsigned int front = v6 ? 40 : 20, len = front + 8 + QUOTE, lan = choice & FROM_LAN;
	uint8_t *icmp = ip + front;
	uint16_t sum;

	if (choice & SHORT)
		len -= input_byte(in) % QUOTE;
	gateway_packet(ip, lan ? 1 : 2, lan ? 2 : 1, v6, len, 1, 64);
	if (!(choice & (IN_TUNNEL | FROM_LAN)))
		memcpy(ip + (v6 ? 24 : 16), v6 ? own6 : own4, v6 ? 16 : 4);
	ip[v6 ? 6 : 9] = v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	memcpy(icmp, v6 ? "\2\0\0\0\0\0\5\14" : "\3\4\0\0\0\0\5\14", 8);
	if (choice & (IN_TUNNEL | FROM_LAN))
		gateway_packet(icmp + 8, lan ? 2 : 1, lan ? 1 : 2, v6, QUOTE, 1, 64);
	else
		quote(icmp + 8, v6 ? &fuzz_cbc : &fuzz_gcm);
	input_change(in, icmp, len - front);
	icmp[2] = icmp[3] = 0;
	icmp[len - front] = 0;
	sum = v6 ? checksum6(ip, len) : peer_checksum(icmp, (len - front + 1) & ~1u);
	memcpy(icmp + 2, &sum, sizeof(sum));
	if (!v6) {
		memset(ip + 10, 0, 2);
		sum = peer_checksum(ip, 20);
		memcpy(ip + 10, &sum, sizeof(sum));
	}
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t seq;
	struct input in = {data, size};
	uint8_t choice = input_byte(&in), ip[GATEWAY_FRAME], text[GATEWAY_FRAME];
	bool tunnel = choice & IN_TUNNEL && !(choice & FROM_LAN);
	unsigned int len = error(&in, choice, ip);

	memset(fuzz_worker->too_big, 0, sizeof(fuzz_worker->too_big));
	memset(fuzz_worker->icmp, 0, sizeof(fuzz_worker->icmp));
	if (tunnel) {
		memcpy(text, ip, len);
		len = peer_trailer(text, len, peer_padding(&esp_gcm, len),
				   choice & V6 ? IPPROTO_IPV6 : IPPROTO_IPIP);
		len = gateway_seal(ip, &fuzz_gcm, ++seq, text, len);
	}
	fuzz_packet(ip, len, choice & FROM_LAN ? GATEWAY_LAN : GATEWAY_WAN);
	fuzz_settle(tunnel ? FUZZ_GCM : 0);
	return 0;
}
