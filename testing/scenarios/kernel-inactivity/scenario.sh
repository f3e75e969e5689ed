# SPDX-License-Identifier: GPL-2.0-or-later
# As inactivity, with Debian's kernel on the right.
. "$top/testing/scenarios/inactivity/scenario.sh"
right=kernel
