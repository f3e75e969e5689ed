/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#ifdef HAVE_LIBSYSTEMD
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#endif

#include <rte_common.h>

#include "base/clock.h"
#include "base/log.h"

#define TEXT_MAX  8192
#define FIELD_MAX 64

uint32_t log_level = RTE_LOG_INFO;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *diverted;

static uint64_t now(void)
{
	return clock_read_us(CLOCK_MONOTONIC) / 1000000 + 1;
}

/* @param left_out  receives how many messages were left out before this one
 * @return whether this one is within the limit */
static bool within_limit(struct log_cause *cause, unsigned int *left_out)
{
	bool within;

	pthread_mutex_lock(&lock);
	if (!cause->since || now() - cause->since >= LOG_SECONDS) {
		cause->since = now();
		cause->logged = 0;
	}
	within = cause->logged++ < LOG_BURST;
	*left_out = within ? cause->left_out : 0;
	cause->left_out = within ? 0 : cause->left_out + 1;
	pthread_mutex_unlock(&lock);
	return within;
}

/* As sd_journal_stream_fd(3) says: $JOURNAL_STREAM names device and inode of the journal's stream. */
static bool in_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat error;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &error) == 0 && error.st_dev == device && error.st_ino == inode;
}

#ifdef HAVE_LIBSYSTEMD
static void to_journal(uint32_t level, const char *from, const struct log_about *about,
		       const char *text)
{
	char message[TEXT_MAX + 8], priority[16], source[FIELD_MAX], spi[32], policy[32],
		port[FIELD_MAX];
	struct iovec fields[7 + LOG_FIELDS];
	int n = 0;

	snprintf(message, sizeof(message), "MESSAGE=%s", text);
	/* syslog's levels begin at 0, DPDK's at 1. */
	snprintf(priority, sizeof(priority), "PRIORITY=%u", level - 1);
	snprintf(source, sizeof(source), "CYGNET_FROM=%s", from);
	snprintf(spi, sizeof(spi), "CYGNET_SPI=%08x", ntohl(about->spi));
	snprintf(policy, sizeof(policy), "CYGNET_POLICY=%u", about->reqid);
	snprintf(port, sizeof(port), "CYGNET_PORT=%s", about->port ? about->port : "");
#define FIELD(text) (struct iovec){.iov_base = text, .iov_len = strlen(text)}
	fields[n++] = FIELD(message);
	fields[n++] = FIELD(priority);
	fields[n++] = (struct iovec){.iov_base = (char *)(uintptr_t) "SYSLOG_IDENTIFIER=cygnetd",
				     .iov_len = strlen("SYSLOG_IDENTIFIER=cygnetd")};
	fields[n++] = FIELD(source);
	if (about->spi)
		fields[n++] = FIELD(spi);
	if (about->reqid)
		fields[n++] = FIELD(policy);
	if (about->port)
		fields[n++] = FIELD(port);
	for (const char *const *more = about->fields; more && *more && n < (int)RTE_DIM(fields);
	     more++)
		fields[n++] = (struct iovec){.iov_base = (char *)(uintptr_t)*more,
					     .iov_len = strlen(*more)};
#undef FIELD
	sd_journal_sendv(fields, n);
}
#else
static void to_journal(uint32_t level, const char *from, const struct log_about *about,
		       const char *text)
{
	(void)about;
	fprintf(stderr, "<%u>%s: %s\n", level - 1, from, text);
}
#endif

static void to_file(FILE *file, uint32_t level, const char *from, const char *text)
{
	static const char *const names[] = {
		[RTE_LOG_ERR] = "error: ",
		[RTE_LOG_WARNING] = "warning: ",
	};
	const char *name = level < RTE_LOG_ERR	      ? names[RTE_LOG_ERR]
			   : level <= RTE_LOG_WARNING ? names[level]
						      : "";

	fprintf(file, "%s: %s%s\n", from, name, text);
	fflush(file);
}

static size_t begin_text(const struct log_about *about, char *text, size_t size)
{
	int len = 0;

	text[0] = '\0';
	if (about->port)
		len = snprintf(text, size, "port %s: ", about->port);
	else if (about->spi)
		len = snprintf(text, size, "SA %08x: ", ntohl(about->spi));
	else if (about->reqid)
		len = snprintf(text, size, "policy {%u}: ", about->reqid);
	return (size_t)RTE_MAX(len, 0);
}

void log_say(struct log_cause *cause, uint32_t level, const char *from, struct log_about about,
	     const char *format, ...)
{
	unsigned int left_out = 0;
	char text[TEXT_MAX];
	va_list args;
	size_t len;

	if (cause && !within_limit(cause, &left_out))
		return;
	len = begin_text(&about, text, sizeof(text));
	va_start(args, format);
	vsnprintf(text + len, sizeof(text) - len, format, args);
	va_end(args);
	len = strlen(text);
	if (left_out && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, " (%u more of this kind left out)",
			 left_out);
	if (diverted)
		to_file(diverted, level, from, text);
	else if (in_journal())
		to_journal(level, from, &about, text);
	else
		to_file(stderr, level, from, text);
}

void log_divert(FILE *file)
{
	diverted = file;
}
