/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_db.h"

#include <errno.h>
#include <unistd.h>

/** How often to try to wipe all keys when charon ends */
#define WIPE_TRIES 200
/** Time between two tries, ms */
#define WIPE_PAUSE 1

/** Name of the open file among strongSwan's objects */
#define OBJECT "kernel-cygnet-db"

/*
 * Described in header.
 */
const char *kernel_cygnet_db_path(void)
{
	return lib->settings->get_str(lib->settings,
								  "%s.plugins.kernel-cygnet.path",
								  CYGNET_SADB_PATH, lib->ns);
}

/**
 * Read an option that is a number of slots
 */
static bool get_slots(const char *option, uint32_t def, uint32_t *slots)
{
	char key[64];
	int value;

	snprintf(key, sizeof(key), "%%s.plugins.kernel-cygnet.%s", option);
	value = lib->settings->get_int(lib->settings, key, def, lib->ns);
	if (value < 1 || value > CYGNET_MAX_ENTRIES)
	{
		DBG1(DBG_KNL, "%s.plugins.kernel-cygnet.%s is %d, must be from 1 to "
			 "%u", lib->ns, option, value, CYGNET_MAX_ENTRIES);
		return FALSE;
	}
	*slots = value;
	return TRUE;
}

/**
 * Log if an existing file has other sizes than configured
 */
static void compare_sizes(struct cygnet_db *db,
						  const struct cygnet_geometry *geometry)
{
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	if (info.geometry.sas != geometry->sas ||
		info.geometry.policies != geometry->policies)
	{
		DBG1(DBG_KNL, "%s exists and has room for %u SAs and %u policies, "
			 "other than configured; to resize it, stop cygnetd and remove it",
			 info.path, info.geometry.sas, info.geometry.policies);
	}
}

/**
 * Take the role of charon
 */
static bool take_role(struct cygnet_db *db)
{
	struct cygnet_db_info info;
	int err;

	err = cygnet_role_take(db, CYGNET_ROLE_CHARON);
	if (err)
	{
		cygnet_db_info(db, &info);
		if (err == -EBUSY)
		{
			DBG1(DBG_KNL, "kernel-cygnet can't use %s: process %d uses it",
				 info.path, info.charon_pid);
		}
		else
		{
			DBG1(DBG_KNL, "kernel-cygnet can't use %s: %s", info.path,
				 strerror(-err));
		}
		return FALSE;
	}
	return TRUE;
}

/**
 * Keep keys out of swap, unless lock_memory is off
 */
static bool lock_keys(struct cygnet_db *db)
{
	int err;

	if (!lib->settings->get_bool(lib->settings,
								 "%s.plugins.kernel-cygnet.lock_memory",
								 TRUE, lib->ns))
	{
		return TRUE;
	}
	err = cygnet_db_lock(db);
	if (err)
	{
		DBG1(DBG_KNL, "kernel-cygnet can't keep keys out of swap: %s. charon "
			 "needs CAP_IPC_LOCK or a larger RLIMIT_MEMLOCK; "
			 "%s.plugins.kernel-cygnet.lock_memory = no does without",
			 strerror(-err), lib->ns);
	}
	return !err;
}

/**
 * Open the file, or create it, and take the role of charon
 *
 * @param damage	receives a message if the file is damaged
 * @param size		size of damage
 * @param[out] out	open file; only set on success
 * @return			SUCCESS, INVALID_STATE (the file is damaged), or FAILED;
 *					failures are logged
 */
static status_t open_db(char *damage, size_t size, struct cygnet_db **out)
{
	struct cygnet_geometry geometry;
	struct cygnet_db *db;
	unsigned int flags = 0;
	int err;

	if (!get_slots("sas", CYGNET_DEFAULT_SAS, &geometry.sas) ||
		!get_slots("policies", CYGNET_DEFAULT_POLICIES, &geometry.policies))
	{
		return FAILED;
	}
	if (lib->settings->get_bool(lib->settings,
								"%s.plugins.kernel-cygnet.on_disk", FALSE, lib->ns))
	{
		flags |= CYGNET_OPEN_ON_DISK;
	}
	err = cygnet_db_open_flags(kernel_cygnet_db_path(), &geometry, flags, &db, damage, size);
	if (err)
	{
		DBG1(DBG_KNL, "kernel-cygnet can't open its SAD and SPD: %s", damage);
		return err == -EBADMSG ? INVALID_STATE : FAILED;
	}
	if (*damage)
	{
		DBG1(DBG_KNL, "%s", damage);
	}
	compare_sizes(db, &geometry);
	if (!take_role(db) || !lock_keys(db))
	{
		cygnet_db_close(db);
		return FAILED;
	}
	if (cygnet_db_check(db, damage, size) != 0)
	{
		DBG1(DBG_KNL, "%s is damaged: %s", kernel_cygnet_db_path(), damage);
		cygnet_db_close(db);
		return INVALID_STATE;
	}
	*out = db;
	return SUCCESS;
}

/**
 * Replace a damaged file by a new one, unless another process holds a role
 */
static status_t replace_db(char *why, size_t size, struct cygnet_db **db)
{
	if (cygnet_db_remove(kernel_cygnet_db_path(), why, size) != 0)
	{
		DBG1(DBG_KNL, "kernel-cygnet can't replace the damaged file: %s", why);
		return FAILED;
	}
	DBG1(DBG_KNL, "removed the damaged %s, creating a new one", kernel_cygnet_db_path());
	return open_db(why, size, db);
}

/**
 * Remove the SAs of an earlier charon. If hold is not 0, its policies drop
 * their packets until this charon has installed its own policies, so that no
 * such packet leaves as plaintext.
 */
static bool clean_up(struct cygnet_db *db, uint32_t hold)
{
	struct cygnet_db_info info, left;
	int err;

	cygnet_db_info(db, &info);
	err = hold ? cygnet_db_hold(db) : cygnet_db_flush(db);
	if (err)
	{
		DBG1(DBG_KNL, "kernel-cygnet can't clean up %s: %s", info.path,
			 strerror(-err));
		return FALSE;
	}
	cygnet_db_info(db, &left);
	DBG1(DBG_KNL, "kernel-cygnet uses %s, removed %u SAs and %u policies of "
		 "an earlier charon, dataplane is %sattached", info.path,
		 info.sas - left.sas, info.policies - left.policies,
		 info.dataplane_pid ? "" : "not yet ");
	if (left.policies)
	{
		DBG1(DBG_KNL, "%u policies of an earlier charon or boot drop packets "
			 "until they are installed again; those that no connection wants, "
			 "until connections have been loaded for %u seconds",
			 left.policies, hold);
	}
	return TRUE;
}

/*
 * Described in header.
 */
struct cygnet_db *kernel_cygnet_db_open(uint32_t hold)
{
	struct cygnet_db *db;
	char error[256] = "";
	status_t status;

	status = open_db(error, sizeof(error), &db);
	if (status == INVALID_STATE)
	{
		status = replace_db(error, sizeof(error), &db);
	}
	if (status != SUCCESS)
	{
		return NULL;
	}
	if (!clean_up(db, hold))
	{
		cygnet_db_close(db);
		return NULL;
	}
	lib->set(lib, OBJECT, db);
	return db;
}

/*
 * Described in header.
 */
struct cygnet_db *kernel_cygnet_db_get(void)
{
	return lib->get(lib, OBJECT);
}

/*
 * Described in header.
 *
 * Without charon no SA would be rekeyed or deleted, so remove all SAs, and
 * remove or hold the policies. Their
 * keys can be wiped once no reader of the dataplane can use them. If the
 * dataplane hangs, charon ends without wiping, and the dataplane wipes the keys
 * later.
 */
void kernel_cygnet_db_close(struct cygnet_db *db, bool hold)
{
	int i;

	lib->set(lib, OBJECT, NULL);
	if (hold)
	{
		cygnet_db_hold(db);
	}
	else
	{
		cygnet_db_flush(db);
	}
	for (i = 0; i < WIPE_TRIES && cygnet_db_reclaim(db); i++)
	{
		usleep(WIPE_PAUSE * 1000);
	}
	cygnet_db_close(db);
}

/*
 * Described in header.
 */
const char *kernel_cygnet_db_why(int err)
{
	if (err == -EOPNOTSUPP)
	{
		return "the shared file is of a version without interface IDs: remove "
			   "it while neither charon nor cygnetd runs";
	}
	return strerror(-err);
}
