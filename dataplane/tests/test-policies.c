/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies that are kept for the next boot: their file, also damaged or hostile, when it is written, and what
 * is held. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/state_file.h"
#include "keep_policies.h"
#include "policy_file.h"

#define ROOM  8192u
#define HEAD  "cygnet policies 1\nsadb /s\n"
#define LINE  "out protect 1000 10.1.0.0-10.1.0.255 10.2.0.0-10.2.0.255 0 0-65535 0-65535 0\n"
#define LINE6 "fwd discard 7 2001:db8::-2001:db8::ffff ::1-::1 17 1-2 53-53 811c9dc5\n"

static char folder[] = "./test-XXXXXX", path[sizeof(folder) + 16], copy[sizeof(folder) + 32],
	    sadb_path[sizeof(folder) + 16];
static struct conf conf;
static struct cygnet_db *db;
static char log_text[8 * ROOM];

/* --- fixture --- */

static int start(void **state)
{
	FILE *out = fmemopen(log_text, sizeof(log_text), "w");

	(void)state;
	if (!mkdtemp(folder) || !out)
		return -1;
	setbuf(out, NULL);
	log_divert(out);
	snprintf(path, sizeof(path), "%s/policies", folder);
	snprintf(sadb_path, sizeof(sadb_path), "%s/sadb", folder);
	snprintf(conf.state, sizeof(conf.state), "%s", folder);
	snprintf(copy, sizeof(copy), "%s.copy", path);
	conf.keep_policies = conf.hold_unknown = true;
	return 0;
}

static int remove_all(void **state)
{
	(void)state;
	log_divert(NULL);
	unlink(path);
	unlink(copy);
	return rmdir(folder);
}

/* Of a new boot: nothing is in it. */
static int boot(void **state)
{
	const struct cygnet_geometry geometry = {64, 64};

	(void)state;
	return cygnet_db_open_flags(sadb_path, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL, 0);
}

static int halt(void **state)
{
	(void)state;
	cygnet_db_close(db);
	return unlink(sadb_path);
}

static void reboot(void)
{
	assert_int_equal(halt(NULL), 0);
	assert_int_equal(boot(NULL), 0);
}

static struct cygnet_policy_params tunnel(enum cygnet_action action)
{
	struct cygnet_policy_params p = {
		.sel = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .af = AF_INET},
		.priority = 1000,
		.reqid = 3,
		.dir = CYGNET_OUT,
		.action = (uint8_t)action,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
	};

	inet_pton(AF_INET, "10.1.0.0", &p.sel.src_lo);
	inet_pton(AF_INET, "10.1.0.255", &p.sel.src_hi);
	inet_pton(AF_INET, "10.2.0.0", &p.sel.dst_lo);
	inet_pton(AF_INET, "10.2.0.255", &p.sel.dst_hi);
	return p;
}

static void save(const char *text)
{
	assert_int_equal(state_file_write(path, text, strlen(text), 0600), 0);
}

static char *load(void)
{
	int err;

	return state_file_read(path, ROOM, &err);
}

/* --- memory --- */

/* In place of the C library's, unless a sanitizer has them. */
static bool no_memory;

#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);

void *malloc(size_t size)
{
	return no_memory ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __libc_calloc(n, size);
}
#endif

/* --- the text --- */

static int parse(const char *text, struct policy_list *list, char why[256])
{
	char *parsed = strdup(text);
	int err = policy_list_parse(parsed, "/s", 2, list, why, 256);

	free(parsed);
	return err;
}

static void text_of_all(void **state)
{
	struct policy_list list;
	char *text, why[256];
	size_t len;

	(void)state;
	assert_int_equal(parse(HEAD LINE LINE6, &list, why), 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.policy[0].dir, CYGNET_OUT);
	assert_int_equal(list.policy[0].action, CYGNET_PROTECT);
	assert_int_equal(list.policy[0].priority, 1000);
	assert_int_equal(list.policy[0].sel.src_lo.v4, inet_addr("10.1.0.0"));
	assert_int_equal(list.policy[0].sel.dst_hi.v4, inet_addr("10.2.0.255"));
	assert_int_equal(list.policy[1].dir, CYGNET_FWD);
	assert_int_equal(list.policy[1].action, CYGNET_DISCARD);
	assert_int_equal(list.policy[1].sel.af, AF_INET6);
	assert_int_equal(list.policy[1].sel.proto, 17);
	assert_int_equal(list.policy[1].sel.sport_lo, 1);
	assert_int_equal(list.policy[1].sel.dport_hi, 53);
	assert_int_equal(list.policy[1].sel.interface, 0x811c9dc5);
	text = policy_list_text(&list, "/s", &len);
	assert_string_equal(text, HEAD LINE LINE6);
	assert_int_equal(len, strlen(text));
	free(text);
	policy_list_free(&list);
	assert_int_equal(parse(HEAD, &list, why), 0);
	assert_int_equal(list.n, 0);
	policy_list_free(&list);
}

/* A line of which one field is replaced. */
static void refused_field(unsigned int field, const char *value)
{
	char text[1024] = HEAD LINE, *line = text + strlen(text), why[256];
	const char *rest = LINE;
	struct policy_list list;

	for (unsigned int i = 0; i < field; i++)
		rest = strchr(rest, ' ') + 1;
	snprintf(line, 512, "%.*s%s%s", (int)(rest - LINE), LINE, value,
		 rest + strcspn(rest, " \n"));
	assert_int_equal(parse(text, &list, why), -EINVAL);
	assert_string_equal(why, "line 4 is wrong");
	assert_null(list.policy);
}

static void refused_fields(void **state)
{
	static const struct {
		unsigned int field;
		const char *values[8];
	} cases[] = {
		{0, {"", "OUT", "ou", "outer", "3"}},
		{1, {"", "bypass", "Protect", "discar"}},
		{2, {"-1", "+1", "01", "4294967296", "9999999999", "1x", "99999999999"}},
		{3,
		 {"", "10.1.0.0", "10.1.0.1-10.1.0.0", "10.1.0-10.1.0.1", "010.1.0.0-10.1.0.1",
		  "::1-10.1.0.1", "10.1.0.0-10.1.0.1-", "10.1.0.0-256.0.0.0"}},
		{4, {"::1-::2", "10.2.0.2-10.2.0.1", "-", "10.2.0.0-10.2.0.1%eth0"}},
		{5, {"", "256", "-1", "udp", "00"}},
		{6, {"0", "2-1", "0-65536", "-1-5", "0-", "1-2-3"}},
		{7, {"00-65535", "a-b", "0x1-2"}},
		{8, {"", "x", "0x1", "100000000", "A", "-1"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t v = 0; v < 8 && cases[i].values[v]; v++)
			refused_field(cases[i].field, cases[i].values[v]);
	/* Lengths beyond any address. */
	refused_field(3, "1111111111111111111111111111111111111111111111111111111111111111111-::1");
}

static void refused_texts(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *why;
	} cases[] = {
		{"", -EINVAL, "line 1"},
		{"cygnet policies 2\nsadb /s\n", -EINVAL, "line 1"},
		{"cygnet policies 1\n", -EINVAL, "line 2"},
		{"cygnet policies 1\nsadb /s", -EINVAL, "line 2"},
		{"cygnet policies 1\nsadb /other\n" LINE, -ESTALE, "/other"},
		{HEAD LINE "\n", -EINVAL, "line 4 is wrong"},
		{HEAD "out\n", -EINVAL, "line 3 is wrong"},
		{HEAD
		 "out protect 1000 10.1.0.0-10.1.0.255 10.2.0.0-10.2.0.255 0 0-65535 0-65535 0 0\n",
		 -EINVAL, "line 3 is wrong"},
		{HEAD
		 "out protect 1000 10.1.0.0-10.1.0.255 10.2.0.0-10.2.0.255 0 0-65535 0-65535\n",
		 -EINVAL, "line 3 is wrong"},
		{HEAD LINE "out", -EINVAL, "line 4 is wrong"},
		{HEAD LINE LINE6 LINE, -ENOSPC, "line 5: more than 2"},
	};
	struct policy_list list;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].text, &list, why), cases[i].err);
		assert_non_null(strstr(why, cases[i].why));
		assert_null(list.policy);
	}
}

/* --- the file --- */

static void damaged(void **state)
{
	char whole[1024];
	size_t len;
	FILE *file;

	(void)state;
	save(HEAD LINE);
	file = fopen(path, "r+");
	len = fread(whole, 1, sizeof(whole), file);
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(fseek(file, (long)i, SEEK_SET), 0);
		fputc(whole[i] ^ 1 << i % 8, file);
		fflush(file);
		assert_null(load());
		assert_int_equal(fseek(file, (long)i, SEEK_SET), 0);
		fputc(whole[i], file);
		fflush(file);
	}
	fclose(file);
	free(load());
	for (size_t i = len; i--;) {
		assert_int_equal(truncate(path, (off_t)i), 0);
		assert_null(load());
	}
}

/* Neither is the file taken for a damaged one, nor a part of it for all. */
static void without_memory(void **state)
{
	char text[] = HEAD LINE, why[256];
	struct policy_list list;
	int err = 0;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	save(HEAD LINE);
	no_memory = true;
	assert_null(state_file_read(path, ROOM, &err));
	assert_int_equal(err, -ENOMEM);
	err = policy_list_parse(text, "/s", 2, &list, why, sizeof(why));
	no_memory = false;
	assert_int_equal(err, -ENOMEM);
	assert_null(list.policy);
}

/* A disk that takes no more: the file of before stays. */
static void full_disk(void **state)
{
	struct rlimit before;
	char *text;

	(void)state;
	save(HEAD LINE);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, before.rlim_max}), 0);
	assert_int_equal(state_file_write(path, HEAD, strlen(HEAD), 0600), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	text = load();
	assert_string_equal(text, HEAD LINE);
	free(text);
}

/* Others could have written it. */
static void of_others(void **state)
{
	struct stat st;
	char *text;

	(void)state;
	save(HEAD LINE);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	text = load();
	assert_string_equal(text, HEAD LINE);
	free(text);
	chmod(path, 0620);
	assert_null(load());
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_null(load());
	/* The link is replaced, not what it names. */
	save(HEAD LINE);
	free(load());
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_null(load());
	assert_true(state_file_write(path, HEAD, strlen(HEAD), 0600) < 0);
	rmdir(path);
}

/* --- boots --- */

/* Look as often as it takes until charon's policies are written. */
static void run_charon(struct policy_keeper *keeper)
{
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_CHARON), 0);
	assert_int_equal(keep_policies_look(keeper, db), 0);
	assert_int_equal(keep_policies_look(keeper, db), 0);
}

static void held_after_boot(void **state)
{
	struct policy_keeper keeper = {0};
	struct cygnet_policy_params p = tunnel(CYGNET_PROTECT), other = p;
	struct cygnet_policy found;
	char *text;

	(void)state;
	unlink(path);
	snprintf(keeper.path, sizeof(keeper.path), "%s", path);
	assert_int_equal(cygnet_policy_add(db, &p), 0);
	p.reqid++; /* as in rekeying: the selectors once more, with a better priority */
	p.priority = 900;
	assert_int_equal(cygnet_policy_add(db, &p), 0);
	other.dir = CYGNET_IN;
	other.action = CYGNET_BYPASS;
	assert_int_equal(cygnet_policy_add(db, &other), 0);
	run_charon(&keeper);
	keep_policies_forget(&keeper);
	text = load();
	assert_non_null(text);
	assert_non_null(strstr(
		text,
		"\nout protect 900 10.1.0.0-10.1.0.255 10.2.0.0-10.2.0.255 0 0-65535 0-65535 0\n"));
	assert_null(strstr(text, "1000"));
	assert_null(strstr(text, "\nin "));
	free(text);
	/* The same boot: charon has stopped in an orderly way, and nothing is held. */
	cygnet_db_flush(db);
	cygnet_role_release(db, CYGNET_ROLE_CHARON);
	keep_policies_restore(&conf, db);
	assert_int_equal(cygnet_policies_held(db), 0);
	reboot();
	keep_policies_restore(&conf, db);
	assert_int_equal(cygnet_policies_held(db), 1);
	assert_true(cygnet_policy_snapshot(db, 0, &found));
	assert_int_equal(found.priority, 900);
	assert_int_equal(found.reqid, 0);
	assert_int_equal(found.action, CYGNET_PROTECT);
	assert_non_null(strstr(log_text, "1 policies of the last run"));
	/* What is held is kept, too. */
	run_charon(&keeper);
	text = load();
	assert_non_null(strstr(text, "out protect 900 "));
	free(text);
	keep_policies_forget(&keeper);
	/* Charon was first, or the configuration says no. */
	reboot();
	conf.keep_policies = false;
	keep_policies_restore(&conf, db);
	conf.keep_policies = true;
	assert_int_equal(cygnet_policies_held(db), 0);
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_CHARON), 0);
	keep_policies_restore(&conf, db);
	assert_int_equal(cygnet_policies_held(db), 0);
	assert_non_null(strstr(log_text, "charon was there before"));
}

/* What charon leaves while it stops is not written. */
static void written_when(void **state)
{
	struct cygnet_policy_params p = tunnel(CYGNET_PROTECT), q = tunnel(CYGNET_DISCARD);
	struct policy_keeper keeper = {0};
	struct stat before, after;
	char *text;

	(void)state;
	unlink(path);
	snprintf(keeper.path, sizeof(keeper.path), "%s", path);
	q.sel.proto = IPPROTO_TCP;
	assert_int_equal(cygnet_policy_add(db, &p), 0);
	assert_int_equal(cygnet_policy_add(db, &q), 0);
	/* Nobody is charon: these are policies of one that has died. */
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_CHARON), 0);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	assert_int_equal(stat(path, &before), 0);
	/* Not again without a change. */
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	/* It stops: it has removed one policy at this look, and is gone at the next one. */
	assert_int_equal(cygnet_policy_delete(db, &p), 0);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	cygnet_db_flush(db);
	cygnet_role_release(db, CYGNET_ROLE_CHARON);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	text = load();
	assert_non_null(strstr(text, "protect"));
	assert_non_null(strstr(text, "discard"));
	free(text);
	/* A policy that charon removes while it goes on is not kept. */
	assert_int_equal(cygnet_policy_add(db, &q), 0);
	run_charon(&keeper);
	text = load();
	assert_null(strstr(text, "protect"));
	assert_non_null(strstr(text, "discard"));
	free(text);
	assert_int_equal(access(copy, F_OK), 0);
	/* A file that cannot be written is an error, and tried again. */
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(cygnet_policy_add(db, &p), 0);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	assert_true(keep_policies_look(&keeper, db) < 0);
	rmdir(path);
	assert_int_equal(keep_policies_look(&keeper, db), 0);
	text = load();
	assert_non_null(strstr(text, "protect"));
	free(text);
	keep_policies_forget(&keeper);
}

/* The packets of a flow are for a held policy. */
static bool holds(enum cygnet_dir dir, const char *src, const char *dst)
{
	const struct cygnet_policy *policy;
	struct cygnet_flow flow = {.af = strchr(src, ':') ? AF_INET6 : AF_INET};
	bool held;

	inet_pton(flow.af, src, &flow.src);
	inet_pton(flow.af, dst, &flow.dst);
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_reader_online(db, 0), 0);
	policy = cygnet_spd_lookup(db, dir, &flow);
	held = policy && cygnet_policy_held(policy);
	cygnet_reader_offline(db, 0);
	return held;
}

static bool holds_everything(void)
{
	bool all = true;

	for (enum cygnet_dir dir = CYGNET_IN; dir < CYGNET_DIRS; dir++)
		all = all && holds(dir, "192.0.2.7", "255.255.255.255") &&
		      holds(dir, "2001:db8::1", "ffff::1");
	return all;
}

/* The file and its copy. */
static void save_both(const char *text)
{
	save(text);
	assert_int_equal(state_file_write(copy, text, strlen(text), 0600), 0);
}

static void remove_both(void)
{
	unlink(path);
	unlink(copy);
}

/* What is in the folder, and what is held at the next boot. */
static void held_at_boot(bool every, unsigned int held)
{
	reboot();
	keep_policies_restore(&conf, db);
	assert_int_equal(cygnet_policies_held(db), held);
	assert_int_equal(holds_everything(), every);
}

/* Nothing of a file is held that cannot be used, but everything; the log says why. */
static void everything_of_a_wrong_file(void **state)
{
	char good[512], wrong[1024], others[512], more[8192];
	struct policy_keeper keeper = {0};

	(void)state;
	snprintf(good, sizeof(good), "cygnet policies 1\nsadb %s\n" LINE, sadb_path);
	snprintf(wrong, sizeof(wrong), "%sout protect 10 10.0.0.0-9.0.0.0 0\n", good);
	snprintf(others, sizeof(others), "cygnet policies 1\nsadb /other\n" LINE);
	snprintf(more, sizeof(more), "%s", good);
	for (unsigned int i = 0; i < 64; i++)
		strcat(more, LINE);
	remove_both();
	held_at_boot(false, 0);
	assert_true(cygnet_spd_unused(db));
	save_both(good);
	held_at_boot(false, 1);
	save_both(wrong);
	held_at_boot(true, 6);
	assert_non_null(strstr(log_text, "line 4 is wrong"));
	save_both("cygnet policies 2\n");
	held_at_boot(true, 6);
	save_both(others);
	held_at_boot(true, 6);
	assert_non_null(strstr(log_text, "of another sadb, /other"));
	save_both(more);
	held_at_boot(true, 6);
	assert_non_null(strstr(log_text, "more than 64 policies"));
	save_both(good);
	chmod(path, 0666);
	unlink(copy);
	held_at_boot(true, 6);
	assert_non_null(strstr(log_text, "others can write it"));
	/* An administrator may prefer plaintext. */
	conf.hold_unknown = false;
	held_at_boot(false, 0);
	conf.hold_unknown = true;
	/* That everything is held is not kept as if it were a policy of the last run. */
	held_at_boot(true, 6);
	snprintf(keeper.path, sizeof(keeper.path), "%s", path);
	run_charon(&keeper);
	keep_policies_forget(&keeper);
	held_at_boot(true, 6);
	assert_int_equal(state_file_write(copy, "", 0, 0600), 0);
	held_at_boot(true, 6);
	remove_both();
}

/* One file is enough. */
static void copy_of_a_wrong_file(void **state)
{
	char good[512];

	(void)state;
	snprintf(good, sizeof(good), "cygnet policies 1\nsadb %s\n" LINE, sadb_path);
	save_both(good);
	save("cygnet policies 2\n");
	held_at_boot(false, 1);
	assert_non_null(strstr(log_text, "used, a copy"));
	unlink(path);
	held_at_boot(false, 1);
	save(good);
	unlink(copy);
	held_at_boot(false, 1);
	remove_both();
}

#define WITH_SADB(name) cmocka_unit_test_setup_teardown(name, boot, halt)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_all),	  cmocka_unit_test(refused_fields),
		cmocka_unit_test(refused_texts),  cmocka_unit_test(damaged),
		cmocka_unit_test(of_others),	  WITH_SADB(held_after_boot),
		cmocka_unit_test(without_memory), cmocka_unit_test(full_disk),
		WITH_SADB(written_when),	  WITH_SADB(everything_of_a_wrong_file),
		WITH_SADB(copy_of_a_wrong_file),
	};

	return cmocka_run_group_tests_name("policies", tests, start, remove_all);
}
