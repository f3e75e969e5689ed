/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "crypto/device/build_id.h"

#define DIGEST 16u /* bytes of a build ID in its text */

/* The library is found by an address in it or by its file name; the other field is NULL. */
struct search {
	const void *address;
	const char *library;
	char *text;
};

static bool has_address(const struct dl_phdr_info *object, const void *address)
{
	for (unsigned int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];

		if (h->p_type == PT_LOAD &&
		    (uintptr_t)address - object->dlpi_addr - h->p_vaddr < h->p_memsz)
			return true;
	}
	return false;
}

static bool has_name(const struct dl_phdr_info *object, const char *library)
{
	const char *slash = strrchr(object->dlpi_name, '/');

	return !strncmp(slash ? slash + 1 : object->dlpi_name, library, strlen(library));
}

static size_t align(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* @param step  alignment of notes and their parts, bytes */
static bool read_notes(const uint8_t *at, size_t len, size_t step, char *text)
{
	const ElfW(Nhdr) *note;

	while (len >= sizeof(*note)) {
		size_t desc, next;

		note = (const ElfW(Nhdr) *)at;
		desc = align(sizeof(*note) + note->n_namesz, step);
		next = align(desc + note->n_descsz, step);
		if (next > len)
			return false;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(note + 1, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			for (size_t i = 0; i < note->n_descsz && i < DIGEST; i++)
				snprintf(text + 2 * i, 3, "%02x", at[desc + i]);
			return true;
		}
		at += next;
		len -= next;
	}
	return false;
}

static void describe(const struct dl_phdr_info *object, char *text)
{
	struct stat st;

	for (unsigned int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];

		if (h->p_type == PT_NOTE &&
		    read_notes((const uint8_t *)(object->dlpi_addr + h->p_vaddr), h->p_memsz,
			       h->p_align == 8 ? 8 : 4, text))
			return;
	}
	if (stat(object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe", &st) == 0)
		snprintf(text, BUILD_ID, "%lld-%lld", (long long)st.st_size,
			 (long long)st.st_mtime);
}

static int look(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (s->library ? !has_name(object, s->library) : !has_address(object, s->address))
		return 0;
	describe(object, s->text);
	return 1;
}

void build_id_at(const void *address, char *text)
{
	text[0] = '\0';
	dl_iterate_phdr(look, &(struct search){.address = address, .text = text});
}

void build_id_of(const char *library, char *text)
{
	text[0] = '\0';
	dl_iterate_phdr(look, &(struct search){.library = library, .text = text});
}
