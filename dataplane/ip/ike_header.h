/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ike_header.h
 * The IKE header (RFC 7296, 3.1; RFC 2408, 3.1): what tells IKE from other UDP at its ports.
 */
#ifndef CYGNETD_IKE_HEADER_H
#define CYGNETD_IKE_HEADER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

/** Bytes of the header, and of the non-ESP marker in front of it (RFC 3948, 2.2). */
#define IKE_HEADER 28u
#define IKE_MARKER 4u

/** How the header is framed. */
enum ike_form {
	IKE_MARKED = 1, /* the non-ESP marker has to be in front */
	IKE_PADDED = 2, /* bytes may follow the message */
};

static inline bool ike_header_fits(const uint8_t *data, unsigned int have, unsigned int len,
				   bool padded)
{
	static const uint8_t no_spi[8];
	uint32_t message;

	/* The initiator's SPI is never zero, the version is 1.x or 2.x. */
	if (have < IKE_HEADER || len < IKE_HEADER || !memcmp(data, no_spi, sizeof(no_spi)) ||
	    (data[17] >> 4 != 1 && data[17] >> 4 != 2))
		return false;
	memcpy(&message, data + 24, sizeof(message));
	message = rte_be_to_cpu_32(message);
	return message >= IKE_HEADER && (padded ? message <= len : message == len);
}

/**
 * Whether the data of a UDP datagram is IKE, or a NAT keepalive (RFC 3948, 2.3).
 * @param data  of the datagram
 * @param have  bytes at data, len at the most: the rest is in other fragments
 * @param len   bytes of data
 * @param form  enum ike_form, ORed
 */
static inline bool ike_message_fits(const uint8_t *data, unsigned int have, unsigned int len,
				    unsigned int form)
{
	static const uint8_t marker[IKE_MARKER];
	bool padded = form & IKE_PADDED;

	if (have > len)
		return false;
	if (len == 1 && have == 1)
		return *data == 0xff;
	if (have >= IKE_MARKER && !memcmp(data, marker, IKE_MARKER) &&
	    ike_header_fits(data + IKE_MARKER, have - IKE_MARKER, len - IKE_MARKER, padded))
		return true;
	return !(form & IKE_MARKED) && ike_header_fits(data, have, len, padded);
}

#endif
