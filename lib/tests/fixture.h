/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fixture.h
 * Fixture of the library's tests: a file in a folder of its own, and functions
 * that make parameters of SAs and policies, and flows.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "cygnet.h"

struct fixture {
	char folder[64], path[128];
	struct cygnet_db *db;
};

static inline void fixture_path(struct fixture *f)
{
	strcpy(f->folder, "./test-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/sadb", f->folder);
}

static inline struct cygnet_db *fixture_open(struct fixture *f, uint32_t sas, uint32_t policies)
{
	const struct cygnet_geometry geometry = {sas, policies};
	struct cygnet_db *db;
	char error[256] = "";

	if (cygnet_db_open_flags(f->path, &geometry, CYGNET_OPEN_ON_DISK, &db, error,
				 sizeof(error)))
		fail_msg("%s", error);
	return db;
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_path(f);
	f->db = fixture_open(f, 1024, 1024);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	char error[256];

	if (f->db && cygnet_db_check(f->db, error, sizeof(error)))
		fail_msg("%s", error);
	cygnet_db_close(f->db);
	unlink(f->path);
	rmdir(f->folder);
	free(f);
	return 0;
}

static inline struct cygnet_addr addr4(const char *text)
{
	struct cygnet_addr addr = {0};

	assert_int_equal(inet_pton(AF_INET, text, &addr.v4), 1);
	return addr;
}

static inline struct cygnet_addr addr6(const char *text)
{
	struct cygnet_addr addr = {0};

	assert_int_equal(inet_pton(AF_INET6, text, &addr), 1);
	return addr;
}

static inline struct cygnet_sa_params sa_params(uint32_t spi, bool inbound)
{
	struct cygnet_sa_params p = {
		.id = {htonl(spi), IPPROTO_ESP, AF_INET, addr4("192.0.2.1")},
		.path = {addr4("192.0.2.2"), addr4("192.0.2.1"), 0, 0, 0, AF_INET, {0}},
		.flags = inbound ? CYGNET_SA_INBOUND : 0,
		.reqid = 1,
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
		.replay_window = inbound ? 32 : 0,
	};

	memset(p.cipher_key, 0xab, 20);
	return p;
}

/* The selector of two prefixes, such as "10.0.0.0", 8, with any protocol and any port. */
static inline struct cygnet_selector selector(const char *src, unsigned int src_bits,
					      const char *dst, unsigned int dst_bits)
{
	struct cygnet_selector sel = {
		.src_lo = addr4(src),
		.dst_lo = addr4(dst),
		.sport_hi = UINT16_MAX,
		.dport_hi = UINT16_MAX,
		.af = AF_INET,
	};

	sel.src_hi.v4 = sel.src_lo.v4 | (src_bits < 32 ? htonl(UINT32_MAX >> src_bits) : 0);
	sel.dst_hi.v4 = sel.dst_lo.v4 | (dst_bits < 32 ? htonl(UINT32_MAX >> dst_bits) : 0);
	return sel;
}

static inline struct cygnet_flow flow4(const char *src, const char *dst, uint8_t proto,
				       uint16_t sport, uint16_t dport)
{
	return (struct cygnet_flow){
		.src = addr4(src),
		.dst = addr4(dst),
		.sport = sport,
		.dport = dport,
		.af = AF_INET,
		.proto = proto,
		.has_ports = 1,
	};
}

#endif
