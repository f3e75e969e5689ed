/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @file dataplane.h
 * A dataplane for tests of the plugin: a process that does what it is asked to.
 */

#ifndef DATAPLANE_H_
#define DATAPLANE_H_

#include "fixture.h"

#include <cygnet.h>

/** What it can be asked for */
typedef enum {
	/** count traffic on the inbound SA that the event names */
	DATAPLANE_COUNT,
	/** tell what becomes of a packet of the event's flow that leaves, count it */
	DATAPLANE_LEAVE,
	/** post the event */
	DATAPLANE_POST,
	/** tell how many SAs and policies there are */
	DATAPLANE_INFO,
	/** tell what the flow's destination port is to IKE */
	DATAPLANE_PORT,
	/** be busy with what it has looked up for a while */
	DATAPLANE_LAG,
} dataplane_op_t;

/** Its answer: 0 or a negative errno, what is in the file, keys included, and of
 * a packet that leaves its policy's and its SA's reqid, and what is in its ESP */
typedef struct {
	int result;
	uint32_t sas, policies, keys;
	uint32_t policy_reqid, sa_reqid, spi;
	uint64_t seq;
	struct cygnet_path path;
} dataplane_response_t;

/** Shared file, a template until charon_setup() */
extern char dataplane_path[];

/**
 * Start it, before there are threads. It opens the file when it is asked first.
 */
void dataplane_start(void);

/**
 * Ask it for something
 *
 * @param op		what
 * @param event		that this is about, or NULL
 */
dataplane_response_t dataplane_ask(dataplane_op_t op,
								   struct cygnet_event *event);

/**
 * Have it post an event, for which there has to be room
 */
void dataplane_post(struct cygnet_event *event);

/**
 * Stop it
 *
 * @return			FALSE if it had stopped by itself
 */
bool dataplane_stop(void);

#endif /** DATAPLANE_H_ */
