/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/drop.h"

const char *const drop_name[DROP_REASON_COUNT] = {
#define X(name, text, help) [DROP_##name] = text,
	DROP_REASONS(X)
#undef X
};

const char *const drop_help[DROP_REASON_COUNT] = {
#define X(name, text, help) [DROP_##name] = help,
	DROP_REASONS(X)
#undef X
};
