/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file log.h
 * cygnetd's messages. If standard error is a stream of systemd's journal, they go to the journal, with
 * fields; otherwise to standard error, a line each. Each place in the code is limited to LOG_BURST messages
 * in LOG_SECONDS. Keys must not be logged.
 */
#ifndef CYGNETD_LOG_H
#define CYGNETD_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <rte_log.h>

#define LOG_BURST   32u
#define LOG_SECONDS 10u
#define LOG_FIELDS  16u

/** cygnetd's own messages above this level are left out: RTE_LOG_ERR to RTE_LOG_DEBUG. Atomic. */
extern uint32_t log_level;

static inline bool log_shows(uint32_t level)
{
	return level <= __atomic_load_n(&log_level, __ATOMIC_RELAXED);
}

/** The limit of messages with one cause. */
struct log_cause {
	uint64_t since;	     /* seconds of CLOCK_MONOTONIC */
	unsigned int logged; /* messages since then */
	unsigned int left_out;
};

/** What a message is about. The text begins with it, and the journal has it as fields. */
struct log_about {
	uint32_t spi;	  /* "SA c1234567: ", CYGNET_SPI=c1234567; network byte order; 0: none */
	uint32_t reqid;	  /* "policy {1}: ", CYGNET_POLICY=1; 0: none */
	const char *port; /* "port wan: ", CYGNET_PORT=wan; NULL: none */
	const char *const
		*fields; /* further fields of the journal, "NAME=value", LOG_FIELDS at most, NULL
				    * at the end; NULL: none */
};

/**
 * Log a message, whatever log_level is. Any thread.
 * @param cause  of this place in the code, zero at first; NULL: without limit
 * @param level  RTE_LOG_ERR to RTE_LOG_DEBUG
 * @param from   program or library that the message is of: "cygnetd"
 */
__attribute__((format(printf, 5, 6))) void log_say(struct log_cause *cause, uint32_t level,
						   const char *from, struct log_about about,
						   const char *format, ...);

/** Where messages go instead of standard error or the journal; NULL: there. For tests. */
void log_divert(FILE *file);

#define log_about(level, about, format, ...) \
	do { \
		static struct log_cause log_cause_here; \
		if (log_shows(level)) \
			log_say(&log_cause_here, level, "cygnetd", about, format, ##__VA_ARGS__); \
	} while (0)
#define log_plain(level, format, ...) log_about(level, (struct log_about){0}, format, ##__VA_ARGS__)
#define log_error(format, ...)	      log_plain(RTE_LOG_ERR, format, ##__VA_ARGS__)
#define log_warn(format, ...)	      log_plain(RTE_LOG_WARNING, format, ##__VA_ARGS__)
#define log_info(format, ...)	      log_plain(RTE_LOG_INFO, format, ##__VA_ARGS__)
/** About an SA. @param spi_ network byte order */
#define log_sa(level, spi_, format, ...) \
	log_about(level, (struct log_about){.spi = spi_}, format, ##__VA_ARGS__)
/** About a port. @param name_ of its section */
#define log_port(level, name_, format, ...) \
	log_about(level, (struct log_about){.port = name_}, format, ##__VA_ARGS__)

#endif
