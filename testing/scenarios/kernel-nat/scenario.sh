# SPDX-License-Identifier: GPL-2.0-or-later
# As nat, with Debian's kernel on the right.
. "$top/testing/scenarios/nat/scenario.sh"
right=kernel
