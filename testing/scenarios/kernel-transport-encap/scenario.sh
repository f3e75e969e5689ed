# SPDX-License-Identifier: GPL-2.0-or-later
# As kernel-transport, in UDP: the left asks for it, as if there were a NAT. Left and right
# initiate in turn.
. "$top/testing/scenarios/kernel-transport/scenario.sh"
encap=udp shapes=udp

steps() {
	transport left net
	transport right gcm
}
