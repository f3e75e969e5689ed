/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into cygnetd: as the file $FAULTS says, of at least 32 bytes, memory or time fails. "malloc N": each N-th
 * allocation of the program itself and of libcygnet has none, those of other libraries do. "clock N": the time of day is
 * off by N seconds, for all of the process. Anything else: nothing. The file is mapped, so that no allocation takes
 * a system call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define BYTES	 32
#define OURS	 2 /* the program and libcygnet */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

EXPORTED void *malloc(size_t size);
EXPORTED void *calloc(size_t n, size_t size);
EXPORTED void *realloc(void *old, size_t size);

static const char *fault = "";
static int (*real_clock)(clockid_t clock, struct timespec *now);
static unsigned int allocations;

static struct {
	uintptr_t from, to; /* of its code */
} ours[OURS];
static unsigned int nours;

static int note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	/* The program has no name. */
	if (nours == OURS || (info->dlpi_name[0] && !strstr(info->dlpi_name, "libcygnet")))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		ours[nours].from = info->dlpi_addr + header->p_vaddr;
		ours[nours++].to = info->dlpi_addr + header->p_vaddr + header->p_memsz;
		break;
	}
	return 0;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("FAULTS");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	*(void **)&real_clock = dlsym(RTLD_NEXT, "clock_gettime");
	dl_iterate_phdr(note_object, NULL);
	if (map != MAP_FAILED)
		fault = map;
}

/* @param caller  address of the instruction behind the call */
static int fails(const void *caller)
{
	unsigned int of = 0;

	if (memcmp(fault, "malloc ", 7))
		return 0;
	for (unsigned int i = 0; i < nours; i++)
		of += (uintptr_t)caller - ours[i].from < ours[i].to - ours[i].from;
	if (!of)
		return 0;
	if (__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) % (unsigned int)(fault[7] - '0'))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

static time_t off_by(void)
{
	char text[BYTES - 6];

	if (memcmp(fault, "clock ", 6))
		return 0;
	memcpy(text, fault + 6, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	return (time_t)atoll(text);
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *now)
{
	int err = real_clock(clock, now);

	if (!err && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += off_by();
	return err;
}

EXPORTED int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec time;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &time);
	now->tv_sec = time.tv_sec;
	now->tv_usec = time.tv_nsec / 1000;
	return 0;
}

EXPORTED time_t time(time_t *now)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	if (now)
		*now = time.tv_sec;
	return time.tv_sec;
}
