/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file starter.h
 * The process that executes another cygnetd for a takeover. cygnetd itself cannot once packets flow
 * (host/system_calls.h), and a program that it executed would inherit its filter. cygnetd forks the starter before it
 * has threads, keys or devices. The starter executes nothing but cygnetd with the arguments that it was forked
 * with, and ends with the process that forked it. All functions are for the control thread.
 */
#ifndef CYGNETD_STARTER_H
#define CYGNETD_STARTER_H

/**
 * Fork the starter. Call while there is one thread.
 * @param program  path; it and conf are copied by the fork
 * @param conf     path of the configuration, for the option -c
 * @return 0 or -errno
 */
int starter_open(const char *program, const char *conf);
/**
 * Execute the program with the options --take-over and -c. One such process at a time: starter_end() has to come
 * before the next one.
 * @param fd  what the new process gets as TAKEOVER_FD, beside standard input, output and error
 * @return its process ID or -errno; -ECONNRESET: the starter is gone
 */
int starter_start(int fd);
/**
 * Wait until the process of starter_start() has ended, and kill it if it does not.
 * @param patience_ms  how long it is waited for
 * @return its wait status or -errno; -ECONNRESET: the starter is gone
 */
int starter_end(unsigned int patience_ms);

#endif
