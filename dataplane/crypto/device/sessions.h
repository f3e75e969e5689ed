/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sessions.h
 * The sessions of a worker's SAs. A session is created with the first packet of its SA. It is released
 * after the SA is deleted, or when another SA needs its place.
 */
#ifndef CYGNETD_SESSIONS_H
#define CYGNETD_SESSIONS_H

#include "base/drop.h"
#include "cygnet.h"
#include "esp/session.h"

struct session_table;

/** What is to be known as sessions come and go. */
struct session_events {
	/** A session has been made, and has had no packet yet. */
	void (*created)(void *user, struct session *s);
	/** A session is about to be released: pointers to it are not used any more. */
	void (*released)(void *user, const struct session *s);
};

/**
 * The maximum number of sessions of a worker. Beyond it the least recently used session is released. Anybody can send
 * packets with the SPI of an inbound SA, so only an authentic one is a use of its session: session_used().
 * @param sas       capacity of the SAD
 * @param sessions  configured number for all workers
 */
uint32_t sessions_of_worker(uint32_t sas, uint32_t sessions, unsigned int workers);
/**
 * @param slots     capacity of the SAD
 * @param most      sessions_of_worker()
 * @param events    may be NULL
 * @param user      for them
 * @return NULL: no memory
 */
struct session_table *sessions_create(uint32_t slots, uint32_t most,
				      const struct session_events *events, void *user);
void sessions_free(struct session_table *table);

/**
 * The session of an SA, created if it does not exist.
 * @param evict  whether the session of another SA without packets in flight may be released for it
 * @param[out] s  valid as long as it has packets in flight, or until the next call
 * @return DROP_NONE; DROP_UNSUPPORTED: no device supports the SA; DROP_NO_SESSION: all sessions have
 *	   packets in flight, or the session of the slot's previous SA does, or no device could create
 *	   a session
 */
enum drop_reason session_get(struct session_table *table, const struct cygnet_sa *sa,
			     uint32_t index, bool evict, struct session **s);

/** An inbound SA's packet has turned out authentic. Not necessary for each, but every few seconds while there are some. */
void session_used(struct session_table *table, struct session *s);

/** The session of an SA, if it exists. @return NULL: the slot has none, or one of another SA */
struct session *session_peek(const struct session_table *table, uint32_t index,
			     uint32_t generation);

/** Whether the next session takes none from another SA. */
bool sessions_have_free(const struct session_table *table);

/** Whether there are so many sessions that their keys are in no cache of the worker's own. */
bool sessions_are_many(const struct session_table *table);

/** Release the session of an SA's slot, if there is one. @return false: it has packets in flight, and stays */
bool session_leave(struct session_table *table, uint32_t index);

/**
 * The cryptodev session of an SA on a device, created if it does not exist.
 * @param sa  NULL: do not create it
 * @return NULL: the device does not accept the SA, or is lost
 */
void *session_on(struct session *s, const struct cygnet_sa *sa, unsigned int device);
/**
 * Create a cryptodev session for an SA for which session_describe() returned true.
 * @param sa  a copy, which no other process can change
 * @param[out] crypto  NULL after an error
 * @return 0; -ENOTSUP: the device does not support the algorithms; -EIO: the driver failed
 */
int session_crypto(const struct cygnet_sa *sa, unsigned int device, void **crypto);
/** Fill in the fields of a session that are constant for all packets of the SA.
 * @return false: Cygnet does not support the SA */
bool session_describe(struct session *s, const struct cygnet_sa *sa);

/** Release sessions of deleted SAs without packets in flight, and report NAT mappings again that charon
 * was not told (mapping.h). To be called now and then; each call scans about 1/64 of the table. */
void sessions_sweep(struct session_table *table);

/** Log the SAs that no device supports, since the last call. Control thread. */
void sessions_report(struct session_table *table);

#endif
