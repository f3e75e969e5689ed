/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file capture.h
 * The thread of cygnetd that serves cygnetctl capture: accepts requests
 * (base/capture_request.h) of root, one at a time, and sends what the workers copy
 * (path/worker/capture.h). A client that does not read delays this thread only.
 */
#ifndef CYGNETD_CAPTURE_H
#define CYGNETD_CAPTURE_H

/** Open the socket and start the thread. After workers_init(), before workers run.
 * @return 0 or -errno, logged */
int capture_start(void);
/** End a capture that runs, and the thread. After the workers have ended, before
 * interfaces_stop(). */
void capture_stop(void);

#endif
