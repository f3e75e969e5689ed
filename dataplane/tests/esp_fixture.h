/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_fixture.h
 * Fixture of the ESP tests: DPDK, all crypto devices of the CPU, an SAD in a temporary folder, and
 * packets in buffers of exactly the given size, so that AddressSanitizer finds an access to the
 * first byte beyond.
 */
#ifndef ESP_FIXTURE_H
#define ESP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rte_mbuf.h>

#include "crypto/device/engine.h"
#include "crypto/device/sessions.h"
#include "cygnet.h"
#include "esp/esp.h"
#include "esp/session.h"
#include "esp_peer.h"
#include "ip/packet.h"

#define ESP_SPI	    0xc1234567u
#define ESP_INBOUND 1u
#define ESP_ESN	    2u
#define ESP_ENCAP   4u
/** Ports of UDP encapsulation, host byte order. */
#define ESP_SPORT 4500
#define ESP_DPORT 30000

/** Group setup and teardown for cmocka. */
int esp_fixture_start(void **state);
int esp_fixture_stop(void **state);
/** After each test: delete the SA, so that the next test does not find the SA of a failed test. */
int esp_fixture_clean(void **state);
#define ESP_TEST(name) cmocka_unit_test_teardown(name, esp_fixture_clean)
/** DPDK itself, once in main(). @return 0 or -1 */
int esp_fixture_eal(const char *program);

/** The crypto devices: ours by ipsec_mb, aesni_gcm, aesni_mb, openssl or what of them is here. */
extern unsigned int esp_devices;
/** The device that serves an SA after the given one fails. */
unsigned int esp_device_after(unsigned int device, const struct cygnet_sa *sa);
/** SAs that the SAD has room for. To be set before esp_fixture_start(). */
extern unsigned int esp_sas;
/** Number of crypto cores that devices have queue pairs for. To be set before
 * esp_fixture_start(). */
extern unsigned int esp_crypto_cores;
/** Mempools for the worker of a test. */
extern struct session_table *esp_sessions;
extern struct rte_mempool *esp_packets, *esp_ops;

struct worker;
/** A worker as it is when it starts, the only one, with the pools above. */
void esp_worker(struct worker *w);
/** Wait until all packets at devices are completed. */
void esp_worker_finish(struct worker *w);

/** An SA between our side and the peer's. */
struct esp_sa {
	struct cygnet_sa *sa;
	struct session *session;
	struct esp_peer peer;
	unsigned int options;
};

/** The parameters that an SA is installed with; a test may change them. */
struct cygnet_sa_params esp_params(const struct esp_peer *peer, unsigned int options);
/**
 * Install an SA, served by the device of that number.
 * @return false if the device does not have the algorithm; nothing is installed then
 */
bool esp_sa_add(struct esp_sa *e, const struct esp_algorithm *algorithm, unsigned int options,
		unsigned int device);
bool esp_sa_add_params(struct esp_sa *e, const struct cygnet_sa_params *params,
		       unsigned int device);
void esp_sa_delete(struct esp_sa *e);
/** The address that esp_sa_move() moves the SA to. */
extern const struct cygnet_addr esp_moved_src, esp_moved_dst;
/** Move the SA to an IPv6 or IPv4 address (MOBIKE). It stays the same SA. */
void esp_sa_move(const struct esp_sa *e, bool v6);
/** Install an SA on the first device that supports its algorithms. */
void esp_sa_any(struct esp_sa *e, const struct esp_algorithm *algorithm, unsigned int options);
void esp_sa_any_params(struct esp_sa *e, const struct cygnet_sa_params *params);

/** Call check for every algorithm on every device that has it, with every
 * combination of ESP_ESN and ESP_ENCAP, in the direction given. Each algorithm
 * is served at least once, or the test fails. */
void esp_each(unsigned int direction, void (*check)(struct esp_sa *e));

/** A packet; NULL data: zeros. */
struct rte_mbuf *esp_packet(const uint8_t *data, unsigned int len, unsigned int headroom,
			    unsigned int tailroom);
/** A received packet from the peer, with the headers of the SA's path. */
struct rte_mbuf *esp_from_peer(const struct esp_sa *e, uint64_t seq, const uint8_t *text,
			       unsigned int len);
/** The same as plain bytes. @return length */
unsigned int esp_wire(const struct esp_sa *e, uint8_t outer_tos, uint64_t seq, const uint8_t *text,
		      unsigned int len, uint8_t *wire);
/** A small packet from the peer as protect() expects it. @param next  its next header */
struct rte_mbuf *esp_sealed(const struct esp_sa *e, uint64_t seq, uint8_t next);
/** An inner packet of len bytes, 400 at most, that leaves through the SA, as protect() expects
 * it. */
struct rte_mbuf *esp_plain(const struct cygnet_sa *sa, unsigned int len);
/** Set the fields that receive.c would. wire has at least the ESP header. */
struct rte_mbuf *esp_receive(const struct esp_sa *e, const uint8_t *wire, unsigned int len);
/** Offset of the ESP header, bytes. */
unsigned int esp_offset(const struct esp_sa *e);
/** Bytes of the high half of the sequence number behind the packet while it is at the device. */
unsigned int esp_hidden(const struct esp_sa *e);

/** Out through the device. @return DROP_NONE or a drop reason */
enum drop_reason esp_protect(const struct esp_sa *e, struct rte_mbuf *m, uint64_t seq);
/** In through the device. @return DROP_NONE, DROP_DUMMY or a drop reason */
enum drop_reason esp_unprotect(const struct esp_sa *e, struct rte_mbuf *m);
/** Only the part before the device. @return DROP_NONE or a drop reason */
enum drop_reason esp_prepare(const struct esp_sa *e, struct rte_mbuf *m, uint64_t seq);

#endif
