/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file state_file.h
 * Files of text that cygnetd keeps from one start to the next. The last line is "end CRC": the CRC-32 of
 * Ethernet over all preceding lines, as 8 hexadecimal digits. A file is replaced as a whole.
 */
#ifndef CYGNETD_STATE_FILE_H
#define CYGNETD_STATE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/**
 * Read a file. Any thread.
 * @param most      bytes that it may have
 * @param[out] err  -EINVAL (its folder is not of this user or root, or others may write in it; not a regular
 *		    file, or one that others than its owner may change; too long, with a NUL, or the last line is
 *		    wrong), or another -errno
 * @return          its text without the last line, for free(); NULL: see err
 */
char *state_file_read(const char *path, size_t most, int *err);
/**
 * Replace a file atomically, and wait until it is on the disk. Any thread, but one at a time for a path.
 * @param text  lines, without the last one; no NUL
 * @param len   of text, bytes
 * @return 0 or -errno; then the file is what it was
 */
int state_file_write(const char *path, const char *text, size_t len, mode_t mode);

#endif
