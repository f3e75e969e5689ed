/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file drop.h
 * Every reason to drop a packet: one list makes the enum, the counter and the
 * words that `cygnetctl show drops` prints.
 */
#ifndef CYGNETD_DROP_H
#define CYGNETD_DROP_H

#define DROP_REASONS(X) \
	X(MALFORMED, "malformed", "not a whole IP packet, or its header is inconsistent") \
	X(NOT_OURS, "not-ours", "a frame for another MAC address") \
	X(VLAN_TAG, "vlan-tag", "a frame with a VLAN tag: no policy would see what is in it") \
	X(ETHERTYPE, "ethertype", "a frame of a protocol that the gateway does not pass to the kernel") \
	X(IPV6_HEADERS, "ipv6-headers", "IPv6 extension headers that are cut off, too many, or where they may not be") \
	X(FORWARDING, "forwarding", "forwarding is off: net.ipv4.conf.TAP.forwarding, or net.ipv6.conf.all.forwarding") \
	X(MARTIAN, "martian", "to be forwarded, but from one of our own addresses, or from or to one that is never on a wire, such as 127.0.0.1") \
	X(TTL, "ttl", "the TTL ran out on the way through") \
	X(NO_ROUTE, "no-route", "no route to the destination, or a blackhole") \
	X(NO_NEIGHBOUR, "no-neighbour", "the next hop's MAC address is not known (yet)") \
	X(TOO_BIG, "too-big", "larger than the MTU of the way out, and DF is set") \
	X(FRAGMENT, "fragment", "a fragment, or a packet that does not show its ports or its protocol, where policies ask for them") \
	X(REASSEMBLY, "reassembly", "a fragment that came twice, or whose packet did not become whole in time, had to make room for others, has too many parts, or parts that contradict each other") \
	X(POLICY_PLAINTEXT, "policy-plaintext", "arrived in plaintext, policy says protect") \
	X(POLICY_DISCARD, "policy-discard", "a policy says discard") \
	X(NO_POLICY, "no-policy", "no policy matches the packet, and no_policy in cygnetd.conf(5) says drop") \
	X(POLICY_INBOUND, "policy-inbound", "decrypted, but not what its SA's policy allows") \
	X(HAIRPIN, "hairpin", "decrypted, and would leave in plaintext by the port that it came in by, which neither a policy nor hairpin in cygnetd.conf(5) allows") \
	X(ICMP_UNPROTECTED, "icmp-unprotected", "our ICMP error about a decrypted packet: it would leave in plaintext, as no policy protects it") \
	X(TRANSPORT, "transport", "policy says transport mode, but the packet is a fragment, or not between the SA's two hosts") \
	X(NO_SA, "no-sa", "policy says protect, but there is no SA yet, and more packets wait for one than are kept") \
	X(NO_SA_IN_TIME, "no-sa-in-time", "policy says protect, and no SA came while the packet waited for it") \
	X(POLICY_GONE, "policy-gone", "policy said protect, and was removed while the packet waited for an SA") \
	X(BAD_SPI, "bad-spi", "ESP or AH for an SPI that is not in the SAD") \
	X(ESP_TRUNCATED, "esp-truncated", "ESP too short, or not a multiple of the block size") \
	X(ESP_ENCAP, "esp-encap", "ESP in UDP for an SA without UDP encapsulation, or ESP not in UDP for an SA with it") \
	X(AH_TRUNCATED, "ah-truncated", "the packet ends before its AH does") \
	X(AH_LENGTH, "ah-length", "AH is not as long as its SA's ICV makes it") \
	X(AH_HEADERS, "ah-headers", "AH behind options that are cut off, a source route that has not ended, a fragment header, or more headers than there is room for") \
	X(AH_NEXT, "ah-next-header", "authentic AH in tunnel mode, but what follows is not an IP packet") \
	X(REPLAY, "replay", "sequence number seen before, or too old for the replay window") \
	X(AUTH_FAILED, "auth-failed", "the ICV is wrong") \
	X(ESP_PADDING, "esp-padding", "padding or next header is wrong after decryption") \
	X(ECN, "ecn", "the outer header says congestion, but the inner packet is of a flow without ECN (RFC 6040)") \
	X(SEQ_EXHAUSTED, "seq-exhausted", "the SA's sequence numbers are used up") \
	X(SA_EXPIRED, "sa-expired", "the SA's hard limit of bytes, packets or time is reached") \
	X(SA_GONE, "sa-gone", "the SA was deleted while the packet was in flight") \
	X(UNSUPPORTED, "unsupported", "the SA asks for what no engine here offers") \
	X(NO_SESSION, "no-session", "no crypto session: all have packets in flight, or no engine could set one up") \
	X(NO_BUFFER, "no-buffer", "out of packet buffers or crypto operations") \
	X(ENGINE_FULL, "engine-full", "the crypto device's queue is full") \
	X(ENGINE_FAILED, "engine-failed", "the crypto device reported an error") \
	X(HANDOVER_FULL, "handover-full", "the ring to the lcore that owns the SA is full") \
	X(TX_FULL, "tx-full", "the transmit queue is full") \
	X(TAP_FULL, "tap-full", "the kernel does not take packets from the TAP fast enough")

enum drop_reason {
	DROP_DUMMY = -2, /* discarded without a word: a dummy packet (RFC 4303, 2.6) */
	DROP_NONE = -1,	 /* not dropped */
#define X(name, text, help) DROP_##name,
	DROP_REASONS(X)
#undef X
	DROP_REASON_COUNT
};

extern const char *const drop_name[DROP_REASON_COUNT];
extern const char *const drop_help[DROP_REASON_COUNT];

#endif
