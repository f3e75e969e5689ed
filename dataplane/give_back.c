/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/log.h"
#include "base/sadb.h"
#include "give_back.h"
#include "host/notify.h"
#include "host/wire.h"
#include "host/wire_before.h"

#define CLOSED_MS 10000u

/* Before the kernel has the interfaces again charon's plugin has it drop what policies protect: a second after a cygnetd has
 * served for the last time. @return false: the interfaces stay as they are */
static bool await_closed(struct cygnet_db *db)
{
	unsigned int ms = 0;

	while (cygnet_role_held(db, CYGNET_ROLE_CHARON) &&
	       !cygnet_mark_made(db, CYGNET_MARK_CLOSED)) {
		if (cygnet_role_held(db, CYGNET_ROLE_DATAPLANE))
			return true; /* another one, which has its own ports */
		if (ms++ == CLOSED_MS) {
			log_error(
				"charon does not tell the kernel to drop what policies protect (its log says why): the "
				"interfaces of ports stay isolated, until charon has ended and \"cygnetd --put-back\"");
			return false;
		}
		rte_delay_us_sleep(1000);
	}
	return true;
}

/* Of a file that cannot be opened it is not known whether a charon has it, unless it is of another boot or version. */
static bool is_unused(const struct conf *conf, int err, const char *error)
{
	char used[512];

	if (err == -ENOENT || err == -ESTALE)
		return true;
	if (err == -EPROTO && cygnet_db_check_version(conf->sadb, used, sizeof(used)) != -EBUSY)
		return true;
	log_error(
		"%s: the interfaces of ports stay isolated: end charon%s, then \"cygnetd --put-back\"",
		error, err == -EPROTO ? "" : " and remove the file");
	return false;
}

static bool await_closed_file(const struct conf *conf)
{
	struct cygnet_db *db;
	char error[512];
	bool closed;
	int err = cygnet_db_open_flags(conf->sadb, NULL,
				       conf->sadb_on_disk ? CYGNET_OPEN_ON_DISK : 0, &db, error,
				       sizeof(error));

	if (err)
		return is_unused(conf, err, error);
	closed = await_closed(db);
	cygnet_db_close(db);
	return closed;
}

void give_back_prepare(const struct conf *conf)
{
	int err = wire_before_open(conf->sadb, false);

	if (err)
		log_warn("%s.wires: cannot be opened: what cygnetd changes at the interfaces of ports will not be put back: %s",
			 conf->sadb, strerror(-err));
}

void give_back_at_end(void)
{
	if (notify_is_wanted())
		return;
	cygnet_role_release(sadb, CYGNET_ROLE_DATAPLANE);
	if (await_closed(sadb))
		wires_put_back();
}

int give_back_left(const struct conf *conf)
{
	int err = wire_before_open(conf->sadb, true);

	if (err == -ENOENT)
		return 0;
	if (err == -EBUSY)
		log_error("%s: a cygnetd has it, which puts back what it has changed when it ends",
			  conf->sadb);
	else if (err)
		log_error("%s.wires: %s", conf->sadb, strerror(-err));
	if (err)
		return err;
	return await_closed_file(conf) ? wires_put_back() : -EBUSY;
}
