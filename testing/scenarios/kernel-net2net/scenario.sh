# SPDX-License-Identifier: GPL-2.0-or-later
# The gateway on the right is stock strongSwan with the ESP of Debian's kernel,
# in a virtual machine. Left initiates, then right.
right=kernel

steps() {
	local side
	for side in left right; do
		expect "the tunnel comes up from $side" tunnel_up "$side"
		expect_tunnel
		expect "the connection goes down" connection_down "$side"
		expect_empty
	done
}
