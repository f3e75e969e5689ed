# SPDX-License-Identifier: GPL-2.0-or-later
# As shunts, with Debian's kernel on the right.
. "$top/testing/scenarios/shunts/scenario.sh"
right=kernel
may_drop[right]=XfrmOutPolBlock
