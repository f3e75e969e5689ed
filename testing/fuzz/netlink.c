/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink messages of the kernel. In the first form the input is a datagram; in the second it is the content of
 * messages with valid headers.
 */
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "eal_fixture.h"
#include "host/interface.h"
#include "host/neigh.h"
#include "host/netlink.h"
#include "host/netlink_receive.h"
#include "host/route.h"
#include "input.h"

#define MOST 1024u

FUZZ_WITH_EAL

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	interfaces[0] = (struct interface){.name = "wan", .tap.ifindex = 10, .mtu = 1500};
	interfaces[1] = (struct interface){.name = "lan", .tap.ifindex = 11, .mtu = 1500};
	ninterfaces = 2;
	if (start_eal((*argv)[0]) || routes_init(1, 64) || neighs_init())
		abort();
	return 0;
}

/* A buffer of exactly this length, so that ASan detects reads beyond it. */
static void deliver(const void *datagram, size_t len)
{
	void *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, datagram, len);
	if (netlink_lengths_fit(copy, len))
		mnl_cb_run(copy, len, 0, 0, netlink_message, NULL);
	free(copy);
}

static void message(struct input *in)
{
	static const uint16_t types[] = {
		RTM_NEWROUTE, RTM_DELROUTE,   RTM_NEWNEIGH, RTM_DELNEIGH, RTM_NEWADDR,
		RTM_DELADDR,  RTM_NEWNETCONF, RTM_NEWLINK,  RTM_DELLINK,
	};
	_Alignas(struct nlmsghdr) uint8_t buffer[MOST];
	struct nlmsghdr *nlh = (struct nlmsghdr *)buffer;
	uint8_t flags = input_byte(in);
	size_t len = NLMSG_HDRLEN + input_byte(in);

	*nlh = (struct nlmsghdr){
		.nlmsg_type = types[flags % RTE_DIM(types)],
		.nlmsg_flags = flags & 0x80 ? NLM_F_REPLACE : 0,
	};
	memset(buffer + NLMSG_HDRLEN, 0, len - NLMSG_HDRLEN);
	input_bytes(in, buffer + NLMSG_HDRLEN, len - NLMSG_HDRLEN);
	nlh->nlmsg_len = (uint32_t)len;
	/* Without attributes: MTU and MAC address of a link would be set on the device. */
	if (nlh->nlmsg_type == RTM_NEWLINK)
		nlh->nlmsg_len = RTE_MIN(nlh->nlmsg_len,
					 (uint32_t)NLMSG_LENGTH(sizeof(struct ifinfomsg)));
	deliver(buffer, nlh->nlmsg_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	if (input_byte(&in) & 1)
		deliver(in.next, in.left);
	else
		while (in.left)
			message(&in);
	/* Remove routes for the next input; neighbours stay, because a sweep of their table is slow. */
	routes_mark();
	routes_sweep();
	routes_commit();
	return 0;
}
