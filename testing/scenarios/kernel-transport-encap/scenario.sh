# SPDX-License-Identifier: GPL-2.0-or-later
# As kernel-transport, in UDP: the left asks for it, as if there were a NAT.
. "$top/testing/scenarios/kernel-transport/scenario.sh"
encap=udp shapes=udp
