/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file telemetry.h
 * What cygnetctl asks for, as commands of DPDK's telemetry socket.
 */
#ifndef CYGNETD_TELEMETRY_H
#define CYGNETD_TELEMETRY_H

/** Register the commands under /cygnet/. After ports, engines and routes.
 * @return 0 or -errno */
int telemetry_start(unsigned int workers);
/** Answer nothing any more, so that what the commands read may go. Waits for the answer that is
 * being given. */
void telemetry_stop(void);

#endif
