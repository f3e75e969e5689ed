# SPDX-License-Identifier: GPL-2.0-or-later
# The gateway on the right is stock strongSwan with kernel-libipsec, which speaks
# ESP in UDP only. Left, a Cygnet gateway, initiates.
right=libipsec shapes=udp

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
}
