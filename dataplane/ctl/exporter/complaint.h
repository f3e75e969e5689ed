/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file complaint.h
 * Messages about a program that does not answer: one, however often it is asked, and one when it answers again.
 */
#ifndef CYGNET_EXPORTER_COMPLAINT_H
#define CYGNET_EXPORTER_COMPLAINT_H

/** Of one program. All zero: it has answered so far. */
struct complaint {
	char error[512]; /* what has been said; "": it has answered */
};

/**
 * Tell standard error what is new.
 * @param who    "charon"
 * @param error  why there is no answer; NULL: there is one
 */
void complain(struct complaint *complaint, const char *who, const char *error);

#endif
