/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into cygnetd: while the file $BUFFERS contains the beginning of a name, mempools with such names have no
 * buffers for it; with a number behind the name they have so many. A thread takes them out, and puts them back. What
 * is in the workers' caches stays there; with $BUFFERS_WITHOUT_CACHES there are none.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_mbuf.h>

#define EXPORTED __attribute__((visibility("default")))
#define MOST	 65536u
#define LOOK_US	 1000u

/* With the type of rte_pktmbuf_pool_create(). */
EXPORTED struct rte_mempool *rte_pktmbuf_pool_create(const char *name, unsigned n,
						     unsigned cache_size, uint16_t priv_size,
						     uint16_t data_room_size, int socket_id);

static struct {
	struct rte_mempool *pool;
	void *buffer;
} taken[MOST];
static unsigned int ntaken;

static char wanted[32];
static unsigned int left;

struct rte_mempool *rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache_size,
					    uint16_t priv_size, uint16_t data_room_size,
					    int socket_id)
{
	static struct rte_mempool *(*create)(const char *, unsigned, unsigned, uint16_t, uint16_t,
					     int);

	*(void **)&create = dlsym(RTLD_NEXT, "rte_pktmbuf_pool_create");
	if (getenv("BUFFERS_WITHOUT_CACHES"))
		cache_size = 0;
	return create ? create(name, n, cache_size, priv_size, data_room_size, socket_id) : NULL;
}

/* @return whether buffers are to be taken */
static int read_wanted(const char *path)
{
	char text[sizeof(wanted)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	left = 0;
	return sscanf(text, "%31s %u", wanted, &left) > 0;
}

static void take(struct rte_mempool *pool, void *unused)
{
	(void)unused;
	if (strncmp(pool->name, wanted, strlen(wanted)))
		return;
	while (ntaken < MOST && rte_mempool_avail_count(pool) > left &&
	       rte_mempool_get(pool, &taken[ntaken].buffer) == 0)
		taken[ntaken++].pool = pool;
}

static void put_back(void)
{
	while (ntaken) {
		ntaken--;
		rte_mempool_put(taken[ntaken].pool, taken[ntaken].buffer);
	}
}

/* Buffers that come back to a mempool are taken, too. */
static void *watch(void *path)
{
	for (;;) {
		if (read_wanted(path))
			rte_mempool_walk(take, NULL);
		else
			put_back();
		usleep(LOOK_US);
	}
	return NULL;
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;
	char *path = getenv("BUFFERS");

	/* Not in programs that execute cygnetd. */
	if (strcmp(program_invocation_short_name, "cygnetd"))
		return;
	if (path && pthread_create(&thread, NULL, watch, path))
		abort();
}
