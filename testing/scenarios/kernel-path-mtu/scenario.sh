# SPDX-License-Identifier: GPL-2.0-or-later
# As path-mtu, with Debian's kernel on the right.
. "$top/testing/scenarios/path-mtu/scenario.sh"
right=kernel
