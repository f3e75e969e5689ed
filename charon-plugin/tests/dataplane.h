/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @file dataplane.h
 * A dataplane for tests of the plugin: a process that executes requests.
 */

#ifndef DATAPLANE_H_
#define DATAPLANE_H_

#include "fixture.h"

#include <cygnet.h>

/** Number of workers of the dataplane */
#define DATAPLANE_WORKERS 4

/** Requests to the dataplane */
typedef enum {
	/** count traffic on the inbound SA of the event */
	DATAPLANE_COUNT,
	/** send a packet of the event's flow, as one of DATAPLANE_WORKERS workers:
	 * the event's CPU, which is none of them in most tests */
	DATAPLANE_SEND,
	/** post the event */
	DATAPLANE_POST,
	/** return only the counters that are in every response */
	DATAPLANE_INFO,
	/** return the use of the flow's destination port, enum cygnet_ike */
	DATAPLANE_PORT,
	/** respond, and then report no quiescent state for a while */
	DATAPLANE_LAG,
	/** respond, and report no quiescent state until the next request */
	DATAPLANE_STALL,
} dataplane_op_t;

/** Response of the dataplane */
typedef struct {
	/** 0 or a negative errno; enum cygnet_ike of DATAPLANE_PORT */
	int result;
	/** numbers of SAs, policies and keys in the file */
	uint32_t sas, policies, keys;
	/** reqids of the policy and of the SA of the packet sent */
	uint32_t policy_reqid, sa_reqid;
	/** CPU of the SA that is missing, CYGNET_WANTS_NOTHING if none is */
	int wants;
	/** ESP header of the packet sent */
	uint32_t spi;
	uint64_t seq;
	/** outer header of the packet sent */
	struct cygnet_path path;
} dataplane_response_t;

/** Path of the shared file; a template for mkdtemp() until charon_setup() */
extern char dataplane_path[];

/**
 * Start the dataplane, before threads are created. It opens the file at the
 * first request.
 */
void dataplane_start(void);

/**
 * Send a request to the dataplane and wait for its response
 *
 * @param op		request
 * @param event		event of the request, or NULL
 * @return			response
 */
dataplane_response_t dataplane_ask(dataplane_op_t op,
								   struct cygnet_event *event);

/**
 * Have the dataplane post an event. Fails the test if the ring is full.
 */
void dataplane_post(struct cygnet_event *event);

/**
 * Stop the dataplane
 *
 * @return			FALSE if it had ended or crashed before
 */
bool dataplane_stop(void);

#endif /** DATAPLANE_H_ */
