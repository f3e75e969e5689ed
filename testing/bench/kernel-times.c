/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file kernel-times.c
 * A library for LD_PRELOAD in charon. It counts and times the calls of the methods of the
 * kernel-ipsec plugin, and the jobs of this plugin in charon's threads. It works with any
 * kernel-ipsec plugin, without changes to it.
 *
 * Calls of the plugin to charon's kernel-net interface, which another plugin implements, count
 * in rows of their own, whose names start with "net: ", and not in those of the plugin's methods.
 *
 * The totals are in the file in the environment variable KERNEL_TIMES, which can be read at any
 * time: one struct method for each row. The last row is the time that measuring adds to charon's.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <daemon.h>
#include <processing/jobs/callback_job.h>

enum {
	GET_FEATURES,
	GET_SPI,
	ADD_SA,
	UPDATE_SA,
	QUERY_SA,
	DEL_SA,
	ADD_POLICY,
	QUERY_POLICY,
	DEL_POLICY,
	EVENTS,
	TIMERS,
	NET_ADDRESS,
	NET_NEXTHOP,
	NET_INTERFACE,
	NET_ADD_ROUTE,
	NET_DEL_ROUTE,
	MEASURING,
	METHODS
};

/* Totals of a method. Times are in nanoseconds. */
struct method {
	char name[16];
	uint64_t calls;
	uint64_t cpu;	  /* CPU time of the thread */
	uint64_t elapsed; /* by the clock */
	uint64_t longest; /* elapsed time of the longest call */
};

/* A time, or a duration, in nanoseconds: CPU time of the thread, and by the clock. */
struct span {
	uint64_t cpu, elapsed;
};

/* State of the thread. */
static __thread struct {
	bool inside;	   /* a method of the plugin is running */
	struct span spent; /* time of kernel-net, and of measuring it, within this method */
} net;

static const char *const names[METHODS] = {"get_features",   "get_spi",	       "add_sa",
					   "update_sa",	     "query_sa",       "del_sa",
					   "add_policy",     "query_policy",   "del_policy",
					   "events",	     "timers",	       "net: address",
					   "net: nexthop",   "net: interface", "net: add_route",
					   "net: del_route", "measuring"};
static struct method *methods;
static kernel_ipsec_constructor_t constructor;
static kernel_ipsec_t plugin;	  /* original methods of the plugin */
static kernel_interface_t kernel; /* original methods of charon's kernel interface */
static uint64_t own_cpu;	  /* CPU time of a measurement that it counts itself, nanoseconds */
static uint64_t whole_cpu;	  /* CPU time of a measurement, nanoseconds */

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static struct span clocks(void)
{
	return (struct span){now(CLOCK_THREAD_CPUTIME_ID), now(CLOCK_MONOTONIC)};
}

static struct span begin(void)
{
	net.inside = true;
	net.spent = (struct span){0, 0};
	return clocks();
}

static void count(int which, uint64_t cpu, uint64_t elapsed)
{
	struct method *m = &methods[which];

	__atomic_fetch_add(&m->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->cpu, cpu, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->elapsed, elapsed, __ATOMIC_RELAXED);
	if (elapsed > m->longest) /* not atomic: of two calls at once one may be missed */
		m->longest = elapsed;
}

static void end(int which, struct span start)
{
	uint64_t elapsed = now(CLOCK_MONOTONIC) - start.elapsed - net.spent.elapsed;
	uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID) - start.cpu;
	uint64_t others = own_cpu + net.spent.cpu;

	net.inside = false;
	/* The elapsed time of the event job is time without events. */
	count(which, cpu > others ? cpu - others : 0, which == EVENTS ? 0 : elapsed);
	count(MEASURING, whole_cpu, 0);
}

static void end_net(int which, struct span start)
{
	uint64_t elapsed = now(CLOCK_MONOTONIC) - start.elapsed;
	uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID) - start.cpu;

	cpu = cpu > own_cpu ? cpu - own_cpu : 0;
	count(which, cpu, elapsed);
	count(MEASURING, whole_cpu, 0);
	net.spent.cpu += cpu + whole_cpu;
	net.spent.elapsed += elapsed;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Measure the time of a measurement: the shortest of many, which was not interrupted. */
static void calibrate(void)
{
	own_cpu = whole_cpu = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		uint64_t first = now(CLOCK_THREAD_CPUTIME_ID), cpu;
		struct span start = {0, 0};

		for (int j = 0; j < 10; j++) {
			start = begin();
			now(CLOCK_MONOTONIC);
			cpu = now(CLOCK_THREAD_CPUTIME_ID);
			own_cpu = least(own_cpu, cpu - start.cpu);
			count(MEASURING, 0, 0);
			count(MEASURING, 0, 0);
		}
		cpu = now(CLOCK_THREAD_CPUTIME_ID);
		whole_cpu = least(whole_cpu, (cpu - first) / 10);
	}
	methods[MEASURING].calls = 0;
	net.inside = false;
}

#define TIMED(which, call) \
	struct span start = begin(); \
	status_t status = plugin.call; \
	end(which, start); \
	return status

static kernel_feature_t get_features(kernel_ipsec_t *this)
{
	struct span start = begin();
	kernel_feature_t features = plugin.get_features(this);

	end(GET_FEATURES, start);
	return features;
}

static status_t get_spi(kernel_ipsec_t *this, host_t *src, host_t *dst, uint8_t proto,
			uint32_t *spi)
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

/* --- kernel-net; measured if the plugin calls it, not if charon does --- */

#define TIMED_NET(which, type, call) \
	struct span start; \
	type result; \
	if (!net.inside) \
		return kernel.call; \
	start = clocks(); \
	result = kernel.call; \
	end_net(which, start); \
	return result

static status_t get_address_by_ts(kernel_interface_t *this, traffic_selector_t *ts, host_t **ip,
				  bool *vip)
{
	TIMED_NET(NET_ADDRESS, status_t, get_address_by_ts(this, ts, ip, vip));
}

static host_t *get_nexthop(kernel_interface_t *this, host_t *dest, int prefix, host_t *src,
			   char **iface)
{
	TIMED_NET(NET_NEXTHOP, host_t *, get_nexthop(this, dest, prefix, src, iface));
}

static bool get_interface(kernel_interface_t *this, host_t *host, char **name)
{
	TIMED_NET(NET_INTERFACE, bool, get_interface(this, host, name));
}

static status_t add_route(kernel_interface_t *this, chunk_t dst_net, uint8_t prefixlen,
			  host_t *gateway, host_t *src_ip, char *if_name, bool pass)
{
	TIMED_NET(NET_ADD_ROUTE, status_t,
		  add_route(this, dst_net, prefixlen, gateway, src_ip, if_name, pass));
}

static status_t del_route(kernel_interface_t *this, chunk_t dst_net, uint8_t prefixlen,
			  host_t *gateway, host_t *src_ip, char *if_name, bool pass)
{
	TIMED_NET(NET_DEL_ROUTE, status_t,
		  del_route(this, dst_net, prefixlen, gateway, src_ip, if_name, pass));
}

static void time_net(void)
{
	kernel = *charon->kernel;
	charon->kernel->get_address_by_ts = get_address_by_ts;
	charon->kernel->get_nexthop = get_nexthop;
	charon->kernel->get_interface = get_interface;
	charon->kernel->add_route = add_route;
	charon->kernel->del_route = del_route;
}

/* --- */

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

/* Construct the plugin's object, and replace its methods by the timed ones. */
static kernel_ipsec_t *construct(void)
{
	kernel_ipsec_t *this;

	/* The file must exist before the plugin creates jobs. */
	if (!open_totals())
		return constructor();
	calibrate();
	this = constructor();
	if (!this)
		return NULL;
	time_net();
	plugin = *this;
	this->get_features = get_features;
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

/* --- the plugin's jobs --- */

struct timed_job {
	callback_job_cb_t callback;
	void *data;
	callback_job_cleanup_t cleanup;
	callback_job_cancel_t cancel;
	int which;
};

static job_requeue_t do_job(void *data)
{
	struct timed_job *job = data;
	struct span start = begin();
	job_requeue_t requeue = job->callback(job->data);

	end(job->which, start);
	return requeue;
}

static bool cancel_job(void *data)
{
	struct timed_job *job = data;

	return job->cancel(job->data);
}

static void cleanup_job(void *data)
{
	struct timed_job *job = data;

	if (job->cleanup)
		job->cleanup(job->data);
	free(job);
}

/* Whether a callback is in the same library as the plugin's constructor. */
static bool of_plugin(callback_job_cb_t callback)
{
	Dl_info its, plugins;

	return methods && dladdr((void *)callback, &its) && dladdr((void *)constructor, &plugins) &&
	       its.dli_fbase == plugins.dli_fbase;
}

/* Replaces libstrongswan's function. */
callback_job_t *callback_job_create_with_prio(callback_job_cb_t callback, void *data,
					      callback_job_cleanup_t cleanup,
					      callback_job_cancel_t cancel, job_priority_t prio)
{
	callback_job_t *(*real)(callback_job_cb_t, void *, callback_job_cleanup_t,
				callback_job_cancel_t, job_priority_t) =
		(callback_job_t * (*)(callback_job_cb_t, void *, callback_job_cleanup_t,
				      callback_job_cancel_t, job_priority_t))
			dlsym(RTLD_NEXT, __func__);
	struct timed_job *job;

	if (!of_plugin(callback))
		return real(callback, data, cleanup, cancel, prio);
	job = malloc(sizeof(*job));
	*job = (struct timed_job){callback, data, cleanup, cancel,
				  prio == JOB_PRIO_CRITICAL ? EVENTS : TIMERS};
	return real(do_job, job, cleanup_job, cancel ? cancel_job : NULL, prio);
}

callback_job_t *callback_job_create(callback_job_cb_t callback, void *data,
				    callback_job_cleanup_t cleanup, callback_job_cancel_t cancel)
{
	return callback_job_create_with_prio(callback, data, cleanup, cancel, JOB_PRIO_MEDIUM);
}

/* --- */

/* Replaces libcharon's function. charon uses the first plugin that registers. */
bool kernel_ipsec_register(plugin_t *self, plugin_feature_t *feature, bool reg, void *data)
{
	bool (*real)(plugin_t *, plugin_feature_t *, bool,
		     void *) = (bool (*)(plugin_t *, plugin_feature_t *, bool,
					 void *))dlsym(RTLD_NEXT, __func__);

	if (!constructor)
		constructor = (kernel_ipsec_constructor_t)data;
	return real(self, feature, reg, constructor == data ? (void *)construct : data);
}
