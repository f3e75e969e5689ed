/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel releases the AF_XDP queues of a killed process a moment after its end, in a work queue
 * (xp_release_deferred). A cygnetd that is started at once finds them busy, and its driver cannot try again:
 * net_af_xdp loses packets of the pool with each queue that it cannot bind, and keeps those that it has bound until the
 * process ends. This bind() tries again. */
#include <errno.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/end_signal.h"
#include "base/log.h"
#include "host/netdev.h"
#include "host/override_bind_busy.h"

#define NAP_MS 20u

static const struct conf *starting; /* NULL: do not wait */
static uint64_t end_ms;		    /* CLOCK_MONOTONIC; 0: no queue has been busy */

void busy_queue_wait(const struct conf *conf)
{
	starting = conf;
	end_ms = 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* @return the name of the port whose device is on a kernel interface; NULL: there is none */
static const char *port_on(const char *iface)
{
	char name[IFNAMSIZ];
	uint16_t mtu;

	for (unsigned int i = 0; i < starting->ndevices; i++)
		if (netdev_of_device(starting->port[i].device, name, &mtu) == 0 &&
		    strcmp(name, iface) == 0)
			return starting->port[i].name;
	return NULL;
}

static void begin(const struct sockaddr_xdp *queue)
{
	char iface[IFNAMSIZ] = "?";

	end_ms = now_ms() + BUSY_QUEUE_S * 1000;
	if_indextoname(queue->sxdp_ifindex, iface);
	log_port(RTE_LOG_INFO, port_on(iface),
		 "queue %u of %s is busy: trying again for up to %u s", queue->sxdp_queue_id, iface,
		 BUSY_QUEUE_S);
}

/* @return whether to try again */
static bool nap(const struct sockaddr_xdp *queue)
{
	const struct timespec time = {.tv_nsec = NAP_MS * 1000000};

	if (!starting || end_signal_pending())
		return false;
	if (!end_ms)
		begin(queue);
	if (now_ms() >= end_ms)
		return false;
	nanosleep(&time, NULL);
	return true;
}

static int bind_queue(int fd, const struct sockaddr_xdp *queue, socklen_t len)
{
	int failed;

	do
		failed = (int)syscall(SYS_bind, fd, queue, len);
	while (failed && errno == EBUSY && nap(queue));
	return failed;
}

/* Replaces the C library's function, also for shared libraries that this program loads: libxdp. */
__attribute__((visibility("default"))) int bind(int fd, __CONST_SOCKADDR_ARG arg, socklen_t len)
{
	const struct sockaddr *addr = arg.__sockaddr__;

	if (len == sizeof(struct sockaddr_xdp) && addr->sa_family == AF_XDP)
		return bind_queue(fd, (const struct sockaddr_xdp *)(const void *)addr, len);
	return (int)syscall(SYS_bind, fd, addr, len);
}
