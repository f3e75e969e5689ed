/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Held policies: how long those of an earlier charon are held, and which ones a
 * charon that ends leaves.
 */

#include "charon.h"
#include "../kernel_cygnet_db.h"
#include "../kernel_cygnet_hold.h"
#include "../kernel_cygnet_policy.h"
#include "../kernel_cygnet_wanted.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <daemon.h>

#define OTHER_NET "10.3.0.0/16"
#define ALL_NETS "10.0.0.0/8"

/** Length of the plugin's seconds in this test, ms */
#define SECOND_MS 50

/** The connection that charon has loaded, NULL if there is none */
static peer_cfg_t *connection;

/** A file without policies */
static struct cygnet_db *empty;

static char *empty_path(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s-empty", dataplane_path);
	return path;
}

static enumerator_t *enumerate_peers(backend_t *this, identification_t *me,
									 identification_t *other)
{
	return connection ? enumerator_create_single(connection, NULL)
					  : enumerator_create_empty();
}

static enumerator_t *enumerate_none(backend_t *this, host_t *me, host_t *other)
{
	return enumerator_create_empty();
}

static peer_cfg_t *find_none(backend_t *this, char *name)
{
	return NULL;
}

static backend_t backend = {
	.create_ike_cfg_enumerator = enumerate_none,
	.create_peer_cfg_enumerator = enumerate_peers,
	.get_peer_cfg_by_name = find_none,
};

static void unload(void)
{
	peer_cfg_t *old = connection;

	__atomic_store_n(&connection, NULL, __ATOMIC_RELEASE);
	DESTROY_IF(old);
}

static traffic_selector_t *create_ts(char *net, uint8_t proto, uint16_t port)
{
	return net ? traffic_selector_create_from_cidr(net, proto, port, port ?: 65535)
			   : traffic_selector_create_dynamic(proto, port, port ?: 65535);
}

/** Add a child to a connection. A net that is NULL is dynamic. */
static void add_nets(peer_cfg_t *peer_cfg, char *my_net, char *other_net,
					 uint8_t proto, uint16_t port, ipsec_mode_t mode)
{
	child_cfg_create_t child = {
		.mode = mode,
	};
	child_cfg_t *child_cfg = child_cfg_create("child", &child);

	child_cfg->add_traffic_selector(child_cfg, TRUE,
									create_ts(my_net, proto, 0));
	child_cfg->add_traffic_selector(child_cfg, FALSE,
									create_ts(other_net, proto, port));
	peer_cfg->add_child_cfg(peer_cfg, child_cfg);
}

/** Create a connection without children */
static peer_cfg_t *create_connection(char *my_addr, char *other_addr)
{
	ike_cfg_create_t ike = {
		.version = IKEV2,
		.local = my_addr,
		.local_port = 500,
		.remote = other_addr,
		.remote_port = 500,
	};
	peer_cfg_create_t peer = {};

	return peer_cfg_create("peer", ike_cfg_create(&ike), &peer);
}

/** Load a connection with a child instead of what is loaded */
static peer_cfg_t *load(char *my_addr, char *other_addr, char *my_net,
						char *other_net, uint8_t proto, uint16_t port,
						ipsec_mode_t mode)
{
	peer_cfg_t *peer_cfg = create_connection(my_addr, other_addr);

	add_nets(peer_cfg, my_net, other_net, proto, port, mode);
	unload();
	__atomic_store_n(&connection, peer_cfg, __ATOMIC_RELEASE);
	return peer_cfg;
}

/** Load a connection with that many tunnels to nets of 10.64.0.0/10, and others
 * of which the peer's address is not known */
static void load_many(u_int count, u_int others)
{
	peer_cfg_t *peer_cfg = create_connection(MOON, "%any");
	char net[32];
	u_int i;

	for (i = 0; i < count; i++)
	{
		snprintf(net, sizeof(net), "10.%u.%u.0/24", 64 + i / 256, i % 256);
		add_nets(peer_cfg, MOON_NET, net, 0, 0, MODE_TUNNEL);
	}
	while (others--)
	{
		add_nets(peer_cfg, MOON_NET, NULL, 0, 0, MODE_TUNNEL);
	}
	unload();
	__atomic_store_n(&connection, peer_cfg, __ATOMIC_RELEASE);
}

/** Load a tunnel between two nets */
static void load_nets(char *my_net, char *other_net)
{
	load(MOON, SUN, my_net, other_net, 0, 0, MODE_TUNNEL);
}

/** Whether the connection wants the packets of a policy protected that is
 * between two nets of this family */
static bool wants(enum cygnet_dir dir, char *src, char *dst, uint8_t proto,
				  uint16_t port)
{
	traffic_selector_t *src_ts = create_ts(src, proto, 0);
	traffic_selector_t *dst_ts = create_ts(dst, proto, port);
	kernel_ipsec_policy_id_t id = {
		.src_ts = src_ts,
		.dst_ts = dst_ts,
	};
	struct cygnet_policy held = {
		.dir = dir,
	};
	kernel_cygnet_wanted_t *wanted;
	const char *why;
	bool covers, installed;

	assert_int_equal(kernel_cygnet_policy_selector(&id, &held.sel, &why),
					 SUCCESS);
	src_ts->destroy(src_ts);
	dst_ts->destroy(dst_ts);
	wanted = kernel_cygnet_wanted_create(empty);
	covers = wanted->covers(wanted, &held, &installed);
	wanted->destroy(wanted);
	assert_false(installed);
	return covers;
}

/** Whether it wants all packets between MOON_NET and SUN_NET protected */
static bool wants_nets(void)
{
	return wants(CYGNET_OUT, MOON_NET, SUN_NET, 0, 0);
}

static void test_wanted(void **state)
{
	peer_cfg_t *peer_cfg;

	assert_false(kernel_cygnet_wanted_loaded());
	assert_false(wants_nets());
	load_nets(MOON_NET, SUN_NET);
	assert_true(kernel_cygnet_wanted_loaded());
	assert_true(wants_nets());
	assert_true(wants(CYGNET_IN, SUN_NET, MOON_NET, 0, 0));
	assert_true(wants(CYGNET_FWD, SUN_NET, MOON_NET, 0, 0));
	assert_false(wants(CYGNET_OUT, SUN_NET, MOON_NET, 0, 0));
	assert_false(wants(CYGNET_IN, MOON_NET, SUN_NET, 0, 0));
	/* what a peer has narrowed */
	assert_true(wants(CYGNET_OUT, "10.1.7.0/24", "10.2.7.0/24", 17, 53));
	assert_false(wants(CYGNET_OUT, ALL_NETS, SUN_NET, 0, 0));
	assert_false(wants(CYGNET_OUT, MOON_NET, OTHER_NET, 0, 0));
	assert_false(wants(CYGNET_OUT, "2001:db8::/32", "2001:db8::/32", 0, 0));
	/* only some packets, or none */
	load(MOON, SUN, MOON_NET, SUN_NET, 17, 53, MODE_TUNNEL);
	assert_false(wants_nets());
	assert_false(wants(CYGNET_OUT, MOON_NET, SUN_NET, 17, 54));
	assert_false(wants(CYGNET_OUT, MOON_NET, SUN_NET, 6, 53));
	assert_true(wants(CYGNET_OUT, MOON_NET, SUN_NET, 17, 53));
	load(MOON, SUN, MOON_NET, SUN_NET, 0, 0, MODE_PASS);
	assert_false(wants_nets());
	load(MOON, SUN, MOON_NET, SUN_NET, 0, 0, MODE_DROP);
	assert_true(wants_nets());
	/* one of several */
	peer_cfg = load(MOON, SUN, ALL_NETS, ALL_NETS, 17, 53, MODE_TUNNEL);
	add_nets(peer_cfg, MOON_NET, SUN_NET, 17, 54, MODE_TUNNEL);
	add_nets(peer_cfg, MOON_NET, SUN_NET, 17, 55, MODE_TUNNEL);
	add_nets(peer_cfg, "10.1.2.0/24", "0.0.0.0/0", 0, 0, MODE_TUNNEL);
	add_nets(peer_cfg, "::/0", "2001:db8::/33", 0, 0, MODE_TUNNEL);
	assert_true(wants(CYGNET_OUT, MOON_NET, SUN_NET, 17, 53));
	assert_true(wants(CYGNET_OUT, MOON_NET, SUN_NET, 17, 54));
	assert_true(wants(CYGNET_OUT, MOON_NET, SUN_NET, 17, 55));
	assert_false(wants(CYGNET_OUT, MOON_NET, SUN_NET, 17, 56));
	assert_true(wants(CYGNET_OUT, "10.1.2.3/32", "192.0.2.9/32", 6, 56));
	assert_true(wants(CYGNET_IN, "192.0.2.9/32", "10.1.2.3/32", 6, 56));
	assert_false(wants(CYGNET_OUT, "10.1.2.0/23", "192.0.2.9/32", 6, 56));
	assert_true(wants(CYGNET_OUT, "2001:db8::1/128", "2001:db8::/40", 6, 0));
	assert_false(wants(CYGNET_OUT, "2001:db8::1/128", "2001:db8::/32", 6, 0));
	unload();
}

/** What transport mode wants, and never forwards, a tunnel may forward */
static void test_wanted_twice(void **state)
{
	kernel_cygnet_wanted_t *wanted;
	peer_cfg_t *peer_cfg;

	peer_cfg = load(MOON, SUN, MOON "/32", SUN "/32", 0, 0, MODE_TRANSPORT);
	wanted = kernel_cygnet_wanted_create(empty);
	assert_int_equal(wanted->count(wanted), 1);
	assert_int_equal(wanted->missing(wanted), 2);
	wanted->destroy(wanted);
	add_nets(peer_cfg, MOON "/32", SUN "/32", 0, 0, MODE_TUNNEL);
	wanted = kernel_cygnet_wanted_create(empty);
	assert_int_equal(wanted->count(wanted), 2);
	assert_int_equal(wanted->missing(wanted), 3);
	wanted->destroy(wanted);
	unload();
}

/** Shortest CPU time of some rounds that look up policies of that many wanted
 * ones */
static uint64_t time_lookups(u_int pairs)
{
	kernel_cygnet_wanted_t *wanted;
	struct cygnet_policy held = {
		.dir = CYGNET_OUT,
		.sel = {
			.src_lo.bytes = {10, 1, 1, 0},
			.src_hi.bytes = {10, 1, 1, 255},
			.sport_hi = 65535,
			.dport_hi = 65535,
			.af = AF_INET,
		},
	};
	struct timespec began, ended;
	uint64_t took, shortest = UINT64_MAX;
	bool installed;
	int i, round;

	load_many(pairs, 0);
	wanted = kernel_cygnet_wanted_create(empty);
	assert_int_equal(wanted->count(wanted), pairs);
	for (round = 0; round < 5; round++)
	{
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
		for (i = 0; i < 1000; i++)
		{
			held.sel.dst_lo = held.sel.dst_hi = (struct cygnet_addr){
				.bytes = {10, 64 + i % pairs / 256, i % pairs % 256, 1},
			};
			assert_true(wanted->covers(wanted, &held, &installed));
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
		took = (ended.tv_sec - began.tv_sec) * 1000000000ULL +
			   ended.tv_nsec - began.tv_nsec;
		shortest = min(shortest, took);
	}
	wanted->destroy(wanted);
	unload();
	return shortest;
}

/* what a look takes does not grow with held policies times connections */
static void test_wanted_many(void **state)
{
	uint64_t few = time_lookups(16), many = time_lookups(2048);

	assert_in_range(many, 0, 16 * few);
}

/* dynamic traffic selectors are known if the addresses are */
static void test_wanted_dynamic(void **state)
{
	peer_cfg_t *peer_cfg;

	load(MOON, "2001:db8::9, " SUN, NULL, NULL, 0, 0, MODE_TRANSPORT);
	assert_true(wants(CYGNET_OUT, MOON "/32", SUN "/32", 0, 0));
	assert_true(wants(CYGNET_IN, SUN "/32", MOON "/32", 0, 0));
	assert_false(wants(CYGNET_OUT, MOON "/32", MOON "/32", 0, 0));
	load(MOON, SUN, NULL, SUN_NET, 0, 0, MODE_TUNNEL);
	assert_true(wants(CYGNET_OUT, MOON "/32", SUN_NET, 0, 0));
	/* virtual addresses, and a peer that may have any address */
	peer_cfg = load(MOON, SUN, MOON_NET, NULL, 0, 0, MODE_TUNNEL);
	assert_true(wants(CYGNET_OUT, MOON_NET, SUN "/32", 0, 0));
	peer_cfg->add_pool(peer_cfg, "pool");
	assert_false(wants(CYGNET_OUT, MOON_NET, SUN "/32", 0, 0));
	peer_cfg = load(MOON, SUN, NULL, SUN_NET, 0, 0, MODE_TUNNEL);
	peer_cfg->add_virtual_ip(peer_cfg, host_create_any(AF_INET));
	assert_false(wants(CYGNET_OUT, MOON "/32", SUN_NET, 0, 0));
	load(MOON, "%any", MOON_NET, NULL, 0, 0, MODE_TUNNEL);
	assert_false(wants(CYGNET_OUT, MOON_NET, SUN "/32", 0, 0));
	load(MOON, "sun.example", MOON_NET, NULL, 0, 0, MODE_TUNNEL);
	assert_false(wants(CYGNET_OUT, MOON_NET, SUN "/32", 0, 0));
	unload();
}

/** Leave what a killed charon had: an SPI, two policies between MOON_NET and
 * SUN_NET, one bypass, and for everything a policy as cygnetd holds it */
static void leave_policies(const char *path, bool everything)
{
	struct cygnet_geometry geometry = {64, 64};
	struct cygnet_policy_params params = {
		.priority = 100,
		.reqid = 1,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
	};
	struct cygnet_db *db;
	const char *why;
	uint32_t spi;
	pid_t pid;
	int status;

	assert_int_equal(kernel_cygnet_policy_selector(&policy.id, &params.sel,
												   &why), SUCCESS);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
	{
		if (cygnet_db_open_flags(path, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL,
								 0) ||
			cygnet_spi_reserve(db, IPPROTO_ESP, AF_INET, &params.dst, 0, 0, &spi))
		{
			_exit(1);
		}
		params.dir = CYGNET_OUT;
		status = cygnet_policy_add(db, &params);
		params.sel.proto = IPPROTO_UDP;
		status |= cygnet_policy_add(db, &params);
		params.sel.proto = IPPROTO_TCP;
		params.action = CYGNET_BYPASS;
		status |= cygnet_policy_add(db, &params);
		if (everything)
		{
			params.sel = (struct cygnet_selector){
				.af = AF_INET,
				.sport_hi = 65535,
				.dport_hi = 65535,
			};
			memset(&params.sel.src_hi, 0xff, 4);
			memset(&params.sel.dst_hi, 0xff, 4);
			params.action = CYGNET_DISCARD;
			params.priority = CYGNET_PRIORITY_LAST;
			status |= cygnet_policy_hold(db, &params);
		}
		_exit(status ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int reclaims;

static void count_reclaim(kernel_cygnet_event_t *this)
{
	__atomic_add_fetch(&reclaims, 1, __ATOMIC_RELEASE);
}

static kernel_cygnet_event_t events = {
	.reclaim = count_reclaim,
};

static u_int policies_of(struct cygnet_db *db)
{
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	return info.policies;
}

static void set_hold(char *seconds)
{
	lib->settings->set_str(lib->settings,
						   "%s.plugins.kernel-cygnet.hold_policies", seconds,
						   lib->ns);
}

/** Use another file, of a charon that was killed; NULL: the usual one again */
static void use_file(const char *path)
{
	lib->settings->set_str(lib->settings, "%s.plugins.kernel-cygnet.path",
						   (char*)(path ?: dataplane_path), lib->ns);
}

/** Wait until that many policies are held */
static bool await_held(struct cygnet_db *db, u_int held)
{
	int i;

	for (i = 0; i < LONG_WAIT / 10 && cygnet_policies_held(db) != held; i++)
	{
		usleep(10000);
	}
	return cygnet_policies_held(db) == held;
}

/** Install an outbound policy between two nets */
static void install(struct cygnet_db *db, char *src, char *dst, uint8_t proto)
{
	struct cygnet_policy_params params;
	const char *why;

	fixture_policy_select(&policy, src, dst, proto, 0, 65535);
	assert_int_equal(kernel_cygnet_policy_params(&policy.id, &policy.data,
												 &params, &why), SUCCESS);
	assert_int_equal(cygnet_policy_add(db, &params), 0);
}

/** Wait until that many held policies have a priority */
static bool await_priority(struct cygnet_db *db, uint32_t priority, u_int count)
{
	struct cygnet_policy found;
	u_int held = count + 1;
	int i, slot;

	for (i = 0; i < LONG_WAIT / 10 && held != count; i++)
	{
		usleep(10000);
		for (held = 0, slot = 0; slot < 64; slot++)
		{
			held += cygnet_policy_snapshot(db, slot, &found) &&
					found.priority == priority;
		}
	}
	return held == count;
}

/** Time of some looks at the connections, if hold_policies is 1 */
static void await_looks(void)
{
	usleep(3500 * SECOND_MS);
}

/** Wait until a line with that text is the last one that was logged */
static bool await_log(const char *text)
{
	int i;

	for (i = 0; i < LONG_WAIT / 10 && !strstr(log_text, text); i++)
	{
		usleep(10000);
	}
	return strstr(log_text, text);
}

/* policies of a charon that was killed are held until connections have been
 * loaded that do not want them */
static void test_hold(void **state)
{
	kernel_cygnet_hold_t *hold;
	struct cygnet_db *db;
	char path[128];

	snprintf(path, sizeof(path), "%s-hold", dataplane_path);
	leave_policies(path, TRUE);
	use_file(path);
	set_hold("1");
	assert_non_null((db = kernel_cygnet_db_open(180)));
	assert_int_equal(log_lines, 2);
	assert_non_null(strstr(log_text, "3 policies"));
	assert_non_null(strstr(log_text, "180 seconds"));
	assert_int_equal(policies_of(db), 3);
	hold = kernel_cygnet_hold_create(db, &events);
	hold->added(hold);
	assert_int_equal(__atomic_load_n(&reclaims, __ATOMIC_ACQUIRE), 1);
	/* nothing is loaded, so that nobody knows what is wanted */
	await_looks();
	assert_int_equal(cygnet_policies_held(db), 3);
	/* a connection wants everything */
	load_nets("0.0.0.0/0", "0.0.0.0/0");
	await_looks();
	assert_true(await_priority(db, CYGNET_PRIORITY_LAST, 1));
	unload();
	/* another one wants the policies, and its own held instead of everything */
	load_nets(ALL_NETS, ALL_NETS);
	assert_true(await_priority(db, CYGNET_PRIORITY_LAST, 0));
	assert_int_equal(cygnet_policies_held(db), 2 + CYGNET_DIRS);
	assert_true(await_log("5 held policies drop packets until"));
	unload();
	load_nets(MOON_NET, SUN_NET);
	assert_true(await_held(db, 2));
	assert_true(await_log("2 held policies drop packets until"));
	await_looks();
	assert_int_equal(cygnet_policies_held(db), 2);
	/* it is replaced by one that wants one of them */
	load(MOON, SUN, MOON_NET, SUN_NET, IPPROTO_UDP, 0, MODE_TUNNEL);
	assert_true(await_held(db, 1));
	unload();
	await_looks();
	assert_int_equal(cygnet_policies_held(db), 1);
	/* the administrator ends it */
	set_hold("0");
	assert_true(await_held(db, 0));
	assert_true(await_log("removed 1 held policies"));
	hold->destroy(hold);
	kernel_cygnet_db_close(db, FALSE);

	/* a trap protects what it includes, whatever the time */
	leave_policies(path, FALSE);
	set_hold("1");
	assert_non_null((db = kernel_cygnet_db_open(1)));
	hold = kernel_cygnet_hold_create(db, &events);
	load_nets(ALL_NETS, ALL_NETS);
	await_looks();
	install(db, ALL_NETS, ALL_NETS, IPPROTO_UDP);
	await_looks();
	assert_int_equal(cygnet_policies_held(db), 2);
	install(db, ALL_NETS, ALL_NETS, 0);
	assert_true(await_held(db, 0));
	unload();
	hold->destroy(hold);
	kernel_cygnet_db_close(db, FALSE);

	/* policies are not held if the option is 0 */
	leave_policies(path, FALSE);
	assert_non_null((db = kernel_cygnet_db_open(0)));
	assert_non_null(strstr(log_text, "removed 1 SAs and 3 policies"));
	assert_int_equal(policies_of(db), 0);
	kernel_cygnet_db_close(db, FALSE);

	/* a charon that ends leaves no policies, or holds them */
	leave_policies(path, FALSE);
	assert_non_null((db = kernel_cygnet_db_open(180)));
	kernel_cygnet_db_close(db, TRUE);
	assert_non_null((db = kernel_cygnet_db_open(180)));
	assert_int_equal(cygnet_policies_held(db), 2);
	kernel_cygnet_db_close(db, FALSE);
	assert_non_null((db = kernel_cygnet_db_open(180)));
	assert_int_equal(policies_of(db), 0);
	kernel_cygnet_db_close(db, FALSE);
	unlink(path);
	use_file(NULL);
	set_hold(NULL);
}

/* connections that want more than there is room for: everything is held, and the
 * log says what to do */
static void test_hold_no_room(void **state)
{
	kernel_cygnet_hold_t *hold;
	struct cygnet_db *db;
	char path[128];

	snprintf(path, sizeof(path), "%s-room", dataplane_path);
	leave_policies(path, TRUE);
	use_file(path);
	set_hold("1");
	assert_non_null((db = kernel_cygnet_db_open(1)));
	hold = kernel_cygnet_hold_create(db, &events);
	load_many(11, 0);
	assert_true(await_log("want 33 policies held instead"));
	assert_non_null(strstr(log_text, "63 of 64 are"));
	assert_non_null(strstr(log_text, "kernel-cygnet.policies to 67 at least"));
	assert_non_null(strstr(log_text, path));
	await_looks();
	assert_true(await_priority(db, CYGNET_PRIORITY_LAST, 1));
	assert_int_equal(cygnet_policies_held(db), 1);
	/* one is installed, so that it does not have to be held */
	install(db, MOON_NET, "10.64.0.0/24", 0);
	install(db, MOON_NET, "10.64.1.0/24", 0);
	install(db, MOON_NET, "10.64.2.0/24", 0);
	assert_true(await_priority(db, CYGNET_PRIORITY_LAST, 0));
	assert_int_equal(cygnet_policies_held(db), 30);
	unload();
	set_hold("0");
	assert_true(await_held(db, 0));
	hold->destroy(hold);
	kernel_cygnet_db_close(db, FALSE);
	unlink(path);
	use_file(NULL);
	set_hold(NULL);
}

/* while connections are being loaded, however slowly, nothing ends */
static void test_hold_loading(void **state)
{
	kernel_cygnet_hold_t *hold;
	struct cygnet_db *db;
	char path[128];
	u_int i;

	snprintf(path, sizeof(path), "%s-load", dataplane_path);
	leave_policies(path, TRUE);
	use_file(path);
	/* the time is over long before the last connection is loaded */
	set_hold("40");
	assert_non_null((db = kernel_cygnet_db_open(40)));
	assert_int_equal(cygnet_policies_held(db), 3);
	hold = kernel_cygnet_hold_create(db, &events);
	for (i = 0; i < 20; i++)
	{
		load_many(min(i + 1, 3), i);
		usleep(2500 * SECOND_MS);
		assert_int_equal(cygnet_policies_held(db), 3);
	}
	assert_true(await_held(db, CYGNET_DIRS * 3));
	unload();
	set_hold("0");
	assert_true(await_held(db, 0));
	hold->destroy(hold);
	kernel_cygnet_db_close(db, FALSE);
	unlink(path);
	use_file(NULL);
	set_hold(NULL);
}

static void test_hold_time(void **state)
{
	assert_int_equal(kernel_cygnet_hold_time(), 180);
	set_hold("5m");
	assert_int_equal(kernel_cygnet_hold_time(), 300);
	set_hold("0");
	assert_int_equal(kernel_cygnet_hold_time(), 0);
	set_hold(NULL);
}

static status_t add_policy(void)
{
	return charon->kernel->add_policy(charon->kernel, &policy.id, &policy.data);
}

static status_t del_policy(void)
{
	return charon->kernel->del_policy(charon->kernel, &policy.id, &policy.data);
}

/* policies that charon deletes because it ends are held, others are not */
static void test_stop(void **state)
{
	struct cygnet_db *db;

	lib->settings->set_bool(lib->settings,
							"%s.plugins.kernel-cygnet.hold_on_stop", TRUE,
							lib->ns);
	assert_int_equal(add_policy(), SUCCESS);
	assert_int_equal(del_policy(), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 0);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(add_policy(), SUCCESS);
	policy.data.type = POLICY_PASS;
	policy.id.dir = POLICY_IN;
	assert_int_equal(add_policy(), SUCCESS);
	charon->bus->alert(charon->bus, ALERT_SHUTDOWN_SIGNAL, SIGTERM);
	/* too late */
	lib->settings->set_bool(lib->settings,
							"%s.plugins.kernel-cygnet.hold_on_stop", FALSE,
							lib->ns);
	assert_int_equal(del_policy(), SUCCESS);
	policy.data.type = POLICY_IPSEC;
	policy.id.dir = POLICY_OUT;
	assert_int_equal(del_policy(), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 0);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 2);
	assert_true(charon_remove_ipsec());
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 1);
	assert_int_equal(cygnet_db_open_flags(dataplane_path, NULL,
									CYGNET_OPEN_ON_DISK, &db, NULL, 0), 0);
	assert_int_equal(cygnet_policies_held(db), 1);
	cygnet_db_flush(db);
	cygnet_db_close(db);
}

static int setup(void **state)
{
	struct cygnet_geometry geometry = {1, 1};
	int failed = charon_setup(state);

	kernel_cygnet_hold_second = SECOND_MS;
	assert_int_equal(cygnet_db_open_flags(empty_path(), &geometry,
								CYGNET_OPEN_ON_DISK, &empty, NULL, 0), 0);
	charon->backends->add_backend(charon->backends, &backend);
	return failed;
}

static int teardown(void **state)
{
	charon->backends->remove_backend(charon->backends, &backend);
	cygnet_db_close(empty);
	unlink(empty_path());
	return charon_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_wanted),
		TEST(test_wanted_dynamic),
		TEST(test_wanted_twice),
		TEST(test_wanted_many),
		TEST(test_hold),
		TEST(test_hold_no_room),
		TEST(test_hold_loading),
		TEST(test_hold_time),
		TEST(test_stop),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
