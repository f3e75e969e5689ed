/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file kernel-times.c
 * LD_PRELOAD for charon: how often it calls the methods of its kernel-ipsec plugin, whichever
 * that is, and how long they take. The plugin itself is not changed.
 *
 * The totals are in the file that KERNEL_TIMES names, for anybody to read at any time: a row
 * of struct method for each.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <daemon.h>

enum { GET_SPI, ADD_SA, UPDATE_SA, QUERY_SA, DEL_SA, ADD_POLICY, QUERY_POLICY, DEL_POLICY, METHODS };

/* Nanoseconds; of the thread, and as time passes. */
struct method {
	char name[16];
	uint64_t calls, cpu, elapsed, longest;
};

struct span {
	uint64_t cpu, elapsed;
};

static const char *const names[METHODS] = {"get_spi", "add_sa", "update_sa", "query_sa", "del_sa",
					   "add_policy", "query_policy", "del_policy"};
static struct method *methods;
static kernel_ipsec_constructor_t constructor;
static kernel_ipsec_t plugin; /* its own methods */
static uint64_t own_cpu; /* that a measurement takes itself, nanoseconds */

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static struct span begin(void)
{
	return (struct span){now(CLOCK_THREAD_CPUTIME_ID), now(CLOCK_MONOTONIC)};
}

static void end(int which, struct span start)
{
	uint64_t elapsed = now(CLOCK_MONOTONIC) - start.elapsed;
	uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID) - start.cpu;
	struct method *m = &methods[which];

	__atomic_fetch_add(&m->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->cpu, cpu > own_cpu ? cpu - own_cpu : 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->elapsed, elapsed, __ATOMIC_RELAXED);
	if (elapsed > m->longest) /* of two at once one may be missed */
		m->longest = elapsed;
}

/* Of many, the least: nothing came in between. */
static void calibrate(void)
{
	own_cpu = UINT64_MAX;
	for (int i = 0; i < 10000; i++) {
		struct span start = begin();
		uint64_t cpu;

		now(CLOCK_MONOTONIC);
		cpu = now(CLOCK_THREAD_CPUTIME_ID) - start.cpu;
		if (cpu < own_cpu)
			own_cpu = cpu;
	}
}

#define TIMED(which, call)                \
	struct span start = begin();      \
	status_t status = plugin.call;    \
	end(which, start);                \
	return status

static status_t get_spi(kernel_ipsec_t *this, host_t *src, host_t *dst, uint8_t proto, uint32_t *spi)
{
	TIMED(GET_SPI, get_spi(this, src, dst, proto, spi));
}

static status_t add_sa(kernel_ipsec_t *this, kernel_ipsec_sa_id_t *id, kernel_ipsec_add_sa_t *data)
{
	TIMED(ADD_SA, add_sa(this, id, data));
}

static status_t update_sa(kernel_ipsec_t *this, kernel_ipsec_sa_id_t *id,
			  kernel_ipsec_update_sa_t *data)
{
	TIMED(UPDATE_SA, update_sa(this, id, data));
}

static status_t query_sa(kernel_ipsec_t *this, kernel_ipsec_sa_id_t *id,
			 kernel_ipsec_query_sa_t *data, uint64_t *bytes, uint64_t *packets,
			 time_t *used)
{
	TIMED(QUERY_SA, query_sa(this, id, data, bytes, packets, used));
}

static status_t del_sa(kernel_ipsec_t *this, kernel_ipsec_sa_id_t *id, kernel_ipsec_del_sa_t *data)
{
	TIMED(DEL_SA, del_sa(this, id, data));
}

static status_t add_policy(kernel_ipsec_t *this, kernel_ipsec_policy_id_t *id,
			   kernel_ipsec_manage_policy_t *data)
{
	TIMED(ADD_POLICY, add_policy(this, id, data));
}

static status_t query_policy(kernel_ipsec_t *this, kernel_ipsec_policy_id_t *id,
			     kernel_ipsec_query_policy_t *data, time_t *used)
{
	TIMED(QUERY_POLICY, query_policy(this, id, data, used));
}

static status_t del_policy(kernel_ipsec_t *this, kernel_ipsec_policy_id_t *id,
			   kernel_ipsec_manage_policy_t *data)
{
	TIMED(DEL_POLICY, del_policy(this, id, data));
}

static bool open_totals(void)
{
	const char *path = getenv("KERNEL_TIMES");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return false;
	if (!ftruncate(fd, METHODS * sizeof(struct method)))
		methods = mmap(NULL, METHODS * sizeof(struct method), PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);
	close(fd);
	if (!methods || methods == MAP_FAILED)
		return false;
	for (int i = 0; i < METHODS; i++)
		strncpy(methods[i].name, names[i], sizeof(methods[i].name) - 1);
	return true;
}

/* The plugin's object with our methods in the place of its own. */
static kernel_ipsec_t *construct(void)
{
	kernel_ipsec_t *this = constructor();

	if (!this || !open_totals())
		return this;
	calibrate();
	plugin = *this;
	this->get_spi = get_spi;
	this->add_sa = add_sa;
	this->update_sa = update_sa;
	this->query_sa = query_sa;
	this->del_sa = del_sa;
	this->add_policy = add_policy;
	this->query_policy = query_policy;
	this->del_policy = del_policy;
	return this;
}

/* In the place of libcharon's. The first plugin that comes is the one that charon uses. */
bool kernel_ipsec_register(plugin_t *self, plugin_feature_t *feature, bool reg, void *data)
{
	bool (*real)(plugin_t *, plugin_feature_t *, bool, void *) =
		(bool (*)(plugin_t *, plugin_feature_t *, bool, void *))dlsym(RTLD_NEXT, __func__);

	if (!constructor)
		constructor = (kernel_ipsec_constructor_t)data;
	return real(self, feature, reg, constructor == data ? (void *)construct : data);
}
