/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ports.h
 * Ports that come and go while workers run. Control thread only, under control_lock().
 */
#ifndef CYGNETD_PORTS_H
#define CYGNETD_PORTS_H

#include "conf/conf.h"

/**
 * Add a port, with packet buffers of its own: those of the start are for the ports of the start. Only a virtual
 * device can be added, because EAL probes PCI devices at the start.
 * @param conf  the configuration that has the port
 * @return 0 or -errno, logged
 */
int port_add(const struct conf *conf, const struct conf_port *port, unsigned int workers);
/** Remove a port. @param where  of its section, for the log. @return 0 or -errno, logged */
int port_remove(const struct conf_port *port, const char *where);
/**
 * Give ports of net_af_packet new devices whose interfaces were removed and made anew. Their TAPs stay. Call often;
 * it looks once a second.
 * @param conf  the ports that there are
 */
void ports_watch(const struct conf *conf);

#endif
