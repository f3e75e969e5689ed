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
 * Set up the terminal. Until terminal_close() signals only end terminal_wait().
 * @param draws  whether to draw on the screen if standard output is a terminal
 * @return whether terminal_draw() draws on a screen
 */
bool terminal_open(bool draws);
/** Restore the terminal. */
void terminal_close(void);
/** Show a text: cut to the size of the screen, or whole with a newline after it. */
void terminal_draw(const char *text);
/** Wait. @return false: the user wants to end */
bool terminal_wait(unsigned int ms);

#endif
