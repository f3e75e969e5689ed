/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file words.h
 * Words of the command line, and the one that a mistyped word is nearest to.
 */
#ifndef CYGNETCTL_WORDS_H
#define CYGNETCTL_WORDS_H

#include <stdbool.h>

/** Words in a list, most. */
#define WORDS_MAX 64

/** Whether a list has a word. @param list  ended by NULL */
bool words_have(const char *const *list, const char *word);
/**
 * The word that differs least from a mistyped one: a letter that is missing, too many, wrong, or has changed places
 * with the next one is a difference; up to two of them, and fewer than a word has letters.
 * @param list  ended by NULL
 * @return NULL: none is near
 */
const char *words_nearest(const char *const *list, const char *word);

#endif
