/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file collect.h
 * A folder of files, each with the output of a program or a copy of a file.
 */
#ifndef CYGNETCTL_COLLECT_H
#define CYGNETCTL_COLLECT_H

#include <stddef.h>

/** Make an empty folder that only this user can read. @param[out] folder  its path. @return 0 or -errno */
int collect_begin(char *folder, size_t size);
/**
 * Run a program with standard output and standard error in a file of the folder. If the program cannot be run, fails or
 * exceeds the time limit, the file gets a line that says so.
 * @param name  of the file
 * @param argv  program, searched in PATH, and its arguments; ended by NULL
 */
void collect_output(const char *folder, const char *name, const char *const *argv);
/** Copy files into a file of the folder, each with a line that names it. @param pattern  of glob(7) */
void collect_files(const char *folder, const char *name, const char *pattern);
/** Write a text into a file of the folder. */
void collect_text(const char *folder, const char *name, const char *text);
/** Pack the folder with tar and gzip. @param path  of a new file. @return 0 or -errno */
int collect_pack(const char *folder, const char *path);
/** Remove the folder. */
void collect_end(const char *folder);

#endif
