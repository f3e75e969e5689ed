# SPDX-License-Identifier: GPL-2.0-or-later
# As limits, with Debian's kernel on the right.
. "$top/testing/scenarios/limits/scenario.sh"
right=kernel
