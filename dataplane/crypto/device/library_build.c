/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "crypto/device/library_build.h"

struct search {
	const char *library;
	char *text;
};

/* The path of the program itself is as it was called. */
static void describe(const char *path, char *text)
{
	struct stat st;

	if (stat(path, &st) == 0 || stat("/proc/self/exe", &st) == 0)
		snprintf(text, LIBRARY_BUILD, "%lld-%lld", (long long)st.st_size,
			 (long long)st.st_mtime);
}

static int look(struct dl_phdr_info *object, size_t size, void *arg)
{
	const char *slash = strrchr(object->dlpi_name, '/');
	struct search *s = arg;

	(void)size;
	if (strncmp(slash ? slash + 1 : object->dlpi_name, s->library, strlen(s->library)))
		return 0;
	describe(object->dlpi_name, s->text);
	return 1;
}

void library_build_at(const void *address, char *text)
{
	Dl_info info;

	text[0] = '\0';
	if (dladdr(address, &info))
		describe(info.dli_fname, text);
}

void library_build_of(const char *library, char *text)
{
	text[0] = '\0';
	dl_iterate_phdr(look, &(struct search){.library = library, .text = text});
}
