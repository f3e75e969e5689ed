/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "terminal.h"

static volatile sig_atomic_t ending;
static struct termios before;
static bool screen, keys;

static void end(int signal)
{
	(void)signal;
	ending = 1;
}

bool terminal_open(bool draws)
{
	struct sigaction action = {.sa_handler = end};
	struct termios raw;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	screen = draws && isatty(STDOUT_FILENO);
	keys = screen && isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
	if (keys) {
		raw = before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	if (screen)
		fputs("\033[?1049h\033[?25l", stdout); /* alternate screen, no cursor */
	return screen;
}

void terminal_close(void)
{
	if (screen) {
		fputs("\033[?25h\033[?1049l", stdout);
		fflush(stdout);
	}
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void terminal_draw(const char *text)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};

	if (!screen) {
		fputs(text, stdout);
		putchar('\n');
		fflush(stdout);
		return;
	}
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
		size = (struct winsize){.ws_row = 24, .ws_col = 80};
	fputs("\033[H", stdout);
	for (unsigned int line = 0; line < size.ws_row && *text; line++) {
		int len = (int)strcspn(text, "\n");

		/* Write no newline after the last line: the screen would scroll. */
		printf("%s%.*s\033[K", line ? "\n" : "", len < size.ws_col ? len : size.ws_col,
		       text);
		text += len + (text[len] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

bool terminal_wait(unsigned int ms)
{
	struct pollfd input = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
	uint64_t now, end = clock_read_us(CLOCK_MONOTONIC) + ms * 1000ull;
	char key;

	while (!ending && (now = clock_read_us(CLOCK_MONOTONIC)) < end) {
		int n = poll(&input, 1, (int)((end - now + 999) / 1000));

		if (n <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			input.fd = -1;
		else if (key == 'q' || key == 'Q')
			ending = 1;
	}
	return !ending;
}
