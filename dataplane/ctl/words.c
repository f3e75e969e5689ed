/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <string.h>

#include "words.h"

#define LONGEST	  32u
#define FAR	  1000u
#define DIFFERENT 2u

bool words_have(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (!strcmp(*list, word))
			return true;
	return false;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Number of differences: the optimal string alignment distance. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[LONGEST + 1][LONGEST + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > LONGEST || lb > LONGEST)
		return FAR;
	for (size_t i = 0; i <= la; i++) {
		for (size_t j = 0; j <= lb; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned int)(i + j);
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[la][lb];
}

const char *words_nearest(const char *const *list, const char *word)
{
	unsigned int best = DIFFERENT + 1;
	const char *nearest = NULL;

	for (; *list; list++) {
		unsigned int d = distance(*list, word);

		if (d < best && d < strlen(*list) && d < strlen(word)) {
			best = d;
			nearest = *list;
		}
	}
	return nearest;
}
