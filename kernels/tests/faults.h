/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file faults.h
 * Between the driver and the real OpenCL: this program's own definitions of a
 * few entry points, which call the real ones unless a test sets a fault.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool fault_launch;   /* launches are refused */
extern bool fault_hang;	    /* no command ever completes */
extern bool fault_error;    /* all commands have failed when their status is read */
extern int fault_after;	    /* number of further commands that are accepted; negative: no limit */
extern size_t fault_memory; /* buffers of this many bytes are refused; 0: no limit */
extern unsigned int launches, wipes; /* wipes: uploads of zeros */
extern unsigned int rectangles;	     /* rectangles copied to the device or back */
extern unsigned int transfers;	     /* all copy commands, with rectangles */
extern size_t uploaded;		     /* bytes uploaded, without rectangles */

extern size_t noted; /* minimum size of buffers that read_back() considers, bytes */

/** Read the last buffer of that size that was written back from its device, after pending
 * commands. @param[out] size  bytes @return memory to free, or NULL */
void *read_back(size_t *size);

/** Whether a launch with a completion callback has not ended, whatever a fault says about it. */
bool is_at_work(void);

/** A sum over all shared virtual memory. */
uint64_t shared_sum(void);

/** Count the blocks of memory of OpenCL in this process, shared or mapped, that contain these
 * bytes. @param but  address in a block that is not counted */
unsigned int copies_of(const void *bytes, size_t len, const void *but);

#endif
