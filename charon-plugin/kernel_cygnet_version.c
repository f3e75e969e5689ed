/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE /* dl_iterate_phdr() */

#include "kernel_cygnet_version.h"

#include <ctype.h>
#include <link.h>

/** Text in front of the version in charon's greeting */
#define PREFIX "strongSwan "

/** Attribute of functions that read all constants of a program, including the
 * gaps that AddressSanitizer puts between them */
#define READS_GAPS __attribute__((no_sanitize_address))

/**
 * Length of the version that a chunk starts with, such as 5.9.8, 6.0.0rc1 or
 * 6.0.0beta6; 0 if there is none
 */
READS_GAPS static size_t version_len(chunk_t data)
{
	size_t len = 0;
	int dots = 0;

	while (len < data.len && (isalnum(data.ptr[len]) || data.ptr[len] == '.'))
	{
		if (data.ptr[len] == '.')
		{
			dots++;
		}
		else if (!isdigit(data.ptr[len]) && dots < 2)
		{
			return 0;
		}
		len++;
	}
	return dots == 2 && isdigit(data.ptr[0]) ? len : 0;
}

/**
 * Whether a chunk starts with PREFIX
 */
READS_GAPS static bool is_named(chunk_t data)
{
	size_t i;

	for (i = 0; i < strlen(PREFIX); i++)
	{
		if (i == data.len || data.ptr[i] != PREFIX[i])
		{
			return FALSE;
		}
	}
	return TRUE;
}

/**
 * Find a version that follows PREFIX
 */
static bool find_named(chunk_t data, chunk_t *version)
{
	chunk_t tail;
	size_t len;

	for (; data.len; data = chunk_skip(data, 1))
	{
		if (is_named(data))
		{
			tail = chunk_skip(data, strlen(PREFIX));
			len = version_len(tail);
			if (len)
			{
				*version = chunk_create(tail.ptr, len);
				return TRUE;
			}
		}
	}
	return FALSE;
}

/**
 * Find a terminated string that is only a version
 */
READS_GAPS static bool find_bare(chunk_t data, chunk_t *version)
{
	bool start = TRUE;
	size_t len;

	for (; data.len; data = chunk_skip(data, 1))
	{
		len = start ? version_len(data) : 0;
		if (len && len < data.len && !data.ptr[len])
		{
			*version = chunk_create(data.ptr, len);
			return TRUE;
		}
		start = !data.ptr[0];
	}
	return FALSE;
}

/**
 * Callback of dl_iterate_phdr(): search the constants of the first object,
 * which is the program
 */
static int search_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	chunk_t *version = arg, data;
	int i, pass;

	for (pass = 0; pass < 2; pass++)
	{
		for (i = 0; i < info->dlpi_phnum; i++)
		{
			const ElfW(Phdr) *hdr = &info->dlpi_phdr[i];

			if (hdr->p_type != PT_LOAD || !(hdr->p_flags & PF_R) ||
				hdr->p_flags & PF_W)
			{
				continue;
			}
			data = chunk_create((u_char*)info->dlpi_addr + hdr->p_vaddr,
								hdr->p_filesz);
			if (pass == 0 ? find_named(data, version)
						  : find_bare(data, version))
			{
				return 1;
			}
		}
	}
	return -1;
}

/*
 * Described in header.
 */
bool kernel_cygnet_version_find(chunk_t data, chunk_t *version)
{
	return find_named(data, version) || find_bare(data, version);
}

/*
 * Described in header.
 */
bool kernel_cygnet_version_of_daemon(chunk_t *version)
{
	return dl_iterate_phdr(search_program, version) > 0;
}
