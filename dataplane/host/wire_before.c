/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines "INTERFACE-INDEX NAME VALUE" between "boot ID" and "end". They are overwritten in place, because the locks are
 * the file's: a line that is left behind "end" does not count. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/boot_id.h"
#include "base/log.h"
#include "conf/conf.h"
#include "host/wire_before.h"

#define MOST (2 * CONF_MAX_DEVICES * WIRE_SETTINGS) /* interfaces may be made anew */
#define LINE 64

/* Bytes of the file that are locked. */
enum lock { HAS_WIRES, WRITES };

struct list {
	unsigned int n;
	struct entry {
		uint32_t ifindex;
		enum wire_setting setting;
		int64_t value;
	} entry[MOST];
};

static int file = -1;

/* @param command  F_OFD_SETLK or F_OFD_SETLKW  @param type  F_RDLCK, F_WRLCK or F_UNLCK */
static int set_lock(enum lock lock, int command, short type)
{
	struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = lock, .l_len = 1};
	int ret;

	do
		ret = fcntl(file, command, &range);
	while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

/* --- the file's text --- */

static struct entry *find(struct list *list, uint32_t ifindex, int setting)
{
	for (unsigned int i = 0; i < list->n; i++)
		if (list->entry[i].ifindex == ifindex && (int)list->entry[i].setting == setting)
			return &list->entry[i];
	return NULL;
}

static void add(struct list *list, uint32_t ifindex, int setting, int64_t value)
{
	if (list->n < MOST && !find(list, ifindex, setting))
		list->entry[list->n++] = (struct entry){ifindex, (enum wire_setting)setting, value};
}

/* A name that a later version has written is left out. */
static void add_line(struct list *list, const char *line)
{
	unsigned int ifindex;
	long long value;
	char name[LINE];

	if (sscanf(line, "%u %63s %lld", &ifindex, name, &value) != 3 || !ifindex || value < 0)
		return;
	for (int i = 0; i < WIRE_SETTINGS; i++)
		if (strcmp(name, wire_setting_name[i]) == 0)
			add(list, ifindex, i, value);
}

static void load(struct list *list)
{
	char text[LINE * (MOST + 2)] = "", boot[LINE] = "boot ", *line, *save;
	ssize_t len = pread(file, text, sizeof(text) - 1, 0);

	list->n = 0;
	text[len < 0 ? 0 : len] = '\0';
	boot_id_read(boot + strlen(boot));
	line = strtok_r(text, "\n", &save);
	if (!line || strcmp(line, boot) != 0)
		return;
	while ((line = strtok_r(NULL, "\n", &save)) && strcmp(line, "end") != 0)
		add_line(list, line);
}

static void store(const struct list *list)
{
	char text[LINE * (MOST + 2)], boot[BOOT_ID_LEN + 1];
	size_t len;

	boot_id_read(boot);
	len = (size_t)snprintf(text, sizeof(text), "boot %s\n", boot);
	for (unsigned int i = 0; i < list->n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%u %s %lld\n",
					list->entry[i].ifindex,
					wire_setting_name[list->entry[i].setting],
					(long long)list->entry[i].value);
	len += (size_t)snprintf(text + len, sizeof(text) - len, "end\n");
	if (pwrite(file, text, len, 0) != (ssize_t)len || ftruncate(file, (off_t)len))
		log_warn("the settings of ports' interfaces cannot be noted, and will not be put back: %s",
			 strerror(errno));
}

/* --- what is noted --- */

static void forget_gone(struct list *list)
{
	char iface[IFNAMSIZ];
	unsigned int n = 0;

	for (unsigned int i = 0; i < list->n; i++)
		if (if_indextoname(list->entry[i].ifindex, iface))
			list->entry[n++] = list->entry[i];
	list->n = n;
}

static void note(struct list *list, uint32_t ifindex, const char *iface)
{
	forget_gone(list);
	for (int i = 0; i < WIRE_SETTINGS; i++) {
		int64_t value = wire_setting_read(iface, (enum wire_setting)i);

		if (value >= 0)
			add(list, ifindex, i, value);
	}
}

void wire_before_note(uint32_t ifindex)
{
	char iface[IFNAMSIZ];
	struct list list;

	if (file < 0 || !if_indextoname(ifindex, iface) || set_lock(WRITES, F_OFD_SETLKW, F_WRLCK))
		return;
	load(&list);
	note(&list, ifindex, iface);
	store(&list);
	set_lock(WRITES, F_OFD_SETLK, F_UNLCK);
}

void wire_before_set(uint32_t ifindex, enum wire_setting setting, int64_t value)
{
	struct entry *entry;
	struct list list;

	if (file < 0 || value < 0 || set_lock(WRITES, F_OFD_SETLKW, F_WRLCK))
		return;
	load(&list);
	entry = find(&list, ifindex, (int)setting);
	if (entry) {
		entry->value = value;
		store(&list);
	}
	set_lock(WRITES, F_OFD_SETLK, F_UNLCK);
}

/* --- putting back --- */

static bool is_kept(uint32_t ifindex, const uint32_t *kept, unsigned int nkept)
{
	for (unsigned int i = 0; i < nkept; i++)
		if (kept[i] == ifindex)
			return true;
	return false;
}

/* @return 0, also if the interface has that value or is gone, or -errno, logged */
static int write_one(const char *iface, const struct entry *entry)
{
	int err = wire_setting_write(iface, entry->setting, entry->value);

	if (err && !if_nametoindex(iface))
		return 0;
	if (err)
		log_error("interface %s: its %s of before cannot be put back: %s; it stays noted in the "
			  "file beside the shared one, for cygnetd --put-back",
			  iface, wire_setting_name[entry->setting], strerror(-err));
	return err;
}

/* In the order of the settings. @param left  receives those that cannot be put back
 * @return 0 or the first -errno */
static int write_all(struct list *list, uint32_t ifindex, struct list *left)
{
	char iface[IFNAMSIZ];
	int first = 0;

	if (!if_indextoname(ifindex, iface))
		return 0;
	for (int i = 0; i < WIRE_SETTINGS; i++) {
		const struct entry *entry = find(list, ifindex, i);
		int err = entry ? write_one(iface, entry) : 0;

		if (err)
			add(left, ifindex, i, entry->value);
		if (!first)
			first = err;
	}
	if (!first)
		log_info("interface %s: its settings are those of before cygnetd again", iface);
	return first;
}

static void remove_interface(struct list *list, uint32_t ifindex)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < list->n; i++)
		if (list->entry[i].ifindex != ifindex)
			list->entry[n++] = list->entry[i];
	list->n = n;
}

static int put_back(const uint32_t *kept, unsigned int nkept)
{
	struct list list, left = {0};
	int first = 0;

	load(&list);
	while (list.n) {
		struct entry entry = list.entry[0];

		if (is_kept(entry.ifindex, kept, nkept)) {
			add(&left, entry.ifindex, (int)entry.setting, entry.value);
			list.entry[0] = list.entry[--list.n];
		} else {
			int err = write_all(&list, entry.ifindex, &left);

			first = first ? first : err;
			remove_interface(&list, entry.ifindex);
		}
	}
	store(&left);
	return first;
}

int wire_before_put_back(const uint32_t *kept, unsigned int nkept)
{
	int err;

	if (file < 0 || set_lock(HAS_WIRES, F_OFD_SETLK, F_WRLCK))
		return 0;
	err = put_back(kept, nkept);
	set_lock(HAS_WIRES, F_OFD_SETLK, F_RDLCK);
	return err;
}

/* --- opening --- */

static int lock_file(bool alone)
{
	int err = alone ? set_lock(HAS_WIRES, F_OFD_SETLK, F_WRLCK)
			: set_lock(HAS_WIRES, F_OFD_SETLKW, F_RDLCK);

	return err == -EAGAIN || err == -EACCES ? -EBUSY : err;
}

void wire_before_hold(bool has)
{
	if (file >= 0)
		set_lock(HAS_WIRES, F_OFD_SETLKW, has ? F_RDLCK : F_UNLCK);
}

/* What another user has written would be set at any interface. */
static bool is_roots(void)
{
	struct stat st;

	return fstat(file, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 077);
}

int wire_before_open(const char *sadb, bool alone)
{
	char path[PATH_MAX + 8];
	int err;

	snprintf(path, sizeof(path), "%s.wires", sadb);
	file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	err = is_roots() ? lock_file(alone) : -EPERM;
	if (err) {
		close(file);
		file = -1;
	}
	return err;
}
