/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AH compared with OpenSSL: outbound packets have the ICV of RFC 4302, inbound packets are
 * accepted with it only, and mutable fields are those of its appendix A. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "esp/ah_mutable.h"
#include "esp_fixture.h"

#define ROOM	2048u
#define AT_MOST (ROOM - 200)

struct algorithm_of_ah {
	const char *name, *mac, *digest;		/* names in OpenSSL; no mac: AES-XCBC */
	uint8_t cipher, auth, key_len, iv_len, icv_len; /* lengths in bytes */
};

static const struct algorithm_of_ah algorithms_of_ah[] = {
	{"md5", "HMAC", "MD5", CYGNET_CIPHER_NULL, CYGNET_AUTH_HMAC_MD5, 16, 0, 12},
	{"sha1", "HMAC", "SHA1", CYGNET_CIPHER_NULL, CYGNET_AUTH_HMAC_SHA1, 20, 0, 12},
	{"sha256", "HMAC", "SHA256", CYGNET_CIPHER_NULL, CYGNET_AUTH_HMAC_SHA256, 32, 0, 16},
	{"sha384", "HMAC", "SHA384", CYGNET_CIPHER_NULL, CYGNET_AUTH_HMAC_SHA384, 48, 0, 24},
	{"sha512", "HMAC", "SHA512", CYGNET_CIPHER_NULL, CYGNET_AUTH_HMAC_SHA512, 64, 0, 32},
	{"xcbc", NULL, NULL, CYGNET_CIPHER_NULL, CYGNET_AUTH_AES_XCBC, 16, 0, 12},
	{"cmac", "CMAC", "AES-128-CBC", CYGNET_CIPHER_NULL, CYGNET_AUTH_AES_CMAC, 16, 0, 12},
	{"gmac128", "GMAC", "AES-128-GCM", CYGNET_CIPHER_AES_GMAC, 0, 16, 8, 16},
	{"gmac192", "GMAC", "AES-192-GCM", CYGNET_CIPHER_AES_GMAC, 0, 24, 8, 16},
	{"gmac256", "GMAC", "AES-256-GCM", CYGNET_CIPHER_AES_GMAC, 0, 32, 8, 16},
};

/* One SA and its keys as the peer has them. */
struct ah_sa {
	struct esp_sa e;
	const struct algorithm_of_ah *algorithm;
	uint8_t key[64 + 4];
	bool inbound, esn, transport, v6;
};

/* --- the peer --- */

static void aes_block(const uint8_t key[16], const uint8_t in[16], uint8_t out[16])
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n;

	assert_int_equal(EVP_EncryptInit_ex(ctx, EVP_aes_128_ecb(), NULL, key, NULL), 1);
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	assert_int_equal(EVP_EncryptUpdate(ctx, out, &n, in, 16), 1);
	EVP_CIPHER_CTX_free(ctx);
}

/* RFC 3566, 4 */
static void xcbc(const uint8_t key[16], const uint8_t *data, size_t len, uint8_t out[16])
{
	uint8_t derived[3][16], last[16] = {0};
	size_t cut = (len - 1) / 16 * 16;

	for (uint8_t k = 0; k < 3; k++) {
		memset(last, k + 1, sizeof(last));
		aes_block(key, last, derived[k]);
	}
	memset(last, 0, sizeof(last));
	memcpy(last, data + cut, len - cut);
	if (len - cut < 16)
		last[len - cut] = 0x80;
	memset(out, 0, 16);
	for (size_t offset = 0; offset <= cut; offset += 16) {
		for (unsigned int i = 0; i < 16; i++)
			out[i] ^= offset < cut ? data[offset + i]
					       : last[i] ^ derived[len - cut < 16 ? 2 : 1][i];
		aes_block(derived[0], out, out);
	}
}

static void mac(const struct ah_sa *a, const uint8_t iv[8], const uint8_t *data, size_t len,
		uint8_t out[64])
{
	const struct algorithm_of_ah *algorithm = a->algorithm;
	OSSL_PARAM params[2] = {OSSL_PARAM_END, OSSL_PARAM_END};
	uint8_t nonce[12];
	size_t n;

	if (!algorithm->mac) {
		xcbc(a->key, data, len, out);
		return;
	}
	if (algorithm->iv_len) {
		memcpy(nonce, a->key + algorithm->key_len, 4);
		memcpy(nonce + 4, iv, 8);
		params[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, nonce,
							      sizeof(nonce));
	}
	assert_non_null(EVP_Q_mac(NULL, algorithm->mac, NULL, algorithm->digest, params, a->key,
				  algorithm->key_len, data, len, out, 64, &n));
}

static unsigned int ip_len(const struct ah_sa *a)
{
	return a->v6 ? 40 : 20;
}

static unsigned int ah_size(const struct ah_sa *a)
{
	unsigned int size = 12u + a->algorithm->iv_len + a->algorithm->icv_len;

	return a->v6 ? (size + 7) & ~7u : (size + 3) & ~3u;
}

/* The ICV of a packet without options or extension headers (RFC 4302, 3.3.3). */
static void icv_of(const struct ah_sa *a, const uint8_t *wire, unsigned int len, uint64_t seq,
		   uint8_t icv[64])
{
	unsigned int front = ip_len(a), clear = a->algorithm->iv_len + a->algorithm->icv_len;
	const uint32_t high = htonl((uint32_t)(seq >> 32));
	uint8_t data[ROOM + 4];

	memcpy(data, wire, len);
	memset(data + front + 12, 0, clear);
	if (a->v6) {
		memcpy(data, "\x60\0\0\0", 4);
		data[7] = 0;
	} else {
		data[1] = data[6] = data[7] = data[8] = data[10] = data[11] = 0;
	}
	memcpy(data + len, &high, 4);
	mac(a, wire + front + 12, data, len + (a->esn ? 4 : 0), icv);
}

static void write_ip(const struct ah_sa *a, uint8_t *wire, unsigned int len, uint8_t proto)
{
	uint8_t ip6[40] =
		{0x6b, 0x8a, 0xbc, 0xde, (uint8_t)((len - 40) >> 8), (uint8_t)(len - 40), proto, 61,
		 0x20, 1,    0x0d, 0xb8};

	if (!a->v6) {
		peer_ip(wire, 0xb8, (uint16_t)len, 4711, 0x4000, proto);
		return;
	}
	ip6[23] = 2;
	memcpy(ip6 + 24, ip6 + 8, 16);
	ip6[39] = 1;
	memcpy(wire, ip6, sizeof(ip6));
}

/* An AH packet from the peer. @param next  what payload is. @return its length */
static unsigned int seal(const struct ah_sa *a, uint64_t seq, uint8_t next, const uint8_t *payload,
			 unsigned int len, uint8_t *wire)
{
	unsigned int front = ip_len(a), total = front + ah_size(a) + len;
	const uint32_t ids[2] = {htonl(ESP_SPI), htonl((uint32_t)seq)};
	uint8_t icv[64];

	write_ip(a, wire, total, IPPROTO_AH);
	memset(wire + front, 0, ah_size(a));
	wire[front] = next;
	wire[front + 1] = (uint8_t)(ah_size(a) / 4 - 2);
	memcpy(wire + front + 4, ids, sizeof(ids));
	memcpy(wire + front + ah_size(a), payload, len);
	if (a->algorithm->iv_len)
		memcpy(wire + front + 12, "an IV...", 8);
	icv_of(a, wire, total, seq, icv);
	memcpy(wire + front + 12 + a->algorithm->iv_len, icv, a->algorithm->icv_len);
	return total;
}

/* --- this gateway --- */

static struct cygnet_sa_params params_of(const struct ah_sa *a)
{
	const struct algorithm_of_ah *algorithm = a->algorithm;
	struct cygnet_sa_params p = {
		.id = {.spi = htonl(ESP_SPI), .proto = IPPROTO_AH, .af = AF_INET},
		.flags = (a->inbound ? CYGNET_SA_INBOUND : 0) | (a->esn ? CYGNET_SA_ESN : 0),
		.mode = a->transport ? CYGNET_TRANSPORT : CYGNET_TUNNEL,
		.cipher = algorithm->cipher,
		.auth = algorithm->auth,
		.icv_len = algorithm->icv_len,
		.replay_window = a->inbound ? 64 : 0,
	};
	uint8_t wire[40];

	write_ip(a, wire, 100, 0);
	if (a->v6) {
		p.id.af = AF_INET6;
		memcpy(&p.path.src, wire + 8, 16);
		memcpy(&p.path.dst, wire + 24, 16);
	} else {
		memcpy(&p.path.src.v4, wire + 12, 4);
		memcpy(&p.path.dst.v4, wire + 16, 4);
	}
	p.path.af = p.id.af;
	p.id.dst = p.path.dst;
	if (algorithm->iv_len) {
		p.cipher_key_len = algorithm->key_len;
		p.salt_len = 4;
		memcpy(p.cipher_key, a->key, algorithm->key_len + 4u);
	} else {
		p.auth_key_len = algorithm->key_len;
		memcpy(p.auth_key, a->key, algorithm->key_len);
	}
	return p;
}

static bool add(struct ah_sa *a, unsigned int device)
{
	struct cygnet_sa_params p;

	for (unsigned int i = 0; i < sizeof(a->key); i++)
		a->key[i] = (uint8_t)(11 * i + a->algorithm->icv_len);
	p = params_of(a);
	return esp_sa_add_params(&a->e, &p, device);
}

/* The first device that supports the algorithm. */
static void add_any(struct ah_sa *a)
{
	for (unsigned int d = 0; !add(a, d); d++)
		assert_true(d + 1 < esp_devices);
}

/* Every algorithm on every device that has it, in both modes and families, with and without ESN. */
static void each(bool inbound, void (*check)(struct ah_sa *a))
{
	for (unsigned int i = 0; i < RTE_DIM(algorithms_of_ah); i++) {
		unsigned int served = 0;

		for (unsigned int o = 0; o < 8 * esp_devices; o++) {
			struct ah_sa a = {
				.algorithm = &algorithms_of_ah[i],
				.inbound = inbound,
				.esn = o & 1,
				.transport = o & 2,
				.v6 = o & 4,
			};

			if (!add(&a, o / 8))
				continue;
			served++;
			check(&a);
			esp_sa_delete(&a.e);
		}
		if (served < 8)
			fail_msg("no device serves %s", algorithms_of_ah[i].name);
	}
}

/* A valid packet. In transport mode between the hosts of the SA. */
static void plain(const struct ah_sa *a, uint8_t *packet, unsigned int len)
{
	if (a->transport)
		write_ip(a, packet, len, IPPROTO_UDP);
	else
		peer_ip(packet, 0x28, (uint16_t)len, 7, 0, IPPROTO_UDP);
	for (unsigned int i = a->transport ? ip_len(a) : 20; i < len; i++)
		packet[i] = (uint8_t)(i * 7 + len);
}

static unsigned int room_in_front(const struct ah_sa *a)
{
	return ah_size(a) + (a->transport ? 0 : ip_len(a));
}

static unsigned int room_behind(const struct ah_sa *a)
{
	return a->algorithm->icv_len + (a->esn ? 4u : 0) + ip_len(a);
}

static void send_one(struct ah_sa *a, unsigned int len, uint64_t seq)
{
	unsigned int kept = a->transport ? ip_len(a) : 0, front = ip_len(a);
	unsigned int total = front + ah_size(a) + len - kept, clear = a->algorithm->iv_len;
	uint8_t packet_in[ROOM], icv[64];
	struct rte_mbuf *m;
	const uint8_t *wire;

	plain(a, packet_in, len);
	m = esp_packet(packet_in, len, room_in_front(a), room_behind(a));
	assert_int_equal(esp_out_size(a->e.session, cygnet_sa_path(a->e.sa),
				      esp_out_kept(m, a->e.session), len),
			 total);
	assert_true(esp_out_mtu(a->e.session, cygnet_sa_path(a->e.sa), kept, total) == len);
	assert_int_equal(esp_protect(&a->e, m, seq), DROP_NONE);
	assert_int_equal(rte_pktmbuf_data_len(m), total);
	wire = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(wire[a->v6 ? 6 : 9], IPPROTO_AH);
	assert_int_equal(wire[front], a->transport ? IPPROTO_UDP : IPPROTO_IPIP);
	assert_int_equal(wire[front + 1], ah_size(a) / 4 - 2);
	icv_of(a, wire, total, seq, icv);
	assert_memory_equal(wire + front + 12 + clear, icv, a->algorithm->icv_len);
	assert_memory_equal(wire + front + ah_size(a), packet_in + kept, len - kept);
	/* The mutable fields have been restored. */
	if (a->transport && !a->v6)
		assert_memory_equal(wire + 4, packet_in + 4, 5);
	if (a->v6 && a->transport)
		assert_true(!memcmp(wire, packet_in, 4) && wire[7] == packet_in[7]);
	else if (!a->v6)
		assert_int_equal(peer_checksum(wire, 20), 0);
	rte_pktmbuf_free(m);
}

static void send_all(struct ah_sa *a)
{
	static const unsigned int more[] = {576, 1280, 1499, 1500, AT_MOST};

	for (unsigned int len = 40; len < 40 + 20; len++)
		send_one(a, len, len);
	for (unsigned int i = 0; i < RTE_DIM(more); i++)
		send_one(a, more[i], a->esn ? 0x123456789abull + i : 1);
}

static void outbound(void **state)
{
	(void)state;
	each(false, send_all);
}

static struct rte_mbuf *received(const struct ah_sa *a, const uint8_t *wire, unsigned int len,
				 uint64_t seq)
{
	struct rte_mbuf *m = esp_packet(wire, len, ip_len(a), room_behind(a));

	packet(m)->esp = (uint16_t)ip_len(a);
	packet(m)->seq = seq;
	return m;
}

static void take_one(struct ah_sa *a, unsigned int len, uint64_t seq)
{
	unsigned int kept = a->transport ? ip_len(a) : 0, total;
	uint8_t want[ROOM], wire[ROOM];
	struct rte_mbuf *m;

	plain(a, want, len);
	total = seal(a, seq, a->transport ? IPPROTO_UDP : IPPROTO_IPIP, want + kept, len - kept,
		     wire);
	m = received(a, wire, total, seq);
	assert_int_equal(esp_unprotect(&a->e, m), DROP_NONE);
	assert_int_equal(rte_pktmbuf_data_len(m), len);
	assert_memory_equal(rte_pktmbuf_mtod(m, const uint8_t *), want, len);
	rte_pktmbuf_free(m);
}

static void take_all(struct ah_sa *a)
{
	static const unsigned int more[] = {576, 1280, 1499, 1500, AT_MOST};

	for (unsigned int len = 40; len < 40 + 20; len++)
		take_one(a, len, len);
	for (unsigned int i = 0; i < RTE_DIM(more); i++)
		take_one(a, more[i], a->esn ? 0x123456789abull + i : 1);
}

static void inbound(void **state)
{
	(void)state;
	each(true, take_all);
}

/* Packets of alternating families in one session. */
static void moving(struct ah_sa *a)
{
	for (unsigned int i = 1; i <= 5 && !a->transport; i++) {
		(a->inbound ? take_one : send_one)(a, 100 + i, i);
		a->v6 = !a->v6;
		esp_sa_move(&a->e, a->v6);
	}
}

static void to_the_other_family(void **state)
{
	(void)state;
	each(false, moving);
	each(true, moving);
}

/* Each bit of AH and of the payload is authentic; of the header in front only immutable bits
 * are. */
static void refuse_damage(struct ah_sa *a)
{
	unsigned int total, front = ip_len(a);
	uint8_t inner[60], wire[ROOM];

	plain(a, inner, sizeof(inner));
	total = seal(a, 9, a->transport ? IPPROTO_UDP : IPPROTO_IPIP, inner, sizeof(inner), wire);
	for (unsigned int bit = 0; bit < 8 * (total - front); bit++) {
		unsigned int byte = front + bit / 8;
		struct rte_mbuf *m;

		wire[byte] ^= (uint8_t)(1u << bit % 8);
		m = received(a, wire, total, 9);
		assert_int_equal(esp_unprotect(&a->e, m),
				 byte == front + 1 ? DROP_AH_LENGTH : DROP_AUTH_FAILED);
		rte_pktmbuf_free(m);
		wire[byte] ^= (uint8_t)(1u << bit % 8);
	}
}

static void damaged(void **state)
{
	(void)state;
	each(true, refuse_damage);
}

/* Packets truncated at each length, with no byte behind them in memory. */
static void truncated(void **state)
{
	struct ah_sa a = {.algorithm = &algorithms_of_ah[2], .inbound = true};
	uint8_t inner[60], wire[ROOM];

	(void)state;
	add_any(&a);
	plain(&a, inner, sizeof(inner));
	seal(&a, 9, IPPROTO_IPIP, inner, sizeof(inner), wire);
	for (unsigned int len = 20 + 12; len < 20 + ah_size(&a); len++) {
		struct rte_mbuf *m = received(&a, wire, len, 9);

		assert_int_equal(esp_unprotect(&a.e, m), DROP_AH_TRUNCATED);
		rte_pktmbuf_free(m);
	}
	esp_sa_delete(&a.e);
}

/* Authentic, but in tunnel mode no IP packet is inside; and no room for what is hidden from the device. */
static void no_packet(void **state)
{
	struct ah_sa a = {.algorithm = &algorithms_of_ah[2], .inbound = true};
	uint8_t inner[60], wire[ROOM];
	struct rte_mbuf *m;
	unsigned int len;

	(void)state;
	add_any(&a);
	plain(&a, inner, sizeof(inner));
	len = seal(&a, 9, IPPROTO_UDP, inner, sizeof(inner), wire);
	m = received(&a, wire, len, 9);
	assert_int_equal(esp_unprotect(&a.e, m), DROP_AH_NEXT);
	rte_pktmbuf_free(m);
	m = esp_packet(wire, len, ip_len(&a), 0);
	packet(m)->esp = (uint16_t)ip_len(&a);
	packet(m)->seq = 9;
	assert_int_equal(esp_unprotect(&a.e, m), DROP_NO_BUFFER);
	rte_pktmbuf_free(m);
	esp_sa_delete(&a.e);
}

/* Buffers of each size: with too little headroom or tailroom the packet is refused, and no byte
 * outside the buffer is read or written. */
static void no_room(void **state)
{
	struct ah_sa a = {.algorithm = &algorithms_of_ah[4], .v6 = true, .esn = true};
	uint8_t inner[60];

	(void)state;
	add_any(&a);
	plain(&a, inner, sizeof(inner));
	for (unsigned int room = 0; room <= room_in_front(&a); room++) {
		struct rte_mbuf *m = esp_packet(inner, sizeof(inner), room, room_behind(&a));
		assert_int_equal(esp_protect(&a.e, m, 1),
				 room < room_in_front(&a) ? DROP_NO_BUFFER : DROP_NONE);
		rte_pktmbuf_free(m);
	}
	for (unsigned int room = 0; room < room_behind(&a); room++) {
		struct rte_mbuf *m = esp_packet(inner, sizeof(inner), room_in_front(&a), room);

		/* At last only the room for the saved mutable fields is missing. */
		assert_int_equal(esp_protect(&a.e, m, 1), room < room_behind(&a) - ip_len(&a)
								  ? DROP_NO_BUFFER
								  : DROP_AH_HEADERS);
		rte_pktmbuf_free(m);
	}
	esp_sa_delete(&a.e);
}

/* --- mutable fields (RFC 4302, appendix A) --- */

static const struct {
	const char *options, *want; /* NULL: refused */
	unsigned int len;
} options4[] = {
	{"\x01\x01\x01\x00", "\x01\x01\x01\x00", 4},
	{"\x00\x07\x07\x04", "\x00\x07\x07\x04", 4}, /* padding follows the end of options */
	{"\x82\x04\x01\x02", "\x82\x04\x01\x02", 4}, /* security */
	{"\x85\x04\x01\x02", "\x85\x04\x01\x02", 4}, /* extended security */
	{"\x86\x04\x01\x02", "\x86\x04\x01\x02", 4}, /* commercial security */
	{"\x94\x04\x00\x00", "\x94\x04\x00\x00", 4}, /* router alert */
	{"\x95\x04\x01\x02", "\x95\x04\x01\x02", 4}, /* sender directed multi-destination */
	{"\x07\x04\x04\x01", "\0\0\0\0", 4},	     /* record route */
	{"\x44\x04\x05\x01", "\0\0\0\0", 4},	     /* timestamp */
	{"\x88\x04\x01\x02", "\0\0\0\0", 4},	     /* stream: superseded */
	{"\x52\x04\x01\x02", "\0\0\0\0", 4},	     /* traceroute */
	{"\x9e\x04\x01\x02", "\0\0\0\0", 4},	     /* experimental */
	{"\x83\x07\x08\x01\x02\x03\x04\x01", "\0\0\0\0\0\0\0\x01", 8}, /* at its end */
	{"\x89\x07\x08\x01\x02\x03\x04\x01", "\0\0\0\0\0\0\0\x01", 8},
	{"\x01\x07\x03\x04\x94\x04\x00\x00", "\x01\0\0\0\x94\x04\x00\x00", 8},
	{"\x83\x07\x04\x01\x02\x03\x04\x01", NULL, 8}, /* leads on */
	{"\x89\x07\x07\x01\x02\x03\x04\x01", NULL, 8},
	{"\x83\x02\x01\x01", NULL, 4}, /* without a pointer */
	{"\x01\x01\x01\x07", NULL, 4}, /* without a length */
	{"\x07\x01\x01\x01", NULL, 4},
	{"\x07\x00\x01\x01", NULL, 4},
	{"\x07\x05\x01\x01", NULL, 4}, /* beyond the header */
};

static void mutable_v4(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(options4); i++) {
		unsigned int len = 20 + options4[i].len;
		uint8_t header[60], want[60];

		peer_ip(header, 0xff, 1000, 4711, 0xffff, IPPROTO_AH);
		header[0] = (uint8_t)(0x40 | len / 4);
		memcpy(want, header, 20);
		want[1] = want[6] = want[7] = want[8] = want[10] = want[11] = 0;
		memcpy(header + 20, options4[i].options, options4[i].len);
		if (!options4[i].want) {
			assert_false(ah_mutable_clear(header, len));
			continue;
		}
		memcpy(want + 20, options4[i].want, options4[i].len);
		assert_true(ah_mutable_clear(header, len));
		assert_memory_equal(header, want, len);
	}
}

#define HOPS	"\x00" /* next header of the IPv6 header, in front of the rest */
#define OPTIONS "\x3c"
#define ROUTE	"\x2b"
#define PART	"\x2c"

static const struct {
	const char *proto, *headers, *want; /* NULL: refused */
	unsigned int len;
} extensions6[] = {
	/* a mutable option and an immutable one */
	{HOPS,
	 "\x33\x00\x3e\x04"
	 "abcd",
	 "\x33\x00\x3e\x04\0\0\0\0", 8},
	{OPTIONS,
	 "\x33\x00\x1e\x04"
	 "abcd",
	 "\x33\x00\x1e\x04"
	 "abcd",
	 8},
	{HOPS, "\x33\x00\x01\x01\xff\x00\x20\x00", "\x33\x00\x01\x01\xff\x00\x20\x00", 8},
	{HOPS, "\x33\x00\x00\x00\x00\x00\xff\x00", "\x33\x00\x00\x00\x00\x00\xff\x00", 8},
	/* a routing header without further hops */
	{ROUTE, "\x33\x00\xfd\x00\x3e\x04\xff\xff", "\x33\x00\xfd\x00\x3e\x04\xff\xff", 8},
	{HOPS,
	 "\x3c\x00\x3e\x04"
	 "abcd"
	 "\x2b\x00\x3f\x04"
	 "efgh"
	 "\x33\x00\xfd\x00wxyz",
	 "\x3c\x00\x3e\x04\0\0\0\0"
	 "\x2b\x00\x3f\x04\0\0\0\0"
	 "\x33\x00\xfd\x00wxyz",
	 24},
	{PART,
	 "\x33\x00\x00\x00"
	 "abcd",
	 NULL, 8},
	{HOPS,
	 "\x33\x00\x3e\x05"
	 "abcd",
	 NULL, 8}, /* the option is longer than its header */
	{HOPS, "\x33\x00\x00\x00\x00\x00\x00\x3e", NULL, 8}, /* the option has no length */
	{HOPS,
	 "\x33\x01\x3e\x04"
	 "abcd",
	 NULL, 8}, /* the header is longer than the bytes up to AH */
};

static void mutable_v6(void **state)
{
	const struct ah_sa a = {.v6 = true};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(extensions6); i++) {
		unsigned int len = 40 + extensions6[i].len;
		uint8_t header[80], want[80];

		write_ip(&a, header, 1000, (uint8_t)extensions6[i].proto[0]);
		memcpy(want, header, 40);
		memcpy(want, "\x60\0\0\0", 4);
		want[7] = 0;
		memcpy(header + 40, extensions6[i].headers, extensions6[i].len);
		if (!extensions6[i].want) {
			assert_false(ah_mutable_clear(header, len));
			continue;
		}
		memcpy(want + 40, extensions6[i].want, extensions6[i].len);
		assert_true(ah_mutable_clear(header, len));
		assert_memory_equal(header, want, len);
	}
}

/* --- invalid SAs --- */

static void refused(void **state)
{
	static const struct {
		uint8_t cipher, auth, key_len, auth_key_len, icv_len;
	} bad[] = {
		{CYGNET_CIPHER_AES_CBC, CYGNET_AUTH_HMAC_SHA256, 16, 32, 16},
		{CYGNET_CIPHER_AES_GCM, CYGNET_AUTH_NONE, 16, 0, 16},
		{CYGNET_CIPHER_NULL, CYGNET_AUTH_NONE, 0, 0, 16},
		{CYGNET_CIPHER_NULL, CYGNET_AUTH_HMAC_SHA256, 0, 32, 4},
		{CYGNET_CIPHER_AES_GMAC, CYGNET_AUTH_HMAC_SHA256, 16, 32, 16},
	};
	struct ah_sa a = {.algorithm = &algorithms_of_ah[2]};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		struct cygnet_sa_params p = params_of(&a);

		p.cipher = bad[i].cipher;
		p.auth = bad[i].auth;
		p.cipher_key_len = bad[i].key_len;
		p.salt_len = bad[i].key_len ? 4 : 0;
		p.auth_key_len = bad[i].auth_key_len;
		p.icv_len = bad[i].icv_len;
		for (unsigned int d = 0; d < esp_devices; d++)
			assert_false(esp_sa_add_params(&a.e, &p, d));
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(outbound),   ESP_TEST(inbound),    ESP_TEST(to_the_other_family),
		ESP_TEST(damaged),    ESP_TEST(truncated),  ESP_TEST(no_room),
		ESP_TEST(mutable_v4), ESP_TEST(mutable_v6), ESP_TEST(refused),
		ESP_TEST(no_packet),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}
