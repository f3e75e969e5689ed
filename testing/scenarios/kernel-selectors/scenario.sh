# SPDX-License-Identifier: GPL-2.0-or-later
# As selectors, with Debian's kernel on the right.
. "$top/testing/scenarios/selectors/scenario.sh"
right=kernel
