/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "base/capture_request.h"
#include "base/clock.h"
#include "base/log.h"
#include "capture.h"
#include "config.h"
#include "control.h"
#include "dpdk_pcapng.h"
#include "host/link.h"
#include "path/worker/capture.h"

#define RING	   4096u /* packets that wait to be written, a power of two */
#define RING_LEAST 256u	 /* where there is little memory */
#define POOL_CACHE 32u
#define WRITE	   64u /* packets that are written together */
#define IDLE_MS	   1
#define CLIENT_S   2  /* that a client may need for its request, or to read something */
#define WORKER_S   10 /* that workers may need to take notice */

static int listener = -1; /* shut down: end */
static pthread_t thread;
static bool running;

/* A capture and the client that it is for. */
struct session_of_client {
	int fd;
	rte_pcapng_t *file; /* on a duplicate of fd */
	uint64_t left;	    /* packets; UINT64_MAX: no limit */
	uint64_t until;	    /* us of CLOCK_MONOTONIC; UINT64_MAX: no limit */
	uint64_t written;   /* packets */
	const char *end;    /* why it is over; NULL: it is not */
	bool broken;	    /* nothing more can be written */
	struct capture *capture;
};

static void say(int fd, const char *line)
{
	char text[CAPTURE_LINE_MAX];
	int len = snprintf(text, sizeof(text), "%s\n", line);

	if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len)
		log_info("capture: a client ended before its answer");
}

/* --- the request --- */

/* A client's request, with the instructions of both filters. */
struct request {
	struct capture_request head;
	struct bpf_insn insn[2 * CAPTURE_FILTER_MAX];
};

static bool receive(int fd, void *to, size_t size)
{
	return size == 0 || recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

static const char *read_request(int fd, struct request *request)
{
	struct capture_request *head = &request->head;

	if (!receive(fd, head, sizeof(*head)))
		return "the request is incomplete";
	if (head->version != CAPTURE_VERSION)
		return "cygnetctl and cygnetd are not of the same version";
	if (head->frame_insns > CAPTURE_FILTER_MAX || head->ip_insns > CAPTURE_FILTER_MAX)
		return "the filter is too long";
	if (!head->points || head->points >> CAPTURE_POINT_COUNT ||
	    !memchr(head->port, 0, sizeof(head->port)) ||
	    !memchr(head->drop, 0, sizeof(head->drop)))
		return "the request is malformed";
	if (!receive(fd, request->insn,
		     (head->frame_insns + head->ip_insns) * sizeof(request->insn[0])))
		return "the request is incomplete";
	return NULL;
}

static const char *find_port(const char *name, uint64_t present, int *index)
{
	*index = -1;
	if (!*name)
		return NULL;
	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++)
		if (present >> i & 1 && !strcmp(interfaces[i].name, name))
			*index = (int)i;
	return *index < 0 ? "there is no port of that name" : NULL;
}

static const char *find_reason(const char *name, enum drop_reason *reason)
{
	*reason = DROP_NONE;
	if (!*name)
		return NULL;
	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		if (!strcmp(drop_name[i], name))
			*reason = (enum drop_reason)i;
	return *reason == DROP_NONE ? "there is no drop reason of that name" : NULL;
}

/* rte_bpf_convert() of DPDK 22.11 relies on valid instructions: it writes where they say. */
static const char *load_filter(struct bpf_insn *insn, unsigned int n, struct rte_bpf **filter)
{
	const struct bpf_program program = {.bf_len = n, .bf_insns = insn};
	struct rte_bpf_prm *parameters;

	*filter = NULL;
	if (!n)
		return NULL;
	if (!bpf_validate(insn, (int)n))
		return "the filter is not valid";
	parameters = rte_bpf_convert(&program);
	if (parameters)
		*filter = rte_bpf_load(parameters);
	rte_free(parameters);
	return *filter ? NULL : "DPDK does not take the filter";
}

/* --- buffers --- */

/* The device under which packets of an interface stand in the file: those of tunnels under that of some port. */
static const struct device *device_of(const struct interface *interface)
{
	const struct device *device = interface_device(interface);

	for (unsigned int i = 0; interface->kind == INTERFACE_TUNNEL && !device && i < ninterfaces;
	     i++)
		device = interfaces[i].removed ? NULL : interface_device(&interfaces[i]);
	return device;
}

/* Note which interfaces there are now, and how long their frames are. Ports may be removed and added while the
 * capture runs. */
static void note_ports(struct capture *c)
{
	const uint64_t present = interfaces_present();
	uint32_t mtu = RTE_ETHER_MTU;

	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++) {
		const struct device *device = device_of(&interfaces[i]);

		if (!(present >> i & 1) || !device)
			continue;
		c->present |= 1ull << i;
		c->device[i] = device->id;
		mtu = RTE_MAX(mtu, (uint32_t)interfaces[i].mtu);
	}
	c->longest = mtu + (uint32_t)LINK_HEADER_MAX + RTE_ETHER_CRC_LEN;
}

static bool make_buffers(struct capture *c)
{
	static unsigned int number; /* names are not used twice */
	char name[RTE_MEMPOOL_NAMESIZE];
	uint32_t room = rte_pcapng_mbuf_size(c->longest) + RTE_PKTMBUF_HEADROOM + CAPTURE_COMMENT;

	snprintf(name, sizeof(name), "capture%u", number++);
	for (unsigned int n = RING; n >= RING_LEAST && !c->pool; n /= 4) {
		c->pool = rte_pktmbuf_pool_create(name, n + WRITE, POOL_CACHE, 0, (uint16_t)room,
						  SOCKET_ID_ANY);
		if (c->pool)
			c->ring = rte_ring_create(name, n, SOCKET_ID_ANY, RING_F_SC_DEQ);
	}
	return c->pool && c->ring;
}

static void free_capture(struct capture *c)
{
	rte_bpf_destroy(c->frames);
	rte_bpf_destroy(c->packets);
	rte_ring_free(c->ring);
	rte_mempool_free(c->pool);
}

/* @return NULL, or why there is no capture */
static const char *make_capture(struct request *request, struct capture *c)
{
	const struct capture_request *head = &request->head;
	const char *error;

	*c = (struct capture){
		.points = head->points,
		.spi = head->spi,
	};
	control_lock();
	note_ports(c);
	error = find_port(head->port, c->present, &c->interface);
	control_unlock();
	if (!error)
		error = find_reason(head->drop, &c->drop);
	if (!error)
		error = load_filter(request->insn, head->frame_insns, &c->frames);
	if (!error)
		error = load_filter(request->insn + head->frame_insns, head->ip_insns, &c->packets);
	if (!error && !make_buffers(c))
		error = "no memory for a capture";
	if (error)
		free_capture(c);
	return error;
}

/* --- writing --- */

static bool add_interfaces(const struct session_of_client *s)
{
	const struct capture *c = s->capture;

	/* One of the file for each device: frames of VLANs have their tags, and the comment names the port. */
	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++)
		if (c->present >> i & 1 && interfaces[i].kind == INTERFACE_PORT &&
		    !dpdk_pcapng_add_interface(s->file, c->device[i], interfaces[i].name))
			return false;
	return true;
}

/* The totals stand behind the packets, under one of the ports that are still there. */
static void write_totals(struct session_of_client *s)
{
	const struct capture *c = s->capture;
	uint64_t missed = __atomic_load_n(&c->missed, __ATOMIC_RELAXED);
	ssize_t written = -1;

	for (unsigned int i = 0; i < CONF_MAX_INTERFACES && written < 0; i++)
		if (c->present >> i & 1)
			written = dpdk_pcapng_write_stats(s->file, c->device[i], s->written,
							  missed);
}

static bool open_file(struct session_of_client *s)
{
	int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return false;
	s->file = rte_pcapng_fdopen(fd, NULL, NULL, "cygnetd " PACKAGE_VERSION, NULL);
	if (!s->file) {
		close(fd);
		return false;
	}
	return add_interfaces(s);
}

static void end_broken(struct session_of_client *s)
{
	s->end = "cygnetctl does not read";
	s->broken = true;
}

/* Write packets of the ring, as many as the limit allows. @return packets */
static unsigned int write_some(struct session_of_client *s)
{
	struct rte_mbuf *m[WRITE];
	unsigned int n = rte_ring_sc_dequeue_burst(s->capture->ring, (void **)m, WRITE, NULL);
	unsigned int wanted = (unsigned int)RTE_MIN((uint64_t)n, s->left);
	ssize_t bytes = 0;

	for (unsigned int i = 0; i < wanted; i++)
		bytes += rte_pktmbuf_pkt_len(m[i]);
	/* A part is written only if the client has not read for a while. */
	if (wanted && rte_pcapng_write_packets(s->file, m, (uint16_t)wanted) != bytes) {
		end_broken(s);
	} else {
		s->written += wanted;
		if (s->left != UINT64_MAX)
			s->left -= wanted;
		if (!s->left)
			s->end = "the count is reached";
	}
	rte_pktmbuf_free_bulk(m, n);
	return n;
}

/* --- the capture --- */

static bool is_noticed(const struct capture *c)
{
	for (unsigned int i = 0; i < CONF_MAX_WORKERS; i++)
		if (__atomic_load_n(&workers[i].capture, __ATOMIC_SEQ_CST) == c)
			return false;
	return true;
}

static void publish(struct capture *c)
{
	__atomic_store_n(&capture_wanted, c, __ATOMIC_SEQ_CST);
	__atomic_store_n(&packet_drops_watched, c ? capture_dropped : NULL, __ATOMIC_RELEASE);
}

/* Have the workers end the capture. @return false: a worker hangs, and may still use it */
static bool withdraw(const struct capture *c)
{
	uint64_t until = clock_read_us(CLOCK_MONOTONIC) + WORKER_S * 1000000;

	publish(NULL);
	while (!is_noticed(c)) {
		if (clock_read_us(CLOCK_MONOTONIC) > until)
			return false;
		rte_delay_us_sleep(100);
	}
	return true;
}

static void refuse_another(void)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	say(fd, "another capture is running");
	close(fd);
}

/* Handle the end of the client, the end of cygnetd and a further client; when idle, wait for one of them
 * for up to IDLE_MS. The client sends nothing after its request, so that its socket becomes readable only
 * when the client ends. */
static void wait_or_end(struct session_of_client *s, bool idle)
{
	struct pollfd fds[] = {
		{.fd = s->fd, .events = POLLIN | POLLRDHUP},
		{.fd = listener, .events = POLLIN},
	};

	if (poll(fds, RTE_DIM(fds), idle ? IDLE_MS : 0) > 0) {
		if (fds[0].revents)
			s->end = "ended by cygnetctl";
		if (fds[1].revents & POLLHUP)
			s->end = "cygnetd ends";
		else if (fds[1].revents)
			refuse_another();
	}
	if (!s->end && clock_read_us(CLOCK_MONOTONIC) >= s->until)
		s->end = "the time is over";
}

/* Packets that workers have copied by the end are written as well, unless the count is reached. */
static void drain(struct session_of_client *s)
{
	struct rte_mbuf *m = NULL;

	while (!s->broken && s->left && write_some(s))
		;
	while (rte_ring_sc_dequeue(s->capture->ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
}

/* @return false: a worker hangs, and memory of the capture must stay */
static bool run(struct session_of_client *s)
{
	publish(s->capture);
	while (!s->end) {
		unsigned int n = write_some(s);

		if (!s->end)
			wait_or_end(s, !n);
	}
	if (!withdraw(s->capture)) {
		log_error("capture: a worker hangs: its memory is not freed");
		return false;
	}
	drain(s);
	if (!s->broken)
		write_totals(s);
	return true;
}

static void serve_request(int fd, struct request *request, pid_t client)
{
	const struct capture_request *head = &request->head;
	/* Static: a worker that hangs may still read it, and no other capture is begun then. */
	static struct capture capture;
	struct session_of_client s = {
		.fd = fd,
		.left = head->count ? head->count : UINT64_MAX,
		.until = head->seconds ? clock_read_us(CLOCK_MONOTONIC) + head->seconds * 1000000ull
				       : UINT64_MAX,
		.capture = &capture,
	};
	const char *error;

	if (!is_noticed(&capture)) {
		say(fd, "a worker has not ended the last capture");
		return;
	}
	error = make_capture(request, &capture);
	if (error) {
		say(fd, error);
		return;
	}
	log_info("capture: begun for process %d", (int)client);
	say(fd, CAPTURE_ACCEPTED);
	if (!open_file(&s))
		end_broken(&s);
	if (run(&s)) {
		log_info("capture: %s: %" PRIu64 " packets, %" PRIu64 " missed", s.end, s.written,
			 capture.missed);
		if (rte_mempool_in_use_count(capture.pool))
			log_warn("capture: %u packets were not given back",
				 rte_mempool_in_use_count(capture.pool));
		free_capture(&capture);
	}
	if (s.file)
		rte_pcapng_close(s.file);
}

/* The socket is for root alone; its folder may be opened to others by mistake. */
static bool is_allowed(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0 &&
	       (peer->uid == 0 || peer->uid == geteuid());
}

static void serve(int fd)
{
	const struct timeval patience = {.tv_sec = CLIENT_S};
	static struct request request;
	const char *error;
	struct ucred peer;

	if (!is_allowed(fd, &peer)) {
		say(fd, "only root may capture packets");
		return;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return;
	error = read_request(fd, &request);
	if (error)
		say(fd, error);
	else
		serve_request(fd, &request, peer.pid);
}

static void *serve_all(void *arg)
{
	struct pollfd poll_listener = {.fd = listener, .events = POLLIN};

	(void)arg;
	for (;;) {
		int fd;

		if (poll(&poll_listener, 1, -1) < 0 && errno != EINTR)
			return NULL;
		if (poll_listener.revents & POLLHUP)
			return NULL;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		serve(fd);
		close(fd);
	}
}

/* --- start and end --- */

static int open_socket(struct sockaddr_un *addr)
{
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener < 0)
		return -errno;
	/* The socket of a cygnetd that was killed. */
	unlink(addr->sun_path);
	/* Before bind(), so that it never has another mode. */
	if (fchmod(listener, 0600) < 0 ||
	    bind(listener, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ||
	    listen(listener, 4) < 0)
		return -errno;
	return 0;
}

static struct sockaddr_un socket_address(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", rte_eal_get_runtime_dir(),
		     CAPTURE_SOCKET) >= (int)sizeof(addr.sun_path))
		addr.sun_path[0] = '\0';
	return addr;
}

static void close_socket(const struct sockaddr_un *addr)
{
	if (listener >= 0) {
		close(listener);
		unlink(addr->sun_path);
	}
	listener = -1;
}

int capture_start(void)
{
	struct sockaddr_un addr = socket_address();
	int err = addr.sun_path[0] ? open_socket(&addr) : -ENAMETOOLONG;

	if (!err)
		err = -pthread_create(&thread, NULL, serve_all, NULL);
	running = !err;
	if (err) {
		log_error("capture: %s: %s", addr.sun_path, strerror(-err));
		close_socket(&addr);
	}
	return err;
}

void capture_stop(void)
{
	const struct sockaddr_un addr = socket_address();

	if (!running)
		return;
	running = false;
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close_socket(&addr);
}
