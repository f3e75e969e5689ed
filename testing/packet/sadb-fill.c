/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays charon for the packet tests: puts SAs and policies into a SAD/SPD file.
 *
 *   sadb-fill FILE < lines
 *
 * A line is a command and words of the form key=value; see the tables below
 * for the keys. Numbers are decimal, or hexadecimal after 0x; keys of ciphers
 * and MACs are hexadecimal digits. What is left out is zero.
 *
 *   flush
 *   hold
 *   hold-end
 *   sa spi=0x1001 src=192.0.2.1 dst=192.0.2.2 cipher=aes-cbc key=HEX auth=hmac-sha1 akey=HEX icv=12
 *   sa-delete spi=0x1001 dst=192.0.2.2
 *   sa-update spi=0x1001 end=192.0.2.2 src=2001:db8::1 dst=2001:db8::2
 *   sa-query spi=0x1001 dst=2001:db8::2
 *   sa-use-up spi=0x1001 dst=192.0.2.2
 *   policy dir=out src=10.1.0.0-10.1.0.255 dst=10.2.0.0-10.2.0.255 action=protect spi=0x1001
 *          begin=192.0.2.1 end=192.0.2.2
 *   policy-delete ...
 *   charon
 *   ike encap=1500-5500
 *   ike-notes
 *   ike-note dst=192.0.2.2
 *   policy-query dir=out src=10.1.0.0-10.1.0.255 dst=10.2.0.0-10.2.0.255
 *
 * hold: what charon does at its start if its predecessor was killed; hold-end: what it does some minutes later.
 * charon: take charon's role until the end of the lines, and print "charon" once that is done.
 * ike: encap is two ports of both families: that of IKE alone, and that of IKE and ESP in UDP.
 * ike-notes: a charon with the role says that it notes where it sends IKE; ike-note: it sends there. Both print "noted".
 * policy: begin and end are the outer addresses of its SA; policy-delete has the words of policy.
 * sa-use-up: uses all sequence numbers of an outbound SA.
 * sa-update: end is the SA's destination before the update, and reqid is optional.
 * Queries print words of the form key=value, one in a line.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cygnet.h"

/* Values of the words of one line; each command reads its own. */
struct line {
	struct cygnet_sa_params sa;
	struct cygnet_policy_params policy;
};

struct word {
	const char *key;
	int (*set)(struct line *line, const char *value);
};

static int parse_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 0);
	return (errno || end == text || *end || *number > max) ? -EINVAL : 0;
}

static int parse_range(const char *text, uint16_t *lo, uint16_t *hi)
{
	unsigned int first, last;
	char rest;

	if (sscanf(text, "%u-%u%c", &first, &last, &rest) != 2 || first > UINT16_MAX ||
	    last > UINT16_MAX)
		return -EINVAL;
	*lo = (uint16_t)first;
	*hi = (uint16_t)last;
	return 0;
}

static int parse_addr(const char *text, struct cygnet_addr *addr, uint8_t *af)
{
	memset(addr, 0, sizeof(*addr));
	*af = strchr(text, ':') ? AF_INET6 : AF_INET;
	return inet_pton(*af, text, addr) == 1 ? 0 : -EINVAL;
}

static int parse_addr_range(const char *text, struct cygnet_addr *lo, struct cygnet_addr *hi,
			    uint8_t *af)
{
	char copy[2 * INET6_ADDRSTRLEN];
	char *dash;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	dash = strchr(copy, '-');
	if (!dash)
		return -EINVAL;
	*dash = '\0';
	return parse_addr(copy, lo, af) || parse_addr(dash + 1, hi, af) ? -EINVAL : 0;
}

/* @return bytes, or -EINVAL */
static int parse_hex(const char *text, uint8_t *bytes, size_t max)
{
	size_t n = strlen(text) / 2;
	size_t i;

	if (strlen(text) % 2 || n > max)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (sscanf(text + 2 * i, "%2hhx", &bytes[i]) != 1)
			return -EINVAL;
	return (int)n;
}

static int parse_name(const char *text, const char *const *names, unsigned int n, uint8_t *value)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (strcmp(text, names[i]) == 0) {
			*value = (uint8_t)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* The same where a function of the library has the names. */
static int parse_named(const char *text, const char *(*name)(uint8_t), unsigned int n,
		       uint8_t *value)
{
	for (uint8_t i = 0; i < n; i++) {
		if (strcmp(text, name(i)) == 0) {
			*value = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_key(const char *text, uint8_t *key, size_t max, uint8_t *len)
{
	int n = parse_hex(text, key, max);

	*len = (uint8_t)n;
	return n < 0 ? n : 0;
}

/* Define the function of a word whose value is a number, which the field takes. */
#define SET_NUMBER(name, field) \
	static int set_##name(struct line *line, const char *value) \
	{ \
		unsigned long n; \
		int rc = parse_number(value, (__typeof__(line->field))-1, &n); \
\
		line->field = (__typeof__(line->field))n; \
		return rc; \
	}

SET_NUMBER(proto, policy.sel.proto)
SET_NUMBER(prio, policy.priority)
SET_NUMBER(icv, sa.icv_len)
SET_NUMBER(window, sa.replay_window)
SET_NUMBER(tfc, sa.tfc)
SET_NUMBER(hard_bytes, sa.lifetime.hard_bytes)
SET_NUMBER(soft_packets, sa.lifetime.soft_packets)
SET_NUMBER(hard_packets, sa.lifetime.hard_packets)
SET_NUMBER(hard_seconds, sa.lifetime.hard_seconds)

/* Define the function of a word whose value is yes or no. */
#define SET_FLAG(name, flag) \
	static int set_##name(struct line *line, const char *value) \
	{ \
		if (strcmp(value, "yes") == 0) \
			line->sa.flags |= (flag); \
		return 0; \
	}

SET_FLAG(esn, CYGNET_SA_ESN)
SET_FLAG(ecn, CYGNET_SA_COPY_ECN) /* between inner and outer header (RFC 6040) */
SET_FLAG(df, CYGNET_SA_COPY_DF)

static int set_dir(struct line *line, const char *value)
{
	static const char *const names[] =
		{[CYGNET_IN] = "in", [CYGNET_OUT] = "out", [CYGNET_FWD] = "fwd"};
	int rc = parse_name(value, names, CYGNET_DIRS, &line->policy.dir);

	if (line->policy.dir == CYGNET_IN)
		line->sa.flags |= CYGNET_SA_INBOUND;
	return rc;
}

static int set_action(struct line *line, const char *value)
{
	static const char *const names[] = {[CYGNET_PROTECT] = "protect",
					    [CYGNET_BYPASS] = "bypass",
					    [CYGNET_DISCARD] = "discard"};

	return parse_name(value, names, 3, &line->policy.action);
}

static int set_mode(struct line *line, const char *value)
{
	static const char *const names[] =
		{[CYGNET_TUNNEL] = "tunnel", [CYGNET_TRANSPORT] = "transport"};
	int rc = parse_name(value, names, 2, &line->sa.mode);

	line->policy.mode = line->sa.mode;
	return rc;
}

static int set_ipsec(struct line *line, const char *value)
{
	line->sa.id.proto = strcmp(value, "ah") == 0 ? IPPROTO_AH : IPPROTO_ESP;
	line->policy.proto = line->sa.id.proto;
	return 0;
}

static int set_spi(struct line *line, const char *value)
{
	unsigned long spi;
	int rc = parse_number(value, UINT32_MAX, &spi);

	line->sa.id.spi = line->policy.spi = htonl((uint32_t)spi);
	return rc;
}

/* src and dst: a range in a policy, an address in an SA. */
static int set_src(struct line *line, const char *value)
{
	struct cygnet_selector *sel = &line->policy.sel;

	if (strchr(value, '-'))
		return parse_addr_range(value, &sel->src_lo, &sel->src_hi, &sel->af);
	return parse_addr(value, &line->sa.path.src, &line->sa.path.af);
}

static int set_dst(struct line *line, const char *value)
{
	struct cygnet_selector *sel = &line->policy.sel;
	int rc;

	if (strchr(value, '-'))
		return parse_addr_range(value, &sel->dst_lo, &sel->dst_hi, &sel->af);
	rc = parse_addr(value, &line->sa.path.dst, &line->sa.path.af);
	line->sa.id.af = line->sa.path.af;
	line->sa.id.dst = line->sa.path.dst;
	return rc;
}

/* Outer destination of a policy's SA, or of a moving SA before the move. */
static int set_end(struct line *line, const char *value)
{
	return parse_addr(value, &line->policy.dst, &line->policy.af);
}

/* Outer source of a policy's SA. */
static int set_begin(struct line *line, const char *value)
{
	return parse_addr(value, &line->policy.src, &line->policy.af);
}

static int set_dev(struct line *line, const char *value)
{
	line->policy.sel.interface = cygnet_interface(value);
	return 0;
}

static int set_if_id(struct line *line, const char *value)
{
	unsigned long n;
	int rc = parse_number(value, UINT32_MAX, &n);

	line->sa.if_id = line->policy.sel.interface = (uint32_t)n;
	line->policy.sel.by_if_id = 1;
	return rc;
}

static int set_sport(struct line *line, const char *value)
{
	return parse_range(value, &line->policy.sel.sport_lo, &line->policy.sel.sport_hi);
}

static int set_dport(struct line *line, const char *value)
{
	return parse_range(value, &line->policy.sel.dport_lo, &line->policy.sel.dport_hi);
}

static int set_cipher(struct line *line, const char *value)
{
	return parse_named(value, cygnet_cipher_name, CYGNET_CIPHERS, &line->sa.cipher);
}

static int set_auth(struct line *line, const char *value)
{
	return parse_named(value, cygnet_auth_name, CYGNET_AUTHS, &line->sa.auth);
}

static int set_key(struct line *line, const char *value)
{
	return parse_key(value, line->sa.cipher_key, sizeof(line->sa.cipher_key),
			 &line->sa.cipher_key_len);
}

static int set_akey(struct line *line, const char *value)
{
	return parse_key(value, line->sa.auth_key, sizeof(line->sa.auth_key),
			 &line->sa.auth_key_len);
}

/* After key: length of the salt at its end, in bytes. */
static int set_salt(struct line *line, const char *value)
{
	unsigned long n;

	if (parse_number(value, line->sa.cipher_key_len, &n))
		return -EINVAL;
	line->sa.salt_len = (uint8_t)n;
	line->sa.cipher_key_len -= (uint8_t)n;
	return 0;
}

/* Direction in which DSCP is copied between inner and outer header. */
static int set_dscp(struct line *line, const char *value)
{
	static const char *const names[] = {[0] = "no",
					    [CYGNET_DSCP_COPY_OUT] = "out",
					    [CYGNET_DSCP_COPY_IN] = "in",
					    [CYGNET_DSCP_COPY_OUT | CYGNET_DSCP_COPY_IN] = "both"};

	return parse_name(value, names, 4, &line->sa.dscp);
}

static int set_reqid(struct line *line, const char *value)
{
	unsigned long n;
	int rc = parse_number(value, UINT32_MAX, &n);

	line->sa.reqid = line->policy.reqid = (uint32_t)n;
	return rc;
}

/* UDP encapsulation: source and destination port. */
static int set_encap(struct line *line, const char *value)
{
	uint16_t sport = 0, dport = 0;
	int rc = parse_range(value, &sport, &dport);

	line->sa.path.encap = 1;
	line->sa.path.sport = htons(sport);
	line->sa.path.dport = htons(dport);
	return rc;
}

static const struct word words[] = {
	{"dir", set_dir},
	{"action", set_action},
	{"spi", set_spi},
	{"src", set_src},
	{"dst", set_dst},
	{"dev", set_dev},
	{"if-id", set_if_id},
	{"sport", set_sport},
	{"dport", set_dport},
	{"proto", set_proto},
	{"cipher", set_cipher},
	{"auth", set_auth},
	{"key", set_key},
	{"salt", set_salt},
	{"akey", set_akey},
	{"icv", set_icv},
	{"window", set_window},
	{"ecn", set_ecn},
	{"df", set_df},
	{"dscp", set_dscp},
	{"esn", set_esn},
	{"reqid", set_reqid},
	{"prio", set_prio},
	{"encap", set_encap},
	{"end", set_end},
	{"begin", set_begin},
	{"mode", set_mode},
	{"tfc", set_tfc},
	{"ipsec", set_ipsec},
	{"soft-packets", set_soft_packets},
	{"hard-bytes", set_hard_bytes},
	{"hard-packets", set_hard_packets},
	{"hard-seconds", set_hard_seconds},
};

static int set_word(struct line *line, char *text)
{
	char *value = strchr(text, '=');
	size_t i;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i].key) == 0)
			return words[i].set(line, value);
	return -EINVAL;
}

static void line_init(struct line *line)
{
	memset(line, 0, sizeof(*line));
	line->sa.id.proto = IPPROTO_ESP;
	line->sa.id.af = AF_INET;
	line->sa.path.af = AF_INET;
	line->policy.proto = IPPROTO_ESP;
	line->policy.af = AF_INET;
	line->policy.sel.af = AF_INET;
	line->policy.sel.sport_hi = UINT16_MAX;
	line->policy.sel.dport_hi = UINT16_MAX;
}

/* Retry as the plugin does, because cygnetd may not have applied the previous move yet. */
static int update_sa(struct cygnet_db *db, const struct line *line)
{
	const struct cygnet_sa_id id = {line->sa.id.spi, line->sa.id.proto, line->policy.af,
					line->policy.dst};
	const struct timespec pause = {.tv_nsec = 1000000};
	int rc = -EAGAIN;

	for (unsigned int tries = 0; tries < 1000 && rc == -EAGAIN; tries++) {
		rc = cygnet_sa_update(db, &id, &line->sa.path, line->sa.reqid);
		if (rc == -EAGAIN)
			nanosleep(&pause, NULL);
	}
	return rc;
}

/* charon has sockets for two ports in each family. */
static int open_ike(struct cygnet_db *db, const struct cygnet_path *path)
{
	static const uint8_t families[] = {AF_INET6, AF_INET};
	int rc = 0;

	for (size_t i = 0; i < sizeof(families) && !rc; i++) {
		rc = cygnet_ike_open(db, families[i], ntohs(path->sport), false);
		if (!rc)
			rc = cygnet_ike_open(db, families[i], ntohs(path->dport), true);
	}
	return rc;
}

static int be_charon(struct cygnet_db *db)
{
	int rc = cygnet_role_take(db, CYGNET_ROLE_CHARON);

	if (!rc && (puts("charon") < 0 || fflush(stdout)))
		rc = -EIO;
	return rc;
}

/* @param path  its dst is where IKE goes; NULL: from now on charon notes that */
static int note_ike(struct cygnet_db *db, const struct cygnet_path *path)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (path)
		cygnet_ike_note(db, path->af, &path->dst, (uint32_t)now.tv_sec);
	else
		cygnet_ike_notes(db);
	return puts("noted") < 0 || fflush(stdout) ? -EIO : 0;
}

/* Atomic, because cygnetd increments the sequence number concurrently. */
static int use_up(struct cygnet_db *db, const struct line *line)
{
	const struct cygnet_sa_id *id = &line->sa.id;
	struct cygnet_sa *sa = cygnet_sad_lookup_out(db, id->spi, id->proto, id->af, &id->dst);

	if (!sa)
		return -ENOENT;
	__atomic_store_n(&sa->seq, (uint64_t)UINT32_MAX, __ATOMIC_RELAXED);
	return 0;
}

/* The SPI is not drawn, but given. */
static int reserve_spi(struct cygnet_db *db, const struct cygnet_sa_id *id)
{
	uint32_t spi = ntohl(id->spi), drawn;

	return cygnet_spi_reserve(db, id->proto, id->af, &id->dst, spi, spi, &drawn);
}

static int query_sa(struct cygnet_db *db, const struct line *line)
{
	struct cygnet_sa_usage usage;
	int rc = cygnet_sa_query(db, &line->sa.id, &usage);

	if (!rc)
		printf("bytes=%llu packets=%llu use=%llu seq=%llu replayed=%llu forged=%llu\n",
		       (unsigned long long)usage.bytes, (unsigned long long)usage.packets,
		       (unsigned long long)usage.use_time, (unsigned long long)usage.seq,
		       (unsigned long long)usage.replay_drops,
		       (unsigned long long)usage.auth_drops);
	return rc;
}

static int query_policy(struct cygnet_db *db, const struct line *line)
{
	uint64_t use;
	int rc = cygnet_policy_query(db, line->policy.dir, &line->policy.sel, &use);

	if (!rc)
		printf("use=%llu\n", (unsigned long long)use);
	return rc;
}

static int run_command(struct cygnet_db *db, const char *command, const struct line *line)
{
	if (strcmp(command, "flush") == 0)
		return cygnet_db_flush(db);
	if (strcmp(command, "hold") == 0)
		return cygnet_db_hold(db);
	if (strcmp(command, "hold-end") == 0)
		return cygnet_hold_end(db) ? 0 : -ENOENT;
	if (strcmp(command, "sa") == 0)
		return cygnet_sa_add(db, &line->sa);
	if (strcmp(command, "spi-reserve") == 0)
		return reserve_spi(db, &line->sa.id);
	if (strcmp(command, "spi-release") == 0)
		return cygnet_spi_release(db, &line->sa.id);
	if (strcmp(command, "sa-delete") == 0)
		return cygnet_sa_delete(db, &line->sa.id);
	if (strcmp(command, "sa-update") == 0)
		return update_sa(db, line);
	if (strcmp(command, "sa-query") == 0)
		return query_sa(db, line);
	if (strcmp(command, "sa-use-up") == 0)
		return use_up(db, line);
	if (strcmp(command, "charon") == 0)
		return be_charon(db);
	if (strcmp(command, "ike") == 0)
		return open_ike(db, &line->sa.path);
	if (strcmp(command, "ike-notes") == 0)
		return note_ike(db, NULL);
	if (strcmp(command, "ike-note") == 0)
		return note_ike(db, &line->sa.path);
	if (strcmp(command, "policy") == 0)
		return cygnet_policy_add(db, &line->policy);
	if (strcmp(command, "policy-delete") == 0)
		return cygnet_policy_delete(db, &line->policy);
	if (strcmp(command, "policy-query") == 0)
		return query_policy(db, line);
	fprintf(stderr, "sadb-fill: unknown command %s\n", command);
	return -EINVAL;
}

static int run_line(struct cygnet_db *db, char *text)
{
	char *save = NULL;
	char *command = strtok_r(text, " \n", &save);
	struct line line;
	char *word;

	if (!command || command[0] == '#')
		return 0;
	line_init(&line);
	while ((word = strtok_r(NULL, " \n", &save)))
		if (set_word(&line, word)) {
			fprintf(stderr, "sadb-fill: %s: bad word %s\n", command, word);
			return -EINVAL;
		}
	return run_command(db, command, &line);
}

static int run_lines(struct cygnet_db *db)
{
	char text[1024];
	unsigned int number;
	int rc;

	for (number = 1; fgets(text, sizeof(text), stdin); number++) {
		rc = run_line(db, text);
		if (rc) {
			fprintf(stderr, "sadb-fill: line %u: %s\n", number, strerror(-rc));
			return rc;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct cygnet_geometry geometry = {.sas = 1024, .policies = 1024};
	struct cygnet_db *db;
	char error[256];
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: sadb-fill FILE < lines\n");
		return 2;
	}
	if (cygnet_db_open_flags(argv[1], &geometry, CYGNET_OPEN_ON_DISK, &db, error,
				 sizeof(error))) {
		fprintf(stderr, "sadb-fill: %s\n", error);
		return 1;
	}
	rc = run_lines(db);
	cygnet_db_close(db);
	return rc ? 1 : 0;
}
