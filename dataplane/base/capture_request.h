/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file capture_request.h
 * What cygnetctl capture asks of cygnetd, over a Unix stream socket (SOCK_STREAM) named
 * CAPTURE_SOCKET in EAL's runtime folder. cygnetctl sends one request. cygnetd answers with a line
 * of text, CAPTURE_ACCEPTED or the reason why not; then, if it has accepted, with the capture in
 * the format pcapng, until a limit is reached or cygnetctl shuts down its side for writing. Both
 * programs are of one machine: numbers are in host byte order.
 */
#ifndef CYGNETD_CAPTURE_REQUEST_H
#define CYGNETD_CAPTURE_REQUEST_H

#include <pcap/bpf.h>
#include <stdint.h>

#define CAPTURE_SOCKET	   "cygnet_capture"
#define CAPTURE_ACCEPTED   "capturing"
#define CAPTURE_VERSION	   0x43794301u /* another number for another layout */
#define CAPTURE_FILTER_MAX 4096u       /* instructions of a filter; BPF_MAXINSNS of Linux */
#define CAPTURE_LINE_MAX   256u	       /* of the answer's line, bytes */
#define CAPTURE_BLOCK_MAX  (1u << 20)  /* of a pcapng block, bytes */

/* Where packets are captured: name in arguments and comments, explanation. */
#define CAPTURE_POINTS(X) \
	X(RX, "rx", "frames that a port received") \
	X(TX, "tx", "frames that a port is to send") \
	X(DROP, "drop", "packets that are dropped") \
	X(DECRYPTED, "decrypted", "packets that came out of an inbound SA, in plaintext") \
	X(TO_PROTECT, "to-protect", "packets that an outbound SA is to protect, in plaintext")

enum capture_point {
#define X(name, text, help) CAPTURE_##name,
	CAPTURE_POINTS(X)
#undef X
		CAPTURE_POINT_COUNT
};

struct capture_request {
	uint32_t version; /* CAPTURE_VERSION */
	uint32_t points;  /* bit mask of 1 << enum capture_point, at least one */
	uint32_t spi;	  /* network byte order; 0: any */
	uint32_t seconds; /* 0: no limit */
	uint64_t count;	  /* packets; 0: no limit */
	char port[32];	  /* name of an interface, NUL-terminated; empty: any */
	char drop[32];	  /* name of a drop reason, NUL-terminated; empty: any */
	/* Instructions of the filter, for data that begins with an Ethernet header and for data that
	 * begins with an IP header, in this order behind the request; 0: no filter. */
	uint32_t frame_insns, ip_insns;
};

#endif
