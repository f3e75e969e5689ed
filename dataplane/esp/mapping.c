/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "esp/mapping.h"

/* Port 0: a peer with SAs per CPU (RFC 9611) may send from any port, and charon learns its address by IKE alone. */
static bool is_at(const struct cygnet_path *path, const struct cygnet_addr *addr, uint16_t port)
{
	if (path->encap && !path->sport)
		return true;
	return path->sport == port && !memcmp(&path->src, addr, sizeof(*addr));
}

/* @return false: the event queue is full */
static bool post(const struct cygnet_sa *sa, const struct cygnet_addr *addr, uint16_t port)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);

	return event_raise(&(struct cygnet_event){
		.type = CYGNET_EVENT_MAPPING,
		.reqid = sa->reqid,
		.id = {sa->spi, sa->proto, path->af, path->dst},
		.new_addr = *addr,
		.new_port = port,
	});
}

void mapping_note(const struct cygnet_sa *sa, struct session *s, const struct packet *p)
{
	if (!p->udp || s->mapping_told == clock_seconds())
		return;
	if (is_at(cygnet_sa_path(sa), &p->src, p->sport)) {
		s->moved = false;
		return;
	}
	s->moved = !post(sa, &p->src, p->sport);
	if (s->moved) {
		s->moved_addr = p->src;
		s->moved_port = p->sport;
	} else {
		s->mapping_told = clock_seconds();
	}
}

void mapping_tell_again(const struct cygnet_sa *sa, struct session *s)
{
	/* Charon may have learned the new address from IKE meanwhile. */
	s->moved = !is_at(cygnet_sa_path(sa), &s->moved_addr, s->moved_port) &&
		   !post(sa, &s->moved_addr, s->moved_port);
}
