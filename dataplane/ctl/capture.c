/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/capture_request.h"
#include "client.h"
#include "commands.h"
#include "report.h"
#include "words.h"

#define DEFAULT_COUNT	10000
#define DEFAULT_SECONDS 60
#define SNAPLEN		65535

#define BLOCK_PACKET	 6 /* Enhanced Packet Block */
#define BLOCK_STATISTICS 5 /* Interface Statistics Block */
#define OPTION_DROPPED	 5 /* isb_ifdrop */

/* The arguments of the command line. */
struct capture_arguments {
	const char *file;   /* "-": standard output */
	const char *filter; /* libpcap's syntax; NULL: none */
	struct capture_request request;
};

/* A request and the instructions of its filter, as sent to cygnetd. */
struct capture_message {
	struct capture_request head;
	struct bpf_insn insn[2 * CAPTURE_FILTER_MAX];
};

/* --- the command line --- */

static const char *const point_names[CAPTURE_POINT_COUNT + 1] = {
#define X(name, text, help) [CAPTURE_##name] = text,
	CAPTURE_POINTS(X)
#undef X
};

static bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *text != '-' && *number <= most;
}

static bool parse_point(const char *text, size_t len, uint32_t *points)
{
	for (unsigned int i = 0; i < CAPTURE_POINT_COUNT; i++) {
		if (strlen(point_names[i]) == len && !strncmp(point_names[i], text, len)) {
			*points |= 1u << i;
			return true;
		}
	}
	return false;
}

/* Parse a list of names separated by commas. */
static bool parse_points(struct capture_arguments *a, const char *text)
{
	a->request.points = 0;
	for (;;) {
		size_t len = strcspn(text, ",");

		if (!parse_point(text, len, &a->request.points))
			return false;
		if (!text[len])
			return true;
		text += len + 1;
	}
}

static bool parse_name(const char *text, char name[32])
{
	return *text && snprintf(name, 32, "%s", text) < 32;
}

static bool parse_port(struct capture_arguments *a, const char *text)
{
	return parse_name(text, a->request.port);
}

static bool parse_drop(struct capture_arguments *a, const char *text)
{
	return parse_name(text, a->request.drop);
}

static bool parse_spi(struct capture_arguments *a, const char *text)
{
	uint64_t spi;

	if (!parse_number(text, UINT32_MAX, &spi) || !spi)
		return false;
	a->request.spi = htonl((uint32_t)spi);
	return true;
}

static bool parse_count(struct capture_arguments *a, const char *text)
{
	return parse_number(text, UINT64_MAX, &a->request.count);
}

static bool parse_seconds(struct capture_arguments *a, const char *text)
{
	uint64_t seconds;

	if (!parse_number(text, UINT32_MAX, &seconds))
		return false;
	a->request.seconds = (uint32_t)seconds;
	return true;
}

static bool parse_filter(struct capture_arguments *a, const char *text)
{
	a->filter = text;
	return true;
}

static const struct {
	const char *name;
	bool (*parse)(struct capture_arguments *arguments, const char *text);
} keywords[] = {
	{"at", parse_points},	  {"port", parse_port},	  {"drop", parse_drop},
	{"spi", parse_spi},	  {"count", parse_count}, {"seconds", parse_seconds},
	{"filter", parse_filter},
};

static const char *const *keyword_names(void)
{
	static const char *names[sizeof(keywords) / sizeof(keywords[0]) + 1];

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		names[i] = keywords[i].name;
	return names;
}

/* FILE, and pairs of a keyword and its value. */
const char *const *capture_next(int argc, char **argv)
{
	if (argc > 1 && argc % 2 == 0)
		return keyword_names();
	return argc > 2 && !strcmp(argv[argc - 1], "at") ? point_names : NULL;
}

static int parse_keyword(struct capture_arguments *a, const char *name, const char *value,
			 char *error, size_t size)
{
	const char *nearest;

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (strcmp(keywords[i].name, name))
			continue;
		if (value && keywords[i].parse(a, value))
			return 0;
		snprintf(error, size, "capture: %s: %s%s", name, value ? "cannot be " : "no value",
			 value ? value : "");
		return -EINVAL;
	}
	nearest = words_nearest(keyword_names(), name);
	snprintf(error, size, "capture: there is no keyword %s%s%s%s", name,
		 nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	return -EINVAL;
}

/* FILE and pairs of a keyword and its value.
 * @return 0, or -EINVAL with the reason in error; an empty reason: there is no FILE */
static int parse(struct capture_arguments *a, int argc, char **argv, char *error, size_t size)
{
	*error = '\0';
	*a = (struct capture_arguments){
		.request =
			{
				.version = CAPTURE_VERSION,
				.points = (1u << CAPTURE_POINT_COUNT) - 1,
				.count = DEFAULT_COUNT,
				.seconds = DEFAULT_SECONDS,
			},
	};
	if (argc < 1)
		return -EINVAL;
	a->file = argv[0];
	for (int i = 1; i < argc; i += 2)
		if (parse_keyword(a, argv[i], i + 1 < argc ? argv[i + 1] : NULL, error, size))
			return -EINVAL;
	/* Only drops have a reason. */
	if (*a->request.drop)
		a->request.points = 1u << CAPTURE_DROP;
	return 0;
}

/* --- the filter --- */

static int compile(const char *filter, int link, struct bpf_insn *insn, uint32_t *n, char *error,
		   size_t size)
{
	pcap_t *pcap = pcap_open_dead(link, SNAPLEN);
	struct bpf_program program;
	int err = -EINVAL;

	if (!pcap) {
		snprintf(error, size, "capture: out of memory");
		return -ENOMEM;
	}
	if (pcap_compile(pcap, &program, filter, 1, PCAP_NETMASK_UNKNOWN)) {
		snprintf(error, size, "capture: filter '%s': %s", filter, pcap_geterr(pcap));
	} else {
		if (program.bf_len > CAPTURE_FILTER_MAX) {
			snprintf(error, size, "capture: filter '%s': too long", filter);
		} else {
			memcpy(insn, program.bf_insns, program.bf_len * sizeof(*insn));
			*n = program.bf_len;
			err = 0;
		}
		pcap_freecode(&program);
	}
	pcap_close(pcap);
	return err;
}

/* Compile the filter for frames, which have an Ethernet header, and for packets inside the gateway, which have none.
 * A filter on Ethernet headers applies to frames only. */
static int compile_both(const struct capture_arguments *a, struct capture_message *message,
			char *error, size_t size)
{
	const uint32_t frames = 1u << CAPTURE_RX | 1u << CAPTURE_TX;
	struct capture_request *head = &message->head;
	char reason[256];

	if (compile(a->filter, DLT_EN10MB, message->insn, &head->frame_insns, error, size))
		return -EINVAL;
	if (!(head->points & ~frames))
		return 0;
	if (!compile(a->filter, DLT_RAW, message->insn + head->frame_insns, &head->ip_insns, reason,
		     sizeof(reason)))
		return 0;
	snprintf(error, size, "%s, where packets have no Ethernet header: ask for 'at rx,tx'",
		 reason);
	return -EINVAL;
}

/* @param length  receives that of the message, bytes. @return 0, or -EINVAL with the reason in error */
static int make_message(const struct capture_arguments *a, struct capture_message *message,
			size_t *length, char *error, size_t size)
{
	message->head = a->request;
	if (a->filter && compile_both(a, message, error, size))
		return -EINVAL;
	*length = sizeof(message->head) +
		  (message->head.frame_insns + message->head.ip_insns) * sizeof(message->insn[0]);
	return 0;
}

/* --- cygnetd --- */

static int connect_to(const char *telemetry, char *error, size_t size)
{
	const char *slash = strrchr(telemetry, '/');
	int folder = slash ? (int)(slash - telemetry) : 0;
	char path[PATH_MAX + sizeof(CAPTURE_SOCKET)];

	snprintf(path, sizeof(path), "%.*s/%s", folder, telemetry, CAPTURE_SOCKET);
	return client_open(path, SOCK_STREAM, error, size);
}

/* Read the line with cygnetd's decision. */
static bool is_accepted(FILE *from, char *error, size_t size)
{
	char line[CAPTURE_LINE_MAX];

	if (!fgets(line, sizeof(line), from) || !strchr(line, '\n')) {
		snprintf(error, size, "capture: cygnetd does not answer");
		return false;
	}
	*strchr(line, '\n') = '\0';
	if (!strcmp(line, CAPTURE_ACCEPTED))
		return true;
	snprintf(error, size, "capture: cygnetd refuses: %s", line);
	return false;
}

/* @return what cygnetd sends the capture on, or NULL */
static FILE *ask(const struct capture_arguments *a, const char *telemetry, char *error, size_t size)
{
	const struct timeval forever = {0};
	static struct capture_message message;
	FILE *from = NULL;
	size_t length;
	int fd;

	if (make_message(a, &message, &length, error, size))
		return NULL;
	fd = connect_to(telemetry, error, size);
	if (fd < 0)
		return NULL;
	/* EPIPE: cygnetd has refused the request already; is_accepted() reads the reason. */
	if ((send(fd, &message, length, MSG_NOSIGNAL) < 0 && errno != EPIPE) ||
	    !(from = fdopen(fd, "r")))
		snprintf(error, size, "capture: cannot ask: %s", strerror(errno));
	else if (is_accepted(from, error, size) &&
		 !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever)))
		return from;
	if (from)
		fclose(from);
	else
		close(fd);
	return NULL;
}

/* --- the file --- */

/* An existing file may belong to another user, or be a link. Blocks are not buffered: each is complete, and a
 * program that reads them has them at once. */
static FILE *open_file(const char *path, char *error, size_t size)
{
	int fd = strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
				   : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file)
		setvbuf(file, NULL, _IONBF, 0);
	else
		snprintf(error, size, "capture: %s: %s", path, strerror(errno));
	return file;
}

/* --- the capture --- */

struct totals {
	uint64_t packets, missed;
	bool complete; /* the statistics block at the end has been received */
};

static uint32_t word_at(const uint8_t *block, size_t offset)
{
	uint32_t word;

	memcpy(&word, block + offset, sizeof(word));
	return word;
}

/* Read the number of missed packets from a statistics block: type, length, interface, time (two words), options. */
static void read_statistics(struct totals *totals, const uint8_t *block, size_t length)
{
	size_t offset = 20;

	while (offset + 4 <= length - 4) {
		uint16_t option[2];

		memcpy(option, block + offset, sizeof(option));
		offset += sizeof(option);
		if (!option[0] || option[1] > length - 4 - offset)
			break;
		if (option[0] == OPTION_DROPPED && option[1] == sizeof(totals->missed))
			memcpy(&totals->missed, block + offset, sizeof(totals->missed));
		offset += (option[1] + 3u) & ~3u;
	}
	totals->complete = true;
}

/* Copy one whole block, so that the file is valid whenever cygnetd ends.
 * @return 1; 0: there is none; -1 with the reason in error */
static int copy_block(FILE *from, FILE *to, uint8_t *block, struct totals *totals, char *error,
		      size_t size)
{
	uint32_t length;

	if (fread(block, 1, 8, from) < 8)
		return 0;
	length = word_at(block, 4);
	if (length < 12 || length % 4 || length > CAPTURE_BLOCK_MAX) {
		snprintf(error, size, "capture: cygnetd sends what is not pcapng");
		return -1;
	}
	if (fread(block + 8, 1, length - 8, from) < length - 8)
		return 0;
	if (fwrite(block, 1, length, to) < length) {
		snprintf(error, size, "capture: cannot write: %s", strerror(errno));
		return -1;
	}
	totals->packets += word_at(block, 0) == BLOCK_PACKET;
	if (word_at(block, 0) == BLOCK_STATISTICS && length >= 24)
		read_statistics(totals, block, length);
	return 1;
}

static int cygnetd = -1; /* for the signal handler */

/* Signal handler: make cygnetd send the rest and end the capture. A second signal ends cygnetctl. */
static void end(int number)
{
	shutdown(cygnetd, SHUT_WR);
	signal(number, SIG_DFL);
}

static int copy(FILE *from, FILE *to, struct totals *totals, char *error, size_t size)
{
	static uint8_t block[CAPTURE_BLOCK_MAX];
	int more;

	cygnetd = fileno(from);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, end);
	signal(SIGTERM, end);
	do
		more = copy_block(from, to, block, totals, error, size);
	while (more > 0);
	if (more == 0 && !totals->complete) {
		snprintf(error, size, "capture: cygnetd has ended");
		more = -1;
	}
	return more;
}

/* On standard error: the capture may be on standard output. */
static void print_totals(const struct totals *totals, bool json)
{
	fprintf(stderr,
		json ? "{\"packets\":%" PRIu64 ",\"missed\":%" PRIu64 "}\n"
		     : "%" PRIu64 " packets captured, %" PRIu64 " missed\n",
		totals->packets, totals->missed);
}

static int run(const struct capture_arguments *a, bool json, const char *socket, char *error,
	       size_t size)
{
	struct totals totals = {0};
	FILE *from = ask(a, socket, error, size), *to = NULL;
	int err = -1;

	if (from)
		to = open_file(a->file, error, size);
	if (to) {
		err = copy(from, to, &totals, error, size);
		if (fclose(to) && !err) {
			snprintf(error, size, "capture: %s: %s", a->file, strerror(errno));
			err = -1;
		}
		print_totals(&totals, json);
	}
	if (from)
		fclose(from);
	return err;
}

int capture(const struct options *options, int argc, char **argv)
{
	char path[PATH_MAX], error[1024] = "";
	struct capture_arguments arguments;
	int status = 0;

	if (parse(&arguments, argc - 1, argv + 1, error, sizeof(error)))
		status = *error ? 2 : COMMAND_USAGE;
	else if (options_socket(options, path, sizeof(path), error, sizeof(error)) ||
		 run(&arguments, options->json, path, error, sizeof(error)))
		status = 1;
	if (status > 0)
		report_error(options, status, "%s", error);
	return status;
}
