/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_sender.h"
#include "kernel_cygnet_addr.h"

#include <daemon.h>
#include <threading/mutex.h>

typedef struct private_sender_t private_sender_t;

struct private_sender_t {

	/**
	 * Public interface
	 */
	sender_t public;

	/**
	 * Charon's own sender
	 */
	sender_t *sender;

	/**
	 * Shared file
	 */
	struct cygnet_db *db;

	/**
	 * Lock for the addresses in the file
	 */
	mutex_t *mutex;
};

/** Destination before the packet, which the dataplane may have at once */
static void note(private_sender_t *this, packet_t *packet)
{
	host_t *host = packet->get_destination(packet);
	struct cygnet_addr dst = kernel_cygnet_addr_from_host(host);

	this->mutex->lock(this->mutex);
	cygnet_ike_note(this->db, host->get_family(host), &dst,
					time_monotonic(NULL));
	this->mutex->unlock(this->mutex);
}

METHOD(sender_t, send_, void,
	private_sender_t *this, packet_t *packet)
{
	note(this, packet);
	this->sender->send(this->sender, packet);
}

METHOD(sender_t, send_no_marker, void,
	private_sender_t *this, packet_t *packet)
{
	note(this, packet);
	this->sender->send_no_marker(this->sender, packet);
}

METHOD(sender_t, flush, void,
	private_sender_t *this)
{
	this->sender->flush(this->sender);
}

METHOD(sender_t, destroy, void,
	private_sender_t *this)
{
	this->mutex->destroy(this->mutex);
	free(this);
}

/*
 * Described in header.
 */
bool kernel_cygnet_sender_begin(struct cygnet_db *db)
{
	private_sender_t *this;

	if (!charon->sender)
	{
		return FALSE;
	}
	INIT(this,
		.public = {
			.send = _send_,
			.send_no_marker = _send_no_marker,
			.flush = _flush,
			.destroy = _destroy,
		},
		.sender = charon->sender,
		.db = db,
		.mutex = mutex_create(MUTEX_TYPE_DEFAULT),
	);
	charon->sender = &this->public;
	cygnet_ike_notes(db);
	return TRUE;
}

/*
 * Described in header.
 */
void kernel_cygnet_sender_end(void)
{
	private_sender_t *this = (private_sender_t*)charon->sender;

	charon->sender = this->sender;
	destroy(this);
}
