/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where charon sends IKE: noted before its own sender has the packet.
 */

#include "charon.h"
#include "../kernel_cygnet_addr.h"
#include "../kernel_cygnet_db.h"
#include "../kernel_cygnet_sender.h"

#include <daemon.h>

/** Packets that charon's own sender has got, with and without marker */
static int sent, sent_no_marker;

static bool noted_host(host_t *host)
{
	struct cygnet_addr addr = kernel_cygnet_addr_from_host(host);

	return cygnet_ike_noted(kernel_cygnet_db_get(), host->get_family(host),
							&addr, time_monotonic(NULL));
}

static bool noted(char *address)
{
	host_t *host = host_create_from_string(address, 500);
	bool result = noted_host(host);

	host->destroy(host);
	return result;
}

static void take(packet_t *packet, int *counter)
{
	assert_true(noted_host(packet->get_destination(packet)));
	(*counter)++;
	packet->destroy(packet);
}

static void own_send(sender_t *this, packet_t *packet)
{
	take(packet, &sent);
}

static void own_send_no_marker(sender_t *this, packet_t *packet)
{
	take(packet, &sent_no_marker);
}

static packet_t *packet_to(char *address)
{
	return packet_create_from_data(host_create_from_string("192.0.2.1", 500),
								   host_create_from_string(address, 500),
								   chunk_clone(chunk_from_str("IKE")));
}

static void test_notes(void **state)
{
	sender_t own = {
		.send = own_send,
		.send_no_marker = own_send_no_marker,
	}, *before = charon->sender;

	charon->sender = NULL;
	assert_false(kernel_cygnet_sender_begin(kernel_cygnet_db_get()));
	charon->sender = &own;
	/* until then it may send anywhere */
	assert_true(noted("192.0.2.7"));
	assert_true(kernel_cygnet_sender_begin(kernel_cygnet_db_get()));
	assert_false(noted("192.0.2.7"));
	charon->sender->send(charon->sender, packet_to("192.0.2.7"));
	charon->sender->send_no_marker(charon->sender, packet_to("2001:db8::7"));
	assert_int_equal(sent, 1);
	assert_int_equal(sent_no_marker, 1);
	assert_true(noted("192.0.2.7"));
	assert_false(noted("192.0.2.8"));
	assert_false(noted("2001:db8::8"));
	kernel_cygnet_sender_end();
	assert_ptr_equal(charon->sender, &own);
	charon->sender = before;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_notes),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}
