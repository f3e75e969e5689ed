# SPDX-License-Identifier: GPL-2.0-or-later
# The gateway on the right is stock strongSwan with the ESP of Debian's kernel,
# in a virtual machine. It initiates.
right=kernel

steps() {
	expect "the tunnel comes up" tunnel_up right
	expect_tunnel
}
