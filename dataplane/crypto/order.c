/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/order.h"

void order_append(struct rte_mbuf *m)
{
	struct session *s = packet(m)->session;

	packet(m)->next = NULL;
	packet(m)->called = packet(m)->back = 0;
	s->in_flight++;
	if (s->head)
		packet(s->tail)->next = m;
	else
		s->head = m;
	s->tail = m;
}

void order_insert(struct rte_mbuf *m)
{
	struct session *s = packet(m)->session;
	struct rte_mbuf **link = &s->head;

	while (*link && packet(*link)->called)
		link = &packet(*link)->next;
	if (!*link)
		s->tail = m;
	packet(m)->next = *link;
	packet(m)->called = 1;
	packet(m)->back = 0;
	s->in_flight++;
	*link = m;
}

static void add_ready(struct crypto_worker *c, struct rte_mbuf *m)
{
	packet(m)->next = NULL;
	if (c->ready)
		packet(c->last_ready)->next = m;
	else
		c->ready = m;
	c->last_ready = m;
}

/* A ready packet counts as in flight until crypto_ready() gives it: its session stays. */
void order_release(struct crypto_worker *c, struct rte_mbuf *m, unsigned int status)
{
	struct session *s = packet(m)->session;

	packet(m)->back = 1;
	packet(m)->status = (uint8_t)status;
	while (s->head && packet(s->head)->back) {
		m = s->head;
		s->head = packet(m)->next;
		add_ready(c, m);
	}
}

struct rte_mbuf *crypto_ready(struct crypto_worker *c)
{
	struct rte_mbuf *m = c->ready;

	if (!m)
		return NULL;
	c->ready = packet(m)->next;
	packet(m)->session->in_flight--;
	return m;
}

void crypto_wait(struct crypto_worker *c, struct rte_mbuf *m, enum rte_crypto_op_status status)
{
	order_insert(m);
	order_release(c, m, status);
}
