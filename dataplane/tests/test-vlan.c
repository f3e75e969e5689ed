/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VLANs: which interface a tagged frame comes in by, tags of frames that leave, priorities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ip.h>

#include "host/link.h"
#include "ip/ip_sum.h"
#include "ip/priority.h"

#define HEADROOM 64u
#define ROOM	 256u
#define FRAMES	 8u

/* Interfaces: the port, and VLANs on its device. */
enum { PORT = 3, SINGLE, OTHER, STACKED };

static struct device *const device = &devices[1];
static struct {
	struct rte_mbuf m;
	uint8_t bytes[ROOM];
} frames[FRAMES];
static struct rte_mbuf *m[FRAMES];

/* A frame: MAC addresses 1, 1, ... and 2, 2, ..., words of tags, then an EtherType and what is behind it. */
static void make(unsigned int i, const uint16_t *tags, unsigned int ntags, uint8_t tos)
{
	struct rte_mbuf *frame = &frames[i].m;
	struct rte_ipv4_hdr *ip;
	uint8_t *at = frames[i].bytes + HEADROOM;

	memset(frames[i].bytes, 0, ROOM);
	memset(at, 1, RTE_ETHER_ADDR_LEN);
	memset(at + RTE_ETHER_ADDR_LEN, 2, RTE_ETHER_ADDR_LEN);
	at += 2 * RTE_ETHER_ADDR_LEN;
	for (unsigned int t = 0; t < ntags; t++, at += 2)
		*(rte_be16_t *)at = rte_cpu_to_be_16(tags[t]);
	*(rte_be16_t *)at = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip = (struct rte_ipv4_hdr *)(at + 2);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->type_of_service = tos;
	ip->total_length = RTE_BE16(28);
	ip->packet_id = rte_cpu_to_be_16((uint16_t)i);
	ip->hdr_checksum = (uint16_t)~ip_sum(ip, sizeof(*ip));
	*frame = (struct rte_mbuf){
		.buf_addr = frames[i].bytes,
		.buf_len = ROOM,
		.data_off = HEADROOM,
		.data_len = (uint16_t)(14 + 2 * ntags + 28),
		.nb_segs = 1,
		.port = 77, /* the ethdev's number */
	};
	frame->pkt_len = frame->data_len;
	m[i] = frame;
}

static struct conf_port section(uint32_t outer, uint32_t inner, uint32_t type)
{
	return (struct conf_port){.vlan = outer << CONF_VLAN_BITS | inner, .vlan_type = type};
}

static void add(unsigned int interface, uint32_t outer, uint32_t inner, uint32_t type)
{
	const struct conf_port of = section(outer, inner, type);

	interfaces[interface].tags = vlan_tags_of(&of);
	vlan_add(1, interfaces[interface].tags.ids, interface);
}

static int setup(void **state)
{
	(void)state;
	vlans_reset(1);
	device->interface = PORT;
	interfaces[PORT].tags.len = 0;
	add(SINGLE, 0, 100, CONF_VLAN_AUTO);
	add(OTHER, 0, 4094, CONF_VLAN_8021AD);
	add(STACKED, 300, 40, CONF_VLAN_AUTO);
	return 0;
}

#define MAKE(i, ...) \
	make(i, (const uint16_t[]){__VA_ARGS__}, \
	     sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t), 0)

/* Frames of an interface come together in their order. Priorities and the tag's type do not count. Unknown tags are the
 * port's. */
static void sorted(void **state)
{
	static const struct {
		unsigned int frame, interface;
	} expected[FRAMES] = {{0, SINGLE}, {3, SINGLE}, {7, SINGLE},  {1, PORT},
			      {5, PORT},   {6, PORT},	{2, STACKED}, {4, OTHER}};
	unsigned int runs = 0, interface;

	(void)state;
	MAKE(0, 0x8100, 100);
	make(1, NULL, 0, 0);
	MAKE(2, 0x88a8, 300, 0x8100, 0xe000 | 40);
	MAKE(3, 0x88a8, 0xa000 | 100);
	MAKE(4, 0x8100, 4094);
	MAKE(5, 0x8100, 40);
	MAKE(6, 0x8100, 0);
	MAKE(7, 0x8100, 100, 0x8100, 40);
	assert_false(link_sort(device, m, FRAMES, &interface));
	assert_int_equal(interface, SINGLE);
	for (unsigned int i = 0; i < FRAMES; i++) {
		assert_ptr_equal(m[i], &frames[expected[i].frame].m);
		assert_int_equal(m[i]->port, expected[i].interface);
	}
	for (unsigned int from = 0; from < FRAMES; from += link_run(m + from, FRAMES - from))
		runs++;
	assert_int_equal(runs, 4);
}

/* Too short for a tag, or for the second one. */
static void cut(void **state)
{
	unsigned int interface;

	(void)state;
	MAKE(0, 0x8100, 100);
	MAKE(1, 0x8100, 300, 0x8100, 40);
	frames[0].m.data_len = 17;
	frames[1].m.data_len = 21;
	assert_true(link_sort(device, m, 2, &interface));
	assert_int_equal(interface, PORT);
	assert_int_equal(frames[0].m.port, PORT);
	assert_int_equal(frames[1].m.port, PORT);
}

/* A tag that the device has taken out is put back. */
static void stripped(void **state)
{
	unsigned int interface;

	(void)state;
	make(0, NULL, 0, 0);
	frames[0].m.ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	frames[0].m.vlan_tci = 0x6000 | 100;
	make(1, NULL, 0, 0);
	frames[1].m.ol_flags = RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED;
	assert_false(link_sort(device, m, 2, &interface));
	assert_int_equal(frames[0].m.port, SINGLE);
	assert_int_equal(frames[0].m.ol_flags, 0);
	assert_int_equal(frames[0].m.data_len, 14 + 4 + 28);
	assert_memory_equal(rte_pktmbuf_mtod(&frames[0].m, uint8_t *),
			    "\1\1\1\1\1\1\2\2\2\2\2\2\x81\x00\x60\x64\x08\x00", 18);
	assert_int_equal(frames[1].m.port, PORT);
	assert_true(frames[1].m.ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED);
}

static void removed(void **state)
{
	unsigned int interface;

	(void)state;
	for (unsigned int i = SINGLE; i <= STACKED; i++)
		vlan_remove(1, interfaces[i].tags.ids);
	MAKE(0, 0x8100, 100);
	assert_true(link_sort(device, m, 1, &interface));
	assert_int_equal(interface, PORT);
	add(SINGLE, 0, 100, CONF_VLAN_AUTO);
	MAKE(1, 0x8100, 0, 0x8100, 0); /* as the place that is free */
	assert_false(link_sort(device, m, 2, &interface));
	assert_int_equal(frames[1].m.port, PORT);
	vlan_remove(1, interfaces[SINGLE].tags.ids);
	MAKE(0, 0x8100, 100);
	MAKE(1, 0x88a8, 300, 0x8100, 40);
	add(OTHER, 300, 40, CONF_VLAN_AUTO); /* the place of another one */
	MAKE(1, 0x88a8, 300, 0x8100, 40);
	assert_false(link_sort(device, m, 2, &interface));
	assert_int_equal(frames[0].m.port, PORT);
	assert_int_equal(frames[1].m.port, OTHER);
}

static void expect_tags(unsigned int interface, const char *bytes, unsigned int len,
			unsigned int beyond)
{
	struct rte_ether_addr to = {{1, 1, 1, 1, 1, 1}};
	struct rte_ether_addr own = {{2, 2, 2, 2, 2, 2}};
	struct link_header header;
	uint8_t before[14 + 28];

	assert_int_equal(vlan_beyond(&interfaces[interface].tags), beyond);
	interface_set_mac(&interfaces[interface], &own);
	make(0, NULL, 0, 0);
	memcpy(before, frames[0].bytes + HEADROOM, sizeof(before));
	assert_true(link_tag(&frames[0].m, interface));
	assert_int_equal(frames[0].m.data_len, 14 + len + 28);
	assert_memory_equal(rte_pktmbuf_mtod_offset(&frames[0].m, uint8_t *, 12), bytes, len);
	/* As the header that is made for a next hop. */
	link_header_make(&header, interface, MACVLAN_NONE, &to, false);
	assert_int_equal(header.len, 14 + len);
	assert_memory_equal(header.bytes, rte_pktmbuf_mtod(&frames[0].m, uint8_t *), header.len);
	link_untag(&frames[0].m, interface);
	assert_int_equal(frames[0].m.data_len, sizeof(before));
	assert_memory_equal(rte_pktmbuf_mtod(&frames[0].m, uint8_t *), before, sizeof(before));
}

static void tags(void **state)
{
	(void)state;
	expect_tags(PORT, "", 0, 0);
	expect_tags(SINGLE, "\x81\x00\x00\x64", 4, 0);
	expect_tags(OTHER, "\x88\xa8\x0f\xfe", 4, 4);
	expect_tags(STACKED, "\x88\xa8\x01\x2c\x81\x00\x00\x28", 8, 8);
}

static uint16_t word(unsigned int i, unsigned int at)
{
	return vlan_word(frames[i].bytes + HEADROOM + at);
}

/* A priority becomes the class of the DSCP, and the other way round; ECN and checksum stay right. */
static void priorities(void **state)
{
	const uint16_t tag[] = {0x8100, 0x5000 | 100}, two[] = {0x88a8, 300, 0x8100, 0x1000 | 40};
	const struct rte_ipv4_hdr *ip = (const void *)(frames[0].bytes + HEADROOM + 18);

	(void)state;
	make(0, tag, 2, 0xb8 | 1); /* DSCP 46, ECT(1); priority 2, DEI */
	make(1, two, 4, 46 << 2);
	make(2, NULL, 0, 46 << 2); /* no tag: not touched */
	priority_set(m, 3, CONF_PRIORITY_OF_DSCP);
	assert_int_equal(word(0, 14), 5 << 13 | 0x1000 | 100);
	assert_int_equal(word(1, 14), 5 << 13 | 300);
	assert_int_equal(word(1, 18), 5 << 13 | 0x1000 | 40);
	priority_set(m, 3, 3);
	assert_int_equal(word(0, 14), 3 << 13 | 0x1000 | 100);
	priority_to_dscp(m, 3);
	assert_int_equal(ip->type_of_service, 3 << 5 | 1);
	assert_int_equal(ip_sum(ip, sizeof(*ip)), 0xffff);
	assert_int_equal(frames[2].bytes[HEADROOM + 15], 46 << 2);
	*(rte_be16_t *)(frames[0].bytes + HEADROOM + 16) = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	memcpy(frames[0].bytes + HEADROOM + 18, "\x6f\xf1\x23\x45", 4);
	priority_to_dscp(m, 1);
	assert_int_equal(word(0, 18), 0x6000 | 3 << 9 | 3 << 4 | 1);
	assert_int_equal(word(0, 20), 0x2345);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	static const struct CMUnitTest tests[] = {
		TEST(sorted),  TEST(cut),  TEST(stripped),
		TEST(removed), TEST(tags), TEST(priorities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
