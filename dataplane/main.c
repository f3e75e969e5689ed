/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

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
#include "host/eal.h"
#include "host/eal_log.h"
#include "host/interface.h"
#include "host/neigh.h"
#include "host/notify.h"
#include "host/route.h"
#include "ip/packet.h"
#include "path/loop.h"
#include "path/reassemble.h"
#include "telemetry.h"
#include "watchdog.h"

#define DRAIN_S 10u

/* The configuration in force. */
static struct conf running;

static void usage(FILE *out)
{
	fprintf(out, "usage: cygnetd [-c FILE] | --check [FILE] | --keys | -V\n"
		     "  -c FILE         configuration, %s if not given\n"
		     "  --check [FILE]  check the configuration and its drop-ins, and start nothing\n"
		     "  --keys          print the keys of the configuration with their values\n"
		     "  -V              print the version\n", CONF_PATH);
}

/* Warn if the configured capacity differs from that of the existing file, which keeps its own. */
static void check_geometry(const struct conf *conf, const struct cygnet_geometry *is)
{
	if (conf->sas != is->sas || conf->policies != is->policies)
		log_warn("%s: has room for %u SAs and %u policies, not for %u and %u as %s says: "
			 "to change it, end charon and cygnetd and remove the file",
			 conf->sadb, is->sas, is->policies, conf->sas, conf->policies, conf->path);
}

static int open_sadb(const struct conf *conf)
{
	const struct cygnet_geometry geometry = {conf->sas, conf->policies};
	struct cygnet_db_info info;
	char error[512];
	int err = cygnet_db_open(conf->sadb, &geometry, &sadb, error, sizeof(error));

	if (err) {
		log_error("%s", error);
		return err;
	}
	err = cygnet_role_take(sadb, CYGNET_ROLE_DATAPLANE);
	cygnet_db_info(sadb, &info);
	if (err == -EBUSY)
		log_error("%s: cygnetd with process id %d serves this file already", conf->sadb,
			  info.dataplane_pid);
	else if (err)
		log_error("%s: cannot serve this file: %s", conf->sadb, strerror(-err));
	else
		log_info("%s: %u SAs, %u policies; charon %s", conf->sadb, info.sas,
			 info.policies, info.charon_pid ? "is there" : "is not there yet");
	check_geometry(conf, &info.geometry);
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

static int launch(const struct conf *conf)
{
	int err = launch_some(crypto_core_main, conf->workers + 1, conf->ncrypto_cores);

	if (!err)
		err = launch_some(worker_main, 1, conf->workers);
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
	if (engines_report())
		offload_choose_all();
	workers_report();
	watchdog_turn();
}

static void reload(void)
{
	configuration_reload(&running);
}

static int run_workers(const struct conf *conf)
{
	int err = crypto_cores_init(conf);

	if (err)
		return err;
	err = workers_init(conf, conf->workers);
	if (err)
		goto crypto_cores;
	err = control_start();
	if (err)
		goto workers;
	err = telemetry_start(conf->workers);
	if (err)
		goto control;
	err = capture_start();
	if (err)
		goto telemetry;
	err = launch(conf);
	if (!err) {
		log_info("ready");
		notify_send("READY=1");
		watchdog_start(conf->workers);
		control_run(report, reload);
		notify_send("STOPPING=1");
		wait_for_all(conf);
	}
	capture_stop();
telemetry:
	telemetry_stop();
control:
	control_stop();
workers:
	workers_free();
crypto_cores:
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
	err = engines_start(conf, conf->workers, conf->workers *
			    sessions_of_worker(info.geometry.sas, conf->sessions, conf->workers));
	if (err)
		goto neighs;
	auto_measure(conf);
	need.device_memory = auto_memory_pays();
	err = packet_pools_create(conf, &need);
	if (err)
		goto engines;
	err = interfaces_start(conf, packet_pool, packet_pool_jumbo, conf->workers);
	if (err)
		goto engines;
	err = run_workers(conf);
	interfaces_stop();
engines:
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

	/* Drivers keep keys in their sessions: no core dump. */
	prctl(PR_SET_DUMPABLE, 0);
	err = configuration_read(conf, path);
	if (err)
		return err;
	configuration_apply(conf);
	err = eal_log_open();
	if (!err)
		err = control_init();
	if (!err)
		err = eal_start(conf, program);
	if (err)
		return err;
	err = open_sadb(conf);
	if (!err)
		err = serve(conf);
	cygnet_db_close(sadb);
	rte_eal_cleanup();
	return err;
}

static int check(const char *path)
{
	return configuration_read(&running, path);
}

int main(int argc, char **argv)
{
	enum { CHECK = 256, KEYS };
	static const struct option longs[] = {
		{"check", no_argument, NULL, CHECK},
		{"keys", no_argument, NULL, KEYS},
		{NULL, 0, NULL, 0},
	};
	const char *path = CONF_PATH;
	bool checks = false;
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
	return (checks ? check(path) : run(path, argv[0])) ? 1 : 0;
}
