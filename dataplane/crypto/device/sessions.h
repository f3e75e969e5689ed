/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sessions.h
 * The sessions of a worker's SAs: made when an SA has its first packet, given up when the SA is
 * gone, or when another SA needs the room.
 */
#ifndef CYGNETD_SESSIONS_H
#define CYGNETD_SESSIONS_H

#include "base/drop.h"
#include "cygnet.h"
#include "esp/session.h"

struct session_table;

/**
 * How many sessions a worker has at a time; that of the SA that was used least recently
 * makes room for another.
 * @param sas       of the SAD
 * @param sessions  of all workers, by the configuration
 */
uint32_t sessions_of_worker(uint32_t sas, uint32_t sessions, unsigned int workers);
/**
 * @param slots     of the SAD
 * @param most      sessions_of_worker()
 * @param released  incremented when a session goes, so that whoever keeps pointers to sessions
 *		    forgets them; may be NULL
 * @return NULL: no memory
 */
struct session_table *sessions_create(uint32_t slots, uint32_t most, uint32_t *released);
void sessions_free(struct session_table *table);

/**
 * The session of an SA, made if there is none yet.
 * @param evict  whether that of another SA without packets in flight may make room
 * @param[out] s  stays where it is as long as it has packets in flight, or until the next call
 * @return DROP_NONE; DROP_UNSUPPORTED if no device serves such SAs; DROP_NO_SESSION if
 *	   all sessions, or that of the slot's last SA, have packets in flight, or
 *	   no device could set it up
 */
enum drop_reason session_get(struct session_table *table, const struct cygnet_sa *sa,
			     uint32_t index, bool evict, struct session **s);

/** The session of an SA, if there is one. @return NULL: there is not, or it is not that SA's */
struct session *session_peek(const struct session_table *table, uint32_t index,
			     uint32_t generation);

/**
 * Have an SA's session on a device as well, made if there is none yet.
 * @param sa  NULL: only if it is there already
 * @return NULL if the device does not take the SA, or is lost
 */
void *session_on(struct session *s, const struct cygnet_sa *sa, unsigned int device);
/**
 * Create a crypto session for an SA that session_describe() takes.
 * @param[out] crypto  NULL if there is none
 * @return 0; -ENOTSUP: the device does not do that; -EIO: it could not set it up
 */
int session_crypto(const struct cygnet_sa *sa, unsigned int device, void **crypto);
/** What does not change about the packets of an SA. @return false: nobody serves it */
bool session_describe(struct session *s, const struct cygnet_sa *sa);

/** Give up some sessions whose SA is gone and which have nothing in flight, and tell again what
 * charon was not told of others (mapping.h); call it once in a while. All of the table is seen
 * every 64 calls or so. */
void sessions_sweep(struct session_table *table);

/** Say which SAs nobody serves since the last call. Control thread. */
void sessions_report(struct session_table *table);

#endif
