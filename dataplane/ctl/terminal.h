/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file terminal.h
 * The screen of a terminal, redrawn at intervals; a file or a pipe gets the same text without control
 * sequences. SIGINT, SIGTERM and the key q end the wait.
 */
#ifndef CYGNETCTL_TERMINAL_H
#define CYGNETCTL_TERMINAL_H

#include <stdbool.h>

/**
 * Begin. Until terminal_close() signals only end terminal_wait().
 * @param draws  whether to draw on the screen if standard output is a terminal
 * @return whether it is one, and drawn on
 */
bool terminal_open(bool draws);
/** Put the terminal back as it was. */
void terminal_close(void);
/** Show a text: cut to the screen of a terminal, or as it is and a line after it. */
void terminal_draw(const char *text);
/** Wait. @return false: the user wants to end */
bool terminal_wait(unsigned int ms);

#endif
