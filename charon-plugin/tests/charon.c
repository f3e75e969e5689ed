/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "charon.h"
#include "../kernel_cygnet_ipsec.h"

#include <unistd.h>

#include <daemon.h>

/*
 * Described in header.
 */
raised_t raised;

/*
 * Described in header.
 */
int log_lines;
char log_text[512];

/*
 * Described in header.
 */
fixture_sa_t sa;
fixture_policy_t policy;

static kernel_ipsec_query_sa_t query;
static kernel_ipsec_del_sa_t del;

/** Count and print a raised event; fmt may have strongSwan's conversions */
static void note(int *counter, char *fmt, ...)
{
	va_list args;

	raised.mutex->lock(raised.mutex);
	va_start(args, fmt);
	vsnprintf(raised.text, sizeof(raised.text), fmt, args);
	va_end(args);
	(*counter)++;
	raised.condvar->broadcast(raised.condvar);
	raised.mutex->unlock(raised.mutex);
}

static bool on_acquire(kernel_listener_t *this, uint32_t reqid,
					   kernel_acquire_data_t *data)
{
	raised.reqid = reqid;
#if STRONGSWAN_RELEASE >= 60002
	raised.cpu = data->cpu;
#endif
	note(&raised.acquires, "%R === %R", data->src, data->dst);
	return TRUE;
}

static bool on_expire(kernel_listener_t *this, uint8_t protocol, uint32_t spi,
					  host_t *dst, bool hard)
{
	raised.spi = spi;
	raised.hard = hard;
	if (raised.expires < sizeof(raised.limits) - 1)
	{
		raised.limits[raised.expires] = hard ? 'h' : 's';
	}
	note(&raised.expires, "%H", dst);
	return TRUE;
}

static bool on_mapping(kernel_listener_t *this, uint8_t protocol, uint32_t spi,
					   host_t *dst, host_t *remote)
{
	raised.spi = spi;
	note(&raised.mappings, "%H from %#H", dst, remote);
	return TRUE;
}

static kernel_listener_t listener = {
	.acquire = on_acquire,
	.expire = on_expire,
	.mapping = on_mapping,
};

/*
 * Described in header.
 */
bool charon_closed = FALSE;

/*
 * Described in header.
 */
bool waits_a_bit(condvar_t *condvar, mutex_t *mutex)
{
	return !condvar->timed_wait(condvar, mutex, BIT);
}

/*
 * Described in header.
 */
bool raised_wait(int *counter, int value, int ms)
{
	bool reached;

	raised.mutex->lock(raised.mutex);
	while (*counter < value && ms > 0)
	{
		ms -= waits_a_bit(raised.condvar, raised.mutex) ? 0 : BIT;
	}
	reached = *counter >= value;
	raised.mutex->unlock(raised.mutex);
	return reached;
}

static void log_line(logger_t *this, debug_t group, level_t level, int thread,
					 ike_sa_t *ike_sa, const char *message)
{
	snprintf(log_text, sizeof(log_text), "%s", message);
	log_lines++;
}

static level_t log_level(logger_t *this, debug_t group)
{
	return LEVEL_CTRL;
}

static logger_t logger = {
	.log = log_line,
	.get_level = log_level,
};

/*
 * Described in header.
 */
int charon_test_setup(void **state)
{
	fixture_sa_init(&sa);
	fixture_policy_init(&policy);
	sa.data.inbound = TRUE;
	memset(&sa.lifetime, 0, sizeof(sa.lifetime));
	raised.acquires = raised.expires = raised.mappings = 0;
	memset(raised.limits, 0, sizeof(raised.limits));
	log_lines = 0;
	return 0;
}

/*
 * Described in header.
 */
int charon_test_teardown(void **state)
{
	dataplane_response_t left;

	charon->kernel->flush_sas(charon->kernel);
	charon->kernel->flush_policies(charon->kernel);
	left = dataplane_ask(DATAPLANE_INFO, NULL);
	fixture_sa_deinit(&sa);
	fixture_policy_deinit(&policy);
	return left.sas || left.policies;
}

/*
 * Described in header.
 */
void use_peer(ike_sa_t *ike_sa)
{
	charon->bus->set_sa(charon->bus, ike_sa);
}

/** Set the connection of an IKE_SA */
static void set_connection(ike_sa_t *ike_sa, char *name)
{
	ike_cfg_create_t ike = {
		.version = IKEV2,
		.local = MOON,
		.remote = SUN,
	};
	peer_cfg_create_t peer = {
		.keyingtries = 1,
	};
	peer_cfg_t *cfg = peer_cfg_create(name, ike_cfg_create(&ike), &peer);

	ike_sa->set_peer_cfg(ike_sa, cfg);
	cfg->destroy(cfg);
}

/*
 * Described in header.
 */
ike_sa_t *create_peer(char *id, char *connection)
{
	ike_sa_id_t *ike_sa_id = ike_sa_id_create(IKEV2, 1, 2, FALSE);
	ike_sa_t *ike_sa = ike_sa_create(ike_sa_id, FALSE, IKEV2);

	assert_non_null(ike_sa);
	ike_sa_id->destroy(ike_sa_id);
	set_connection(ike_sa, connection);
	ike_sa->set_other_id(ike_sa, identification_create_from_string(id));
	return ike_sa;
}

/*
 * Described in header.
 */
void add_child(ike_sa_t *ike_sa, uint32_t reqid)
{
	child_cfg_create_t child = {
		.reqid = reqid,
	};
	child_cfg_t *cfg = child_cfg_create("child", &child);
	child_sa_create_t create = {};

	ike_sa->add_child_sa(ike_sa, child_sa_create(sa.id.src, sa.id.dst, cfg,
												 &create));
	cfg->destroy(cfg);
}

/*
 * Described in header.
 */
status_t add_sa(void)
{
	return charon->kernel->add_sa(charon->kernel, &sa.id, &sa.data);
}

/*
 * Described in header.
 */
status_t del_sa(void)
{
	return charon->kernel->del_sa(charon->kernel, &sa.id, &del);
}

/*
 * Described in header.
 */
status_t query_sa(uint64_t *bytes, uint64_t *packets, time_t *use)
{
	return charon->kernel->query_sa(charon->kernel, &sa.id, &query, bytes,
									packets, use);
}

/*
 * Described in header.
 */
struct cygnet_event sa_event(uint16_t type)
{
	struct cygnet_event event;

	memset(&event, 0, sizeof(event));
	event.type = type;
	event.id.spi = sa.id.spi;
	event.id.proto = IPPROTO_ESP;
	event.id.af = AF_INET;
	memcpy(event.id.dst.bytes, sa.id.dst->get_address(sa.id.dst).ptr, 4);
	return event;
}

/*
 * Described in header.
 */
int charon_setup(void **state)
{
	kernel_ipsec_constructor_t create;

	*strrchr(dataplane_path, '/') = '\0';
	assert_non_null(mkdtemp(dataplane_path));
	dataplane_path[strlen(dataplane_path)] = '/';
	dataplane_start();

	assert_true(library_init("", "test-ipsec"));
	lib->settings->set_str(lib->settings, "%s.plugins.kernel-cygnet.path",
						   dataplane_path, lib->ns);
	lib->settings->set_bool(lib->settings, "%s.plugins.kernel-cygnet.on_disk",
							TRUE, lib->ns);
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.sas", 64,
						   lib->ns);
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.policies",
						   64, lib->ns);
	lib->settings->set_bool(lib->settings, "%s.plugins.kernel-cygnet.closed",
							charon_closed, lib->ns);
	assert_true(libcharon_init());
	charon->bus->add_logger(charon->bus, &logger);
	raised.mutex = mutex_create(MUTEX_TYPE_DEFAULT);
	raised.condvar = condvar_create(CONDVAR_TYPE_DEFAULT);
	/* charon's own listener uses it to find the CHILD_SA of an SA */
	charon->child_sa_manager = child_sa_manager_create();
	charon->kernel->add_listener(charon->kernel, &listener);
	create = (kernel_ipsec_constructor_t)kernel_cygnet_ipsec_create;
	assert_true(charon->kernel->add_ipsec_interface(charon->kernel, create));
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, dataplane_path));
	assert_non_null(strstr(log_text, "not yet attached"));
	lib->processor->set_threads(lib->processor, 4);
	return 0;
}

/*
 * Described in header.
 */
bool charon_remove_ipsec(void)
{
	kernel_ipsec_constructor_t create;

	lib->processor->cancel(lib->processor);
	lib->scheduler->flush(lib->scheduler);
	create = (kernel_ipsec_constructor_t)kernel_cygnet_ipsec_create;
	return charon->kernel->remove_ipsec_interface(charon->kernel, create);
}

/*
 * Described in header.
 */
int charon_teardown(void **state)
{
	charon_remove_ipsec();
	charon->kernel->remove_listener(charon->kernel, &listener);
	raised.condvar->destroy(raised.condvar);
	raised.mutex->destroy(raised.mutex);
	charon->bus->remove_logger(charon->bus, &logger);
	DESTROY_IF(charon->child_sa_manager);
	libcharon_deinit();
	library_deinit();
	unlink(dataplane_path);
	*strrchr(dataplane_path, '/') = '\0';
	rmdir(dataplane_path);
	return !dataplane_stop();
}
