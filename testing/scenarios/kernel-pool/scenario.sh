# SPDX-License-Identifier: GPL-2.0-or-later
# As pool, with Debian's kernel on the right.
. "$top/testing/scenarios/pool/scenario.sh"
right=kernel
