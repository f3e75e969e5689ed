# SPDX-License-Identifier: GPL-2.0-or-later
# As terminate, with Debian's kernel on the right.
. "$top/testing/scenarios/terminate/scenario.sh"
right=kernel
