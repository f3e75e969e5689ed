/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire.h
 * A wire: the kernel's interface that a DPDK device runs on (net_af_packet, net_af_xdp, net_pcap). The kernel receives
 * every frame of it too, and would answer ARP, deliver and forward packets without asking the SPD. So its copy is
 * dropped where it arrives (ingress.h), and its IP stack is disabled on the interface by settings of
 * /proc/sys/net, which stay when cygnetd is killed, so that no plaintext leaks until the next one serves. Settings that
 * others change are set again. Where cygnetd ends by itself they are put back (wire_before.h). Control thread only.
 */
#ifndef CYGNETD_WIRE_H
#define CYGNETD_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"

/** No wire: the device runs on no interface of the kernel. */
#define WIRE_NONE CONF_MAX_DEVICES

/**
 * Isolate an interface from the kernel's IP stack, and bring it up.
 * @param wire  receives the number of the wire; unchanged after an error
 * @return 0 or -errno, logged
 */
int wire_take(const char *iface, uint8_t *wire);
/** No longer watch a wire, and no longer drop the kernel's copies. The settings stay until wires_put_back(), because it
 * may be taken again. @param wire  of wire_take(), or WIRE_NONE */
void wire_leave(uint8_t wire);
/** Put the settings of all interfaces back that have been wires, of a cygnetd of before, too, and are none now. Nothing
 * is done while another cygnetd has wires of this shared file. @return 0 or -errno, logged */
int wires_put_back(void);
/** A link exists. If an interface of that name is a wire, and was made anew, isolate it again. */
void wire_seen(const char *iface, uint32_t ifindex);
/** Whether a wire was made anew since wire_take(), so that its device carries nothing. @param wire  as of wire_leave() */
bool wire_is_anew(uint8_t wire);
/** Whether the interface of a wire has a link; true of WIRE_NONE. @param wire  as of wire_leave() */
bool wire_has_link(uint8_t wire);
/** Set settings of wires again that others have changed, and log them. Call often; it looks once a second. */
void wires_watch(void);

#endif
