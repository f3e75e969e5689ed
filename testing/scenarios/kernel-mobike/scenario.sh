# SPDX-License-Identifier: GPL-2.0-or-later
# As mobike, with Debian's kernel on the right.
. "$top/testing/scenarios/mobike/scenario.sh"
right=kernel
