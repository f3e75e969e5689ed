/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of a batch: all transitions that the table has are made, all others are refused. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "state.h"

static const struct transition {
	enum ocl_state from, to;
} legal[] = {
	{OCL_EMPTY, OCL_FILLING},   {OCL_FILLING, OCL_EMPTY},	 {OCL_FILLING, OCL_CLOSED},
	{OCL_CLOSED, OCL_LAUNCHED}, {OCL_CLOSED, OCL_DONE},	 {OCL_CLOSED, OCL_LOST},
	{OCL_CLOSED, OCL_UNSENT},   {OCL_LAUNCHED, OCL_OVERDUE}, {OCL_LAUNCHED, OCL_DONE},
	{OCL_LAUNCHED, OCL_LOST},   {OCL_LAUNCHED, OCL_UNSENT},	 {OCL_OVERDUE, OCL_DONE},
	{OCL_OVERDUE, OCL_LOST},    {OCL_OVERDUE, OCL_UNSENT},	 {OCL_DONE, OCL_EMPTY},
	{OCL_LOST, OCL_EMPTY},	    {OCL_UNSENT, OCL_EMPTY},
};

#define LEGAL (sizeof(legal) / sizeof(legal[0]))

static bool is_legal(enum ocl_state from, enum ocl_state to)
{
	for (size_t i = 0; i < LEGAL; i++) {
		if (legal[i].from == from && legal[i].to == to)
			return true;
	}
	return false;
}

static void all_pairs(void **state)
{
	(void)state;
	for (enum ocl_state from = 0; from < OCL_STATES; from++) {
		for (enum ocl_state to = 0; to < OCL_STATES; to++)
			assert_int_equal(ocl_state_allows(from, to), is_legal(from, to));
	}
}

/* From EMPTY along a path that ends with the transition, by transitions that come before it in the list. */
static void walk(enum ocl_state *state, size_t last)
{
	for (size_t i = 0; i < last && *state != legal[last].from; i++) {
		if (legal[i].from == *state && legal[i].to != OCL_EMPTY &&
		    legal[i].to <= legal[last].from &&
		    (legal[i].to == legal[last].from || !ocl_state_is_final(legal[i].to)))
			assert_true(ocl_state_move(state, legal[i].to));
	}
	assert_int_equal(*state, legal[last].from);
	assert_true(ocl_state_move(state, legal[last].to));
	assert_int_equal(*state, legal[last].to);
}

static void legal_moves(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEGAL; i++) {
		enum ocl_state now = OCL_EMPTY;

		walk(&now, i);
	}
}

/* Refused, or fatal, in a child process. @return whether it was refused */
static bool is_refused(enum ocl_state from, enum ocl_state to)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		enum ocl_state now = from;

		signal(SIGABRT, SIG_DFL);
		_exit(!ocl_state_move(&now, to) && now == from ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGABRT;
	return WEXITSTATUS(status) == 0;
}

static void illegal_moves(void **state)
{
	(void)state;
	for (enum ocl_state from = 0; from < OCL_STATES; from++) {
		for (enum ocl_state to = 0; to < OCL_STATES; to++) {
			if (!is_legal(from, to))
				assert_true(is_refused(from, to));
		}
	}
}

static void groups(void **state)
{
	(void)state;
	for (enum ocl_state s = 0; s < OCL_STATES; s++) {
		assert_int_equal(ocl_state_is_launched(s), s == OCL_LAUNCHED || s == OCL_OVERDUE);
		assert_int_equal(ocl_state_is_final(s),
				 ocl_state_allows(s, OCL_EMPTY) && s != OCL_FILLING);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pairs),
		cmocka_unit_test(legal_moves),
		cmocka_unit_test(illegal_moves),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
