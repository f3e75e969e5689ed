/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file drop.h
 * The reasons for dropping a packet. One list defines the enum, the counters, and the texts of
 * `cygnetctl show drops`.
 */
#ifndef CYGNETD_DROP_H
#define CYGNETD_DROP_H

#define DROP_REASONS(X) \
	X(MALFORMED, "malformed", "truncated IP packet, or an inconsistent IP header") \
	X(NOT_OURS, "not-ours", "a frame for another MAC address") \
	X(FORGED_SOURCE, "forged-source", \
	  "a frame from the wire whose source is 02:43:59:47:4e:54, by which the kernel tells decrypted packets") \
	X(VLAN_TAG, "vlan-tag", "a frame with a VLAN tag, which policies do not apply to") \
	X(ETHERTYPE, "ethertype", \
	  "a frame of a protocol that the gateway does not pass to the kernel") \
	X(IPV6_HEADERS, "ipv6-headers", \
	  "IPv6 extension headers are truncated, too many, or in a wrong order") \
	X(FORWARDING, "forwarding", \
	  "forwarding is off: net.ipv4.conf.TAP.forwarding, or net.ipv6.conf.all.forwarding") \
	X(MARTIAN, "martian", \
	  "a packet to be forwarded has a local source address, or a source or destination that is invalid on the wire, such as 127.0.0.1") \
	X(TTL, "ttl", "the TTL or hop limit expired") \
	X(NO_ROUTE, "no-route", "no route to the destination, or a blackhole") \
	X(ROUTE_UNUSABLE, "route-unusable", \
	  "a protected packet whose route cygnetd cannot take: through an interface that is not a port, with an encapsulation, by an object it does not know, or to this host") \
	X(NO_NEIGHBOUR, "no-neighbour", "the next hop's MAC address is not known (yet)") \
	X(TOO_BIG, "too-big", \
	  "larger than the MTU of the outgoing interface or the SA's path, and DF is set") \
	X(FRAGMENT, "fragment", \
	  "a fragment, or a packet without visible ports or protocol, which policies need") \
	X(REASSEMBLY, "reassembly", \
	  "a duplicate or conflicting fragment, or a fragment whose packet timed out, was evicted, or has too many fragments") \
	X(POLICY_PLAINTEXT, "policy-plaintext", \
	  "received in plaintext, but a policy requires protection") \
	X(POLICY_DISCARD, "policy-discard", "a policy requires discarding") \
	X(POLICY_HELD, "policy-held", \
	  "a policy of an earlier charon, or of the last boot, is held until charon has installed its own") \
	X(NO_POLICY, "no-policy", \
	  "no policy matches the packet, and cygnetd.conf(5) has no_policy = drop") \
	X(POLICY_INBOUND, "policy-inbound", \
	  "decrypted, but its SA's inbound policy does not allow it") \
	X(HAIRPIN, "hairpin", \
	  "decrypted, and would leave in plaintext through the port it was received on, which neither a policy nor hairpin in cygnetd.conf(5) allows") \
	X(OUTSIDE, "outside", \
	  "no policy matches, and the packet would leave in plaintext by an outside interface, which neither no_policy, hairpin nor side in cygnetd.conf(5) allows") \
	X(TUNNEL_POLICY, "tunnel-policy", \
	  "routed to a tunnel interface, and no policy with its if_id protects the packet") \
	X(TUNNEL_LOOP, "tunnel-loop", \
	  "a protected packet or IKE of this host, and the route to the peer leads to a tunnel interface") \
	X(TUNNEL_AGAIN, "tunnel-again", \
	  "the TTL or hop limit expired of a packet that a policy sends back to the peer that it came from") \
	X(TUNNEL_LINK, "tunnel-link", \
	  "ARP, ND or other link control of the kernel by a tunnel, which has no link") \
	X(TUNNEL_MISSING, "tunnel-missing", \
	  "decrypted by an SA with an if_id that no [tunnel NAME] in cygnetd.conf(5) has") \
	X(ICMP_UNPROTECTED, "icmp-unprotected", \
	  "an ICMP error about a decrypted packet would leave in plaintext, because no policy protects it") \
	X(TRANSPORT, "transport", \
	  "a policy requires transport mode, but the packet is a fragment, or not between the SA's two hosts") \
	X(NO_SA, "no-sa", \
	  "a policy requires protection, there is no SA yet, and too many packets of the same pair of addresses, or in all, wait for one") \
	X(NO_SA_IN_TIME, "no-sa-in-time", \
	  "a policy requires protection, and no SA was installed while the packet waited for it") \
	X(POLICY_GONE, "policy-gone", \
	  "a policy that required protection was removed while the packet waited for an SA") \
	X(BAD_SPI, "bad-spi", "ESP or AH for an SPI that is not in the SAD") \
	X(ESP_TRUNCATED, "esp-truncated", \
	  "ESP is too short, or its ciphertext is not a multiple of the block size") \
	X(ESP_ENCAP, "esp-encap", \
	  "ESP in UDP for an SA without UDP encapsulation, or ESP not in UDP for an SA with it") \
	X(AH_TRUNCATED, "ah-truncated", "the packet ends within AH") \
	X(AH_LENGTH, "ah-length", "the length of AH does not match its SA's ICV") \
	X(AH_HEADERS, "ah-headers", \
	  "AH follows truncated options, an unfinished source route, a fragment header, or too many bytes of headers") \
	X(AH_NEXT, "ah-next-header", \
	  "authentic AH in tunnel mode, but its payload is not an IP packet") \
	X(REPLAY, "replay", "sequence number seen before, or too old for the replay window") \
	X(AUTH_FAILED, "auth-failed", "the ICV is wrong") \
	X(ESP_PADDING, "esp-padding", "padding or next header is wrong after decryption") \
	X(ECN, "ecn", \
	  "the outer header has ECN CE, but the inner packet is not ECN-capable (RFC 6040)") \
	X(SEQ_EXHAUSTED, "seq-exhausted", "the SA's sequence numbers are used up") \
	X(SA_EXPIRED, "sa-expired", "the SA's hard limit of bytes, packets or time is reached") \
	X(SA_GONE, "sa-gone", "the SA was deleted while the packet was in flight") \
	X(UNSUPPORTED, "unsupported", "no engine supports the SA's algorithms") \
	X(NO_SESSION, "no-session", \
	  "no crypto session: all sessions have packets in flight, or no engine could create one") \
	X(NO_BUFFER, "no-buffer", "out of packet buffers or crypto operations") \
	X(ENGINE_FULL, "engine-full", "the crypto device's queue is full") \
	X(ENGINE_FAILED, "engine-failed", "the crypto device reported an error") \
	X(HANDOFF_FULL, "handoff-full", \
	  "the ring to the lcore that owns the SA is full, or too many packets wait while the SA moves to it") \
	X(TX_FULL, "tx-full", "the transmit queue is full") \
	X(POLICED_PEER, "policed-peer", "IKE of a peer, beyond police_peer in cygnetd.conf(5)") \
	X(POLICED_IKE, "policed-ike", \
	  "IKE of an address that is no peer's, beyond police_ike in cygnetd.conf(5)") \
	X(POLICED_ARP, "policed-arp", \
	  "ARP, ND or link control, beyond police_arp in cygnetd.conf(5)") \
	X(POLICED_ICMP, "policed-icmp", \
	  "ICMP to this host, beyond police_icmp in cygnetd.conf(5)") \
	X(POLICED_OTHER, "policed-other", \
	  "other plaintext to the kernel, beyond police_other in cygnetd.conf(5)") \
	X(POLICED_FRAGMENTS, "policed-fragments", \
	  "a fragment to this host of an address that is no peer's, beyond police_fragments in cygnetd.conf(5)") \
	X(POLICED_SA, "policed-sa", \
	  "a decrypted packet to the kernel, beyond police_sa in cygnetd.conf(5)") \
	X(PORT_REMOVED, "port-removed", "the port to leave by was removed by a reload") \
	X(TAP_FULL, "tap-full", "the kernel does not read packets from the TAP fast enough") \
	X(TAP_DOWN, "tap-down", "for the kernel, or out of a tunnel, but its TAP is down")

enum drop_reason {
	DROP_DUMMY = -2, /* a dummy packet (RFC 4303, 2.6), discarded without counting a drop */
	DROP_NONE = -1,	 /* not dropped */
#define X(name, text, help) DROP_##name,
	DROP_REASONS(X)
#undef X
		DROP_REASON_COUNT
};

extern const char *const drop_name[DROP_REASON_COUNT];
extern const char *const drop_help[DROP_REASON_COUNT];

#endif
