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
extern bool fault_hang;	    /* nothing ever completes */
extern bool fault_error;    /* all commands have failed when their status is read */
extern int fault_after;	    /* so many commands more are taken, then none; negative: all are */
extern size_t fault_memory; /* buffers of so many bytes are refused; 0: none are */
extern unsigned int launches, wipes; /* wipes: uploads of zeros */
extern unsigned int rectangles;	     /* moved to the device or back */
extern unsigned int transfers;	     /* commands that move anything, rectangles included */
extern size_t uploaded;		     /* bytes, other than in rectangles */

extern size_t noted;		     /* bytes of a buffer that read_back() looks for, at least */

/** Read the buffer that was written last, of those, back from its device, after what is pending.
 * @param[out] size  bytes
 * @return memory to free, or NULL */
void *read_back(size_t *size);

/** Whether anything that was launched, and is to say when it ends, has not ended, whatever a fault says
 * of it. */
bool is_at_work(void);

/** A sum over all shared virtual memory that there is. */
uint64_t shared_sum(void);

/** How many pieces of memory that OpenCL gave this process, shared or mapped, hold those bytes.
 * @param but  a place in one that does not count */
unsigned int copies_of(const void *bytes, size_t len, const void *but);

#endif
