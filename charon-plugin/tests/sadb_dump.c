/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * sadb-dump FILE [SALT]: print one line for each SA and policy of a shared
 * file, for tests to compare with the peer's. Instead of keys it prints a
 * salted digest, which reveals nothing without the salt.
 */

#include <cygnet.h>

#include <arpa/inet.h>
#include <stdio.h>

#include <openssl/evp.h>

static const char *dirs[] = { "in", "out", "fwd" };
static const char *actions[] = { "protect", "bypass", "discard" };

static const char *addr_text(int af, const struct cygnet_addr *addr)
{
	static char buf[4][INET6_ADDRSTRLEN];
	static int next;
	char *text = buf[next++ & 3];

	if (!inet_ntop(af, addr->bytes, text, INET6_ADDRSTRLEN))
	{
		return "?";
	}
	return text;
}

static void print_digest(const struct cygnet_sa *sa, const char *salt)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0, i;
	EVP_MD_CTX *ctx;

	ctx = EVP_MD_CTX_new();
	EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);
	EVP_DigestUpdate(ctx, salt, strlen(salt));
	EVP_DigestUpdate(ctx, sa->cipher_key, sizeof(sa->cipher_key));
	EVP_DigestUpdate(ctx, sa->auth_key, sizeof(sa->auth_key));
	EVP_DigestFinal_ex(ctx, digest, &len);
	EVP_MD_CTX_free(ctx);
	for (i = 0; i < len && i < 16; i++)
	{
		printf("%02x", digest[i]);
	}
}

static void print_sa(struct cygnet_db *db, uint32_t index, const char *salt)
{
	const struct cygnet_path *path;
	struct cygnet_sa sa;

	if (!cygnet_sa_snapshot(db, index, &sa))
	{
		return;
	}
	path = cygnet_sa_path(&sa);
	printf("sa spi=%08x", ntohl(sa.spi));
	if (sa.state == CYGNET_SLOT_LARVAL)
	{
		printf(" larval\n");
		return;
	}
	printf(" dir=%s proto=%u reqid=%u src=%s dst=%s encap=%u sport=%u dport=%u",
		   sa.flags & CYGNET_SA_INBOUND ? "in" : "out", sa.proto, sa.reqid,
		   addr_text(path->af, &path->src), addr_text(path->af, &path->dst),
		   path->encap, ntohs(path->sport), ntohs(path->dport));
	printf(" if_id=%u", sa.if_id);
	printf(" alg=%s-%u/%s-%u esn=%u window=%u keys=",
		   cygnet_cipher_name(sa.cipher), sa.cipher_key_len * 8,
		   cygnet_auth_name(sa.auth), sa.icv_len * 8,
		   !!(sa.flags & CYGNET_SA_ESN), sa.replay_window);
	/* a snapshot has no keys */
	print_digest(cygnet_sa_at(db, index), salt);
	printf("\n");
}

static void print_policy(struct cygnet_db *db, uint32_t index)
{
	struct cygnet_policy policy;
	const struct cygnet_selector *sel = &policy.sel;

	if (!cygnet_policy_snapshot(db, index, &policy))
	{
		return;
	}
	printf("policy dir=%s action=%s", dirs[policy.dir],
		   actions[policy.action]);
	printf(" src=%s-%s dst=%s-%s", addr_text(sel->af, &sel->src_lo),
		   addr_text(sel->af, &sel->src_hi), addr_text(sel->af, &sel->dst_lo),
		   addr_text(sel->af, &sel->dst_hi));
	printf(" if_id=%u", sel->by_if_id ? sel->interface : 0);
	printf(" proto=%u ports=%u-%u:%u-%u prio=%u reqid=%u spi=%08x refs=%u\n",
		   sel->proto, sel->sport_lo, sel->sport_hi, sel->dport_lo,
		   sel->dport_hi, policy.priority, policy.reqid, ntohl(policy.spi),
		   policy.refs);
}

static void print_ports(struct cygnet_db *db, int family)
{
	static const char *uses[] = {
		[CYGNET_IKE_PLAIN] = "ike",
		[CYGNET_IKE_ENCAP] = "natt",
	};
	enum cygnet_ike use;
	uint32_t port;

	for (port = 0; port <= UINT16_MAX; port++)
	{
		use = cygnet_ike_port(db, family, port);
		if (use != CYGNET_IKE_NONE)
		{
			printf("port %s family=%d port=%u\n", uses[use],
				   family == AF_INET6 ? 6 : 4, port);
		}
	}
}

int main(int argc, char *argv[])
{
	struct cygnet_db_info info;
	struct cygnet_db *db;
	char error[256] = "";
	uint32_t i;

	if (argc < 2)
	{
		fprintf(stderr, "usage: %s FILE [SALT]\n", argv[0]);
		return 2;
	}
	if (cygnet_db_open_flags(argv[1], NULL, CYGNET_OPEN_ON_DISK, &db, error, sizeof(error)) ||
		cygnet_db_check(db, error, sizeof(error)))
	{
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	cygnet_db_info(db, &info);
	printf("info charon=%d dataplane=%d sas=%u policies=%u\n", info.charon_pid,
		   info.dataplane_pid, info.sas, info.policies);
	for (i = 0; i < info.geometry.sas; i++)
	{
		print_sa(db, i, argc > 2 ? argv[2] : "");
	}
	for (i = 0; i < info.geometry.policies; i++)
	{
		print_policy(db, i);
	}
	print_ports(db, AF_INET);
	print_ports(db, AF_INET6);
	cygnet_db_close(db);
	return 0;
}
