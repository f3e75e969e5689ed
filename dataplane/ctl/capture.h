/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file capture.h
 * cygnetctl capture: write packets that cygnetd receives, sends, drops, decrypts or is to protect to a pcapng file.
 */
#ifndef CYGNETCTL_CAPTURE_H
#define CYGNETCTL_CAPTURE_H

#include <stddef.h>

#include "base/capture_request.h"
#include "options.h"

/** The arguments of the command line. */
struct capture_arguments {
	const char *file;	/* "-": standard output */
	const char *filter;	/* libpcap's syntax; NULL: none */
	struct capture_request request;
};

/** A request and the instructions of its filter, as sent to cygnetd. */
struct capture_message {
	struct capture_request head;
	struct bpf_insn insn[2 * CAPTURE_FILTER_MAX];
};

/**
 * Parse the arguments after "capture": FILE and pairs of a keyword and its value.
 * @return 0, or -EINVAL with the reason in error; an empty reason: there is no FILE
 */
int capture_parse(struct capture_arguments *arguments, int argc, char **argv, char *error,
		  size_t size);
/**
 * Compile the filter and make the message to be sent.
 * @param[out] length  of the message, bytes
 * @return 0, or -EINVAL with the reason in error
 */
int capture_compile(const struct capture_arguments *arguments, struct capture_message *message,
		    size_t *length, char *error, size_t size);
/**
 * Capture until a limit is reached or a signal ends it, and report on standard error.
 * @return exit status, or COMMAND_USAGE
 */
int capture(const struct options *options, int argc, char **argv);

#endif
