/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file input.h
 * Reads the input of libFuzzer from its beginning.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** libFuzzer's entry points. @return 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/** ASan's options for targets with EAL: LeakSanitizer does not find pointers in EAL's memory. */
#define FUZZ_WITH_EAL \
	const char *__asan_default_options(void); \
	const char *__asan_default_options(void) \
	{ \
		return "detect_leaks=0"; \
	}

/** For targets with system calls that block: those that libFuzzer's clock interrupts go on. With each input, because
 * libFuzzer sets its clock after LLVMFuzzerInitialize(). */
static inline void fuzz_ignore_clock(void)
{
	struct sigaction clock;

	if (sigaction(SIGALRM, NULL, &clock))
		return;
	clock.sa_flags |= SA_RESTART;
	sigaction(SIGALRM, &clock, NULL);
}

struct input {
	const uint8_t *next;
	size_t left; /* bytes */
};

/** @return bytes read, size at most */
static inline size_t input_bytes(struct input *in, void *to, size_t size)
{
	size = size < in->left ? size : in->left;
	if (size)
		memcpy(to, in->next, size);
	in->next += size;
	in->left -= size;
	return size;
}

/** @return 0 at the end; the same below */
static inline uint8_t input_byte(struct input *in)
{
	uint8_t byte = 0;

	input_bytes(in, &byte, sizeof(byte));
	return byte;
}

static inline uint16_t input_word(struct input *in)
{
	uint16_t word = 0;

	input_bytes(in, &word, sizeof(word));
	return word;
}

/** XOR the input into a buffer: zeros change nothing. @return bytes read, size at most */
static inline size_t input_change(struct input *in, uint8_t *what, size_t size)
{
	size = size < in->left ? size : in->left;
	for (size_t i = 0; i < size; i++)
		what[i] ^= in->next[i];
	in->next += size;
	in->left -= size;
	return size;
}

#endif
