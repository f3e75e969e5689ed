/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ingress.h
 * Drops what the kernel receives on an interface, before its IP stack: a chain of nf_tables at the ingress hook
 * of the interface. The hook is behind the sockets of net_af_packet and net_pcap and behind XDP, so that only the
 * kernel's copy of a frame is dropped. The chains are in a table that belongs to a socket of this process
 * (NFT_TABLE_F_OWNER, Linux 5.12): no other process can change or flush it, and it goes with the
 * process. Control thread only.
 */
#ifndef CYGNETD_INGRESS_H
#define CYGNETD_INGRESS_H

#include <stdint.h>

/** Drop all that arrives on an interface from now on. @return 0 or -errno */
int ingress_close(const char *iface, uint32_t ifindex);
/** Remove the chain of ingress_close(). The kernel has removed it already if the interface is gone. */
void ingress_open(const char *iface, uint32_t ifindex);

#endif
