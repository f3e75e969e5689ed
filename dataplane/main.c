/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "balance.h"
#include "base/log.h"
#include "base/sadb.h"
#include "capture.h"
#include "conf/conf.h"
#include "conf/conf_keys.h"
#include "config.h"
#include "configure.h"
#include "control.h"
#include "crypto/auto/auto.h"
#include "crypto/auto/offload.h"
#include "crypto/core.h"
#include "crypto/device/engine.h"
#include "crypto/device/pool.h"
#include "crypto/device/sessions.h"
#include "give_back.h"
#include "host/override_bind_busy.h"
#include "host/eal.h"
#include "host/eal_log.h"
#include "host/files.h"
#include "host/interface.h"
#include "host/lock_memory.h"
#include "host/neigh.h"
#include "host/notify.h"
#include "host/privileges.h"
#include "host/readers.h"
#include "host/route.h"
#include "host/runtime.h"
#include "host/system_calls.h"
#include "host/user.h"
#include "host/wire.h"
#include "host/wire_before.h"
#include "ip/packet.h"
#include "keep_policies.h"
#include "path/loop.h"
#include "path/reassemble.h"
#include "path/worker/move.h"
#include "ports.h"
#include "takeover.h"
#include "telemetry.h"
#include "watchdog.h"

#define DRAIN_S 10u
#define ROLE_MS 5000u

/* The configuration in force. */
static struct conf running;

static void usage(FILE *out)
{
	fprintf(out,
		"usage: cygnetd [-c FILE] | [-c FILE] --put-back | --check [FILE] | --keys | -V\n"
		"  -c FILE         configuration, %s if not given\n"
		"  --put-back      give the interfaces of ports the settings back that they had before a\n"
		"                  cygnetd that was killed\n"
		"  --check [FILE]  check the configuration and its drop-ins, and whether the shared file can\n"
		"                  be used; start nothing\n"
		"  --keys          print the keys of the configuration with their values\n"
		"  -V              print the version\n",
		CONF_PATH);
}

/* Warn if the configured capacity differs from that of the existing file, which keeps its own. */
static void check_geometry(const struct conf *conf, const struct cygnet_geometry *is)
{
	if (conf->sas != is->sas || conf->policies != is->policies)
		log_warn("%s: has room for %u SAs and %u policies, not for %u and %u as %s says: "
			 "to change it, end charon and cygnetd and remove the file",
			 conf->sadb, is->sas, is->policies, conf->sas, conf->policies, conf->path);
}

static int take_role(const struct conf *conf)
{
	struct cygnet_db_info info;
	int err = cygnet_role_take(sadb, CYGNET_ROLE_DATAPLANE);

	cygnet_db_info(sadb, &info);
	if (err == -EBUSY)
		log_error("%s: cygnetd with process id %d serves this file already", conf->sadb,
			  info.dataplane_pid);
	else if (err)
		log_error("%s: cannot serve this file: %s", conf->sadb, strerror(-err));
	else
		log_info("%s: %u SAs, %u policies; charon %s", conf->sadb, info.sas, info.policies,
			 info.charon_pid ? "is there" : "is not there yet");
	check_geometry(conf, &info.geometry);
	return err;
}

/* A process that takes over gets the role later. */
static int open_sadb(const struct conf *conf)
{
	const struct cygnet_geometry geometry = {conf->sas, conf->policies};
	char error[512];
	int err = cygnet_db_open_flags(conf->sadb, &geometry,
				       conf->sadb_on_disk ? CYGNET_OPEN_ON_DISK : 0, &sadb, error,
				       sizeof(error));

	if (err) {
		log_error("%s", error);
		return err;
	}
	if (*error)
		log_warn("%s", error);
	if (takeover_joined())
		return 0;
	err = take_role(conf);
	if (!err)
		keep_policies_restore(conf, sadb);
	return err;
}

/* Wait with a time limit: a lcore whose device hangs must not keep cygnetd from ending. */
static void wait_for(unsigned int from, unsigned int n)
{
	unsigned int turns = DRAIN_S * 1000;

	for (unsigned int lcore = from; lcore < from + n; lcore++) {
		for (; turns && rte_eal_get_lcore_state(lcore) == RUNNING; turns--)
			rte_delay_us_sleep(1000);
		if (rte_eal_get_lcore_state(lcore) == RUNNING) {
			log_error("a worker does not end within %u seconds: giving up", DRAIN_S);
			_exit(1);
		}
		rte_eal_wait_lcore(lcore);
	}
}

/* Workers complete their packets and return; crypto cores run until then, because workers need them. */
static void wait_for_all(const struct conf *conf)
{
	wait_for(1, conf->workers);
	crypto_cores_end();
	wait_for(conf->workers + 1, conf->ncrypto_cores);
}

static int launch_some(lcore_function_t *start, unsigned int from, unsigned int n)
{
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++)
		err = rte_eal_remote_launch(start, (void *)(uintptr_t)i, from + i);
	return err;
}

/* Threads name themselves: the EAL would do it by /proc/self, which is not written (host/files.h). */
static void name_thread(const char *what, uintptr_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%u", what, (unsigned int)number);
	pthread_setname_np(pthread_self(), name);
}

static int run_worker(void *arg)
{
	name_thread("worker", (uintptr_t)arg);
	return worker_main(arg);
}

static int run_crypto_core(void *arg)
{
	name_thread("crypto-core", (uintptr_t)arg);
	return crypto_core_main(arg);
}

static int launch(const struct conf *conf)
{
	int err;

	__atomic_store_n(&workers_stopping, false, __ATOMIC_RELEASE);
	move_cancel();
	crypto_cores_begin();
	err = launch_some(run_crypto_core, conf->workers + 1, conf->ncrypto_cores);
	if (!err)
		err = launch_some(run_worker, 1, conf->workers);
	if (err) {
		log_error("cannot start the workers: %s", strerror(-err));
		__atomic_store_n(&workers_stopping, true, __ATOMIC_RELEASE);
		wait_for_all(conf);
	}
	return err;
}

/* Log on behalf of the workers, and tell systemd that they run. */
static void report(void)
{
	bool failed = engines_report(), measured = auto_report();

	if (failed || measured)
		offload_choose_all();
	workers_report();
	packet_pools_report();
	balance_turn();
	watchdog_turn();
}

/* In each turn of the control thread. */
static void take_turn(void)
{
	report();
	control_lock();
	ports_watch(&running);
	control_unlock();
}

static void reload(void)
{
	control_lock();
	configuration_reload(&running);
	control_unlock();
}

/* End this process once the one that takes over serves, without a change to ports and TAPs.
 * @return 0: the other process has failed, and this one can serve on; or -errno */
static int grant_takeover(const struct conf *conf)
{
	int err;

	capture_stop();
	keep_policies_stop();
	cygnet_role_release(sadb, CYGNET_ROLE_DATAPLANE);
	wire_before_hold(false);
	if (takeover_grant() == 0) {
		telemetry_stop();
		workers_free(); /* wipes keys */
		runtime_leave(conf);
		_exit(0);
	}
	wire_before_hold(true);
	err = take_role(conf);
	if (!err)
		err = keep_policies_start(conf);
	return err ? err : capture_start();
}

/* Until a signal ends the process. If another one is to take over and fails, serve on. */
static int serve_packets(const struct conf *conf)
{
	int err;

	/* The old process may have loaded another configuration while this one initialised. */
	if (takeover_joined())
		reload();
	err = launch(conf);
	while (!err) {
		if (takeover_joined()) {
			takeover_serving();
			runtime_link(conf);
		}
		auto_begin();
		log_info("ready");
		notify_send("READY=1");
		watchdog_start(conf->workers);
		control_run(take_turn, reload);
		if (!takeover_wanted())
			notify_send("STOPPING=1");
		wait_for_all(conf);
		if (!takeover_wanted())
			break;
		err = grant_takeover(conf);
		if (!err)
			err = launch(conf);
	}
	takeover_cancel();
	return err;
}

static int run_control(const struct conf *conf)
{
	int err = control_start();

	if (err)
		return err;
	telemetry_show_conf(conf);
	telemetry_taken_over(takeover_joined());
	err = telemetry_start(conf->workers);
	if (!err)
		err = capture_start();
	if (!err)
		err = keep_policies_start(conf);
	auto_prepare(conf);
	/* Not before: until then threads that answer have all capabilities. */
	if (!err)
		readers_admit(conf);
	if (!err)
		err = user_become(conf);
	if (!err)
		err = system_calls_restrict(conf, engines_foreign());
	if (!err)
		err = serve_packets(conf);
	keep_policies_stop();
	capture_stop();
	telemetry_stop();
	control_stop();
	return err;
}

/* If this process takes over: do all that can be done while the old process still serves. */
static int take_over(const struct conf *conf)
{
	int err;

	if (!takeover_joined())
		return 0;
	err = interfaces_open(conf, packet_pool, packet_pool_jumbo, conf->workers);
	if (err)
		return err;
	cygnet_db_populate(sadb);
	err = takeover_request();
	if (err)
		return err;
	/* The old process has received these frames, too. Later frames wait for the workers. */
	interfaces_discard();
	/* The kernel closes the files of a killed process one after the other. */
	for (unsigned int ms = 0; ms < ROLE_MS && cygnet_role_held(sadb, CYGNET_ROLE_DATAPLANE);
	     ms++)
		rte_delay_us_sleep(1000);
	return take_role(conf);
}

static int start_ports(const struct conf *conf)
{
	int err;

	busy_queue_wait(conf);
	err = interfaces_start(conf, packet_pool, packet_pool_jumbo, conf->workers);
	busy_queue_wait(NULL);
	/* A cygnetd that was killed may have had other ports. */
	if (!err)
		wires_put_back();
	return err;
}

static int run_ports(const struct conf *conf)
{
	int err = take_over(conf);

	if (!err)
		err = start_ports(conf);
	if (!err)
		err = cygnet_mark_set(sadb, CYGNET_MARK_SERVING, true);
	if (!err)
		err = run_control(conf);
	takeover_abandon();
	interfaces_stop();
	cygnet_mark_set(sadb, CYGNET_MARK_SERVING, false);
	give_back_at_end();
	return err;
}

static int run_balanced(const struct conf *conf)
{
	int err = balance_init();

	if (err)
		return err;
	err = run_ports(conf);
	balance_free();
	return err;
}

static int run_workers(const struct conf *conf)
{
	int err = crypto_cores_init(conf);

	if (err)
		return err;
	err = workers_init(conf, conf->workers);
	if (!err) {
		err = run_balanced(conf);
		workers_free();
	}
	crypto_cores_free();
	return err;
}

static int serve(const struct conf *conf)
{
	struct packet_pool_need need = {WORKER_PACKETS, REASSEMBLY_PACKETS, false};
	struct cygnet_db_info info;
	int err = routes_init(conf->workers, conf->routes);

	if (err)
		return err;
	err = neighs_init();
	if (err)
		goto routes;
	cygnet_db_info(sadb, &info);
	err = engines_start(conf, conf->workers,
			    conf->workers * sessions_of_worker(info.geometry.sas, conf->sessions,
							       conf->workers));
	if (err)
		goto neighs;
	auto_read(conf);
	need.device_memory = auto_memory_pays();
	err = packet_pools_create(conf, &need);
	if (!err)
		err = run_workers(conf);
	auto_stop();
	engines_stop();
neighs:
	neighs_free();
routes:
	routes_free();
	return err;
}

static int run(const char *path, const char *program)
{
	struct conf *conf = &running;
	int err;

	privileges_hide_memory();
	err = configuration_read(conf, path);
	if (err)
		return err;
	/* At once: the process that serves waits, and so may an upgrade. */
	if (takeover_joined() && !interfaces_can_share(conf))
		return -EBUSY;
	configuration_apply(conf);
	configuration_warn(conf);
	err = user_find(conf);
	if (!err)
		err = readers_find(conf);
	if (!err)
		err = user_prepare(conf);
	if (!err)
		readers_prepare(conf);
	/* The starter has these limits, too, and with it each process that takes over. */
	if (!err)
		err = privileges_drop(conf, user_will_change());
	if (!err)
		err = files_restrict(conf);
	if (!err)
		err = system_calls_refuse(conf);
	if (!err)
		err = takeover_prepare();
	if (!err)
		err = lock_memory(conf);
	if (!err)
		err = eal_log_open();
	if (!err)
		err = control_init();
	if (!err)
		err = eal_start(conf, program, takeover_joined());
	if (err)
		return err;
	if (user_will_change())
		runtime_share();
	err = open_sadb(conf);
	if (!err) {
		give_back_prepare(conf);
		err = serve(conf);
	}
	cygnet_db_close(sadb);
	rte_eal_cleanup();
	runtime_leave(conf);
	return err;
}

static int put_back(const char *path)
{
	/* Of one that has become wrong, what is right in it or the default. */
	configuration_read(&running, path);
	return give_back_left(&running);
}

/* Whether a start would use the shared file, or put a new one in its place: there is none, or one of another boot or
 * version. The reason why not is logged. */
static bool can_use_file(const struct conf *conf)
{
	struct cygnet_db *db;
	char error[512];
	int err = cygnet_db_open_flags(conf->sadb, NULL,
				       conf->sadb_on_disk ? CYGNET_OPEN_ON_DISK : 0, &db, error,
				       sizeof(error));

	cygnet_db_close(db);
	if (!err || err == -ENOENT || err == -ESTALE || err == -EPROTO)
		return true;
	/* A user who may not open it can still check a configuration. */
	if (geteuid() && (err == -EACCES || err == -EPERM)) {
		log_warn("%s: not checked", error);
		return true;
	}
	log_error("%s", error);
	return false;
}

/* @return exit status */
static int check(const char *path)
{
	char error[512];

	if (configuration_read(&running, path) || user_find(&running) || readers_find(&running))
		return 1;
	if (cygnet_db_check_version(running.sadb, error, sizeof(error)) == -EBUSY) {
		log_error("%s", error);
		return 3;
	}
	return can_use_file(&running) ? 0 : 1;
}

int main(int argc, char **argv)
{
	enum { CHECK = 256, KEYS, PUT_BACK, TAKE_OVER };
	static const struct option longs[] = {
		{"check", no_argument, NULL, CHECK},
		{"keys", no_argument, NULL, KEYS},
		{"put-back", no_argument, NULL, PUT_BACK},
		{"take-over", no_argument, NULL, TAKE_OVER},
		{NULL, 0, NULL, 0},
	};
	const char *path = CONF_PATH;
	bool checks = false, puts_back = false;
	int option;

	while ((option = getopt_long(argc, argv, "c:hV", longs, NULL)) != -1) {
		switch (option) {
		case 'c':
			path = optarg;
			break;
		case CHECK:
			checks = true;
			break;
		case KEYS:
			conf_print_keys(stdout);
			return 0;
		case PUT_BACK:
			puts_back = true;
			break;
		case TAKE_OVER:
			if (takeover_join())
				return 2;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			printf("cygnetd %s\n", PACKAGE_VERSION);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (checks && optind < argc)
		path = argv[optind++];
	if (optind != argc) {
		usage(stderr);
		return 2;
	}
	if (puts_back)
		return put_back(path) ? 1 : 0;
	takeover_init(argv[0], path);
	if (checks)
		return check(path);
	return run(path, argv[0]) ? 1 : 0;
}
