/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests for captures: the input is what a client sends to the socket of cygnetd, after which it shuts down its side. In
 * the first form it is the whole request; in the second the head is a valid one, which the input changes, and the
 * instructions follow.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/capture_request.h"
#include "capture.h"
#include "control.h"
#include "eal_fixture.h"
#include "host/interface.h"
#include "input.h"

#define MOST 2048u

FUZZ_WITH_EAL

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char folder[4096];

	(void)argc;
	/* Other processes of this target have sockets, too. */
	if (!getcwd(folder, sizeof(folder)) || setenv("RUNTIME_DIRECTORY", folder, 1))
		abort();
	interfaces[0] = (struct interface){.name = "wan", .mtu = 1500};
	ninterfaces = 1;
	if (start_eal((*argv)[0]) || capture_start())
		abort();
	return 0;
}

static int dial(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", rte_eal_get_runtime_dir(),
		 CAPTURE_SOCKET);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		abort();
	return fd;
}

/* @return bytes */
static size_t request(struct input *in, uint8_t *to)
{
	static const char *const reasons[] = {"", "replay"}, *const ports[] = {"", "wan"};
	uint8_t choice = input_byte(in);
	struct capture_request head = {
		.version = CAPTURE_VERSION,
		.points = input_byte(in),
		.count = choice >> 4,
		.seconds = 1,
		.spi = choice & 8 ? 1 : 0,
	};

	if (choice & 1)
		return input_bytes(in, to, MOST);
	snprintf(head.drop, sizeof(head.drop), "%s", reasons[choice >> 1 & 1]);
	snprintf(head.port, sizeof(head.port), "%s", ports[choice >> 2 & 1]);
	head.frame_insns = input_byte(in) % 16;
	head.ip_insns = input_byte(in) % 16;
	memcpy(to, &head, sizeof(head));
	return sizeof(head) + input_bytes(in, to + sizeof(head), MOST - sizeof(head));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t bytes[MOST], answer[4096];
	size_t len = request(&in, bytes);
	int fd;

	fuzz_ignore_clock();
	fd = dial();
	if (send(fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len && len)
		abort();
	shutdown(fd, SHUT_WR);
	/* Each request has an answer, and the connection ends. */
	if (recv(fd, answer, sizeof(answer), 0) <= 0)
		abort();
	while (recv(fd, answer, sizeof(answer), 0) > 0)
		;
	close(fd);
	return 0;
}
