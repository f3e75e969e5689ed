# SPDX-License-Identifier: GPL-2.0-or-later
# Two Cygnet gateways connect their networks: IKEv2 with a pre-shared key,
# AES-128-CBC with HMAC-SHA2-256. Left initiates. Workers poll.
idle=poll

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
}
